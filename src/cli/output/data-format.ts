import { isRecord } from '../../client/http/guards.ts';
import { KINDS } from '../../core/kinds.ts';
import { oneLine } from '../../core/printable.ts';
import type { CommandResult, CommandSpec } from '../command.ts';
import type { Output } from './output.ts';

/** Formats of --output that every command takes which lists or gets something. */
const NAME = 'name';
const DATA_FORMATS = ['yaml', NAME, 'jsonpath=EXPR'] as const;
/** Format of lists: their table with every column, however wide. */
export const WIDE = 'wide';
const CSV = 'csv';
const LIST_FORMATS = [WIDE, CSV, ...DATA_FORMATS] as const;
const JSONPATH = 'jsonpath=';

/** True for a kind that is asked for by name; all others are asked for by id. */
const isNamed = (kind: string): boolean => Object.hasOwn(KINDS, kind) || kind === 'plugins';

/** Formats of --output in addition to text and json. */
export function formatsOf({ name, lists, formats = [] }: CommandSpec): readonly string[] {
  if (lists === 'unnamed')
    return [...new Set([...formats, ...LIST_FORMATS])].filter((format) => format !== NAME);
  if (lists === true || name.endsWith(' list')) return [...new Set([...formats, ...LIST_FORMATS])];
  return /^\S+ get$/.test(name) ? [...formats, WIDE, ...DATA_FORMATS] : formats;
}

/**
 * Makes what prints a result in `yaml`, `csv`, `name` or `jsonpath=EXPR`; undefined for another format.
 *
 * @throws CliError `usage` (exit 64) for an expression that cannot be read
 */
export async function dataFormat(
  format: string,
  { name, formats }: CommandSpec,
): Promise<((result: CommandResult, output: Output) => CommandResult) | undefined> {
  // The command's own columns.
  if (format === CSV && formats?.includes(CSV)) return undefined;
  const render = await rendererOf(format, name.split(' ')[0] ?? '');
  if (render === undefined) return undefined;
  return (result, output) => ({
    ...result,
    text: result.data === null ? '' : render(result.data, output),
    ...(format === CSV && { verbatim: true }),
  });
}

async function rendererOf(
  format: string,
  kind: string,
): Promise<((data: unknown, output: Output) => string) | undefined> {
  if (format === 'yaml') {
    const { stringify } = await import('yaml');
    return (data) => stringify(data, { lineWidth: 0, aliasDuplicateObjects: false });
  }
  if (format === NAME)
    return (data) =>
      listOf(data)
        .map((one) => named(one, kind))
        .join('\n');
  if (format === CSV) {
    const { toCsv } = await import('./csv.ts');
    return (data) => {
      const rows = listOf(data).filter(isRecord);
      const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
      return toCsv(
        names,
        rows.map((row) => names.map((name) => row[name])),
      );
    };
  }
  if (!format.startsWith(JSONPATH)) return undefined;
  const { parseJsonPath } = await import('../jsonpath/parse-jsonpath.ts');
  const { matchesAny, renderJsonPath } = await import('../jsonpath/render-jsonpath.ts');
  const parts = parseJsonPath(format.slice(JSONPATH.length));
  return (data, output) => {
    const root = rootOf(data);
    if (!matchesAny(parts, root)) warnOfNothing(format, data, output);
    return renderJsonPath(parts, root);
  };
}

/**
 * A list is an object with `items`, as kubectl has it. `data` is the same for every result, as in the
 * document of -o json; it is hidden, so that `*` and `..` meet each value once.
 */
function rootOf(data: unknown): unknown {
  const root = Array.isArray(data) ? { items: data as unknown[] } : data;
  if (!isRecord(root) || Object.hasOwn(root, 'data')) return root;
  return Object.defineProperty({ ...root }, 'data', { value: data });
}

/** As with kubectl nothing is printed and the exit code stays 0; an empty list needs no word. */
function warnOfNothing(format: string, data: unknown, output: Output): void {
  const [first] = listOf(data);
  if (!isRecord(first)) return;
  const owner = Array.isArray(data) ? 'an item' : 'the object';
  output.warn(`-o ${format} matches nothing; ${owner} has ${Object.keys(first).join(', ')}`);
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
