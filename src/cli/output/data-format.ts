import { isRecord } from '../../client/http/guards.ts';
import { KINDS } from '../../core/kinds.ts';
import { oneLine } from '../../core/printable.ts';
import type { CommandResult, CommandSpec } from '../command.ts';

/** Formats of --output that every command takes which lists or gets something. */
const DATA_FORMATS = ['yaml', 'name', 'jsonpath=EXPR'] as const;
const JSONPATH = 'jsonpath=';

/** True for a kind that is asked for by name; all others are asked for by id. */
const isNamed = (kind: string): boolean => Object.hasOwn(KINDS, kind) || kind === 'plugins';

/** Formats of --output in addition to text and json. */
export function formatsOf({ name, formats = [] }: CommandSpec): readonly string[] {
  return /^\S+ (list|get)$/.test(name) ? [...formats, ...DATA_FORMATS] : formats;
}

/**
 * Makes what prints a result in `yaml`, `name` or `jsonpath=EXPR`; undefined for another format.
 *
 * @throws CliError `usage` (exit 64) for an expression that cannot be read
 */
export async function dataFormat(
  format: string,
  { name }: CommandSpec,
): Promise<((result: CommandResult) => CommandResult) | undefined> {
  const render = await rendererOf(format, name.split(' ')[0] ?? '');
  if (render === undefined) return undefined;
  return (result) => ({ ...result, text: result.data === null ? '' : render(result.data) });
}

async function rendererOf(
  format: string,
  kind: string,
): Promise<((data: unknown) => string) | undefined> {
  if (format === 'yaml') {
    const { stringify } = await import('yaml');
    return (data) => stringify(data, { lineWidth: 0, aliasDuplicateObjects: false });
  }
  if (format === 'name')
    return (data) =>
      listOf(data)
        .map((one) => named(one, kind))
        .join('\n');
  if (!format.startsWith(JSONPATH)) return undefined;
  const { parseJsonPath } = await import('../jsonpath/parse-jsonpath.ts');
  const { renderJsonPath } = await import('../jsonpath/render-jsonpath.ts');
  const parts = parseJsonPath(format.slice(JSONPATH.length));
  // A list is an object with `items`, as kubectl has it.
  return (data) => renderJsonPath(parts, Array.isArray(data) ? { items: data } : data);
}

function listOf(data: unknown): unknown[] {
  return Array.isArray(data) ? (data as unknown[]) : [data];
}

/** `key/ci`, as other commands take it. */
function named(one: unknown, kind: string): string {
  const { name, id } = isRecord(one) ? one : {};
  const word = isNamed(kind) && typeof name === 'string' ? name : String(id);
  return oneLine(`${kind.replace(/s$/, '')}/${word}`);
}
