import type { AuditEntry } from '../../client/audit.ts';
import type { Client } from '../../client/create-client.ts';
import { isRecord } from '../../client/http/guards.ts';
import { oneLine } from '../../core/printable.ts';
import { addNamesToAll, isReference, nameMember } from './references.ts';

type Change = AuditEntry['changes'][number];

/** Names of objects by their ids, as far as they are known. */
export type Names = ReadonlyMap<string, string>;

const INDENT = '    ';

/** Finds the names of objects that changes of entries reference. */
export async function namesIn(
  client: Client,
  entries: readonly AuditEntry[],
  signal: AbortSignal,
): Promise<Names> {
  const references = entries
    .flatMap(({ changes }) => changes)
    .filter(({ path }) => isReference(path))
    .flatMap(({ path, old, new: next }) => [{ [path]: old }, { [path]: next }]);
  const named = await addNamesToAll(client, references, signal);
  return new Map(named.flatMap(toPairs));
}

function toPairs(view: Readonly<Record<string, unknown>>): (readonly [string, string])[] {
  return Object.entries(view).flatMap(([member, id]) => {
    const name = view[nameMember(member)];
    return typeof id === 'string' && typeof name === 'string' ? [[id, name] as const] : [];
  });
}

/** Changes of an entry below its line, one on each; of more than `most` the number of the others. */
export function changeLines(
  entry: AuditEntry,
  { names, most, width }: { readonly names: Names; readonly most: number; readonly width: number },
): string[] {
  const { id, changes } = entry;
  const shown = tellingFirst(entry)
    .slice(0, most)
    .map((change) => cut(changeText(change, names), width));
  const left = changes.length - shown.length;
  const lines = [...shown, ...(left > 0 ? [`and ${left} more: gateway audit ${id}`] : [])];
  return lines.map((line) => `${INDENT}${line}`);
}

/** What an object was made with goes before members that it has none of, and before its name. */
function tellingFirst({ object, changes }: AuditEntry): readonly Change[] {
  const isPlain = ({ path, old, new: next }: Change): boolean =>
    (old ?? null) === null && (isEmpty(next) || (path === 'name' && next === object.name));
  return [...changes.filter((one) => !isPlain(one)), ...changes.filter(isPlain)];
}

/** `amount: 0.05`, `enabled: true -> false`, or `labels.team: blue removed`. */
function changeText({ path, old, new: next }: Change, names: Names): string {
  const [before, after] = [valueText(old, names), valueText(next, names)];
  if (before === '') return `${path}: ${after || 'none'}`;
  return after === '' ? `${path}: ${before} removed` : `${path}: ${before} -> ${after}`;
}

function valueText(value: unknown, names: Names): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'string') return oneLine(names.get(value) ?? (value || "''"));
  return isEmpty(value) ? 'none' : oneLine(JSON.stringify(value));
}

function isEmpty(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  return (value ?? null) === null || (isRecord(value) && Object.keys(value).length === 0);
}

function cut(text: string, width: number): string {
  const most = width - INDENT.length;
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
}
