import { isJsonObject } from '../core/json/value.ts';
import type { FieldChange } from './audit-entry.ts';

/** Text in place of a secret. */
export const MASK = '[secret]';
/** Longest text that an entry keeps, in characters. */
const MAX_TEXT = 2_000;
/** Most changes that an entry lists. */
const MAX_CHANGES = 500;

/** Names of members whose texts are secrets at any depth. */
const SECRET_NAME =
  /authorization|api[_-]?key|secret|passw(?:or)?d|token$|cookie|signature|private[_-]?key|credential$/i;
/** Parts of texts that are secrets. */
const SECRET_PARTS: readonly (readonly [RegExp, string])[] = [
  [/(\/\/)[^/@\s]+@/g, `$1${MASK}@`],
  [/([?&][\w-]*(?:key|token|secret|signature|password)=)[^&\s]+/gi, `$1${MASK}`],
  [/\b(bearer|basic)\s+[\w.~+/=-]{6,}/gi, `$1 ${MASK}`],
  [/\b(?:sk|pk|rk|ghp|gho|glpat|xox[abp])-[\w-]{12,}/g, MASK],
];

type Members = Readonly<Record<string, unknown>>;

/**
 * Members in which two states differ, by their paths in the order of the states; absent states have no
 * member. Secrets are masked, long texts are cut.
 */
export function changedFields(old: Members = {}, next: Members = {}): FieldChange[] {
  const changes = [...differences('', old, next)];
  if (changes.length <= MAX_CHANGES) return changes;
  const left = `${changes.length - MAX_CHANGES} more members changed`;
  return [...changes.slice(0, MAX_CHANGES), { path: '', old: null, new: left }];
}

function* differences(path: string, old: unknown, next: unknown): Generator<FieldChange> {
  if (JSON.stringify(old) === JSON.stringify(next)) return;
  if (isTree(old) || isTree(next)) {
    if ((isTree(old) || isAbsent(old)) && (isTree(next) || isAbsent(next))) {
      yield* below(path, old, next);
      return;
    }
  }
  const change = { path, old: shown(path, old), new: shown(path, next) };
  if (change.old !== null || change.new !== null) yield change;
}

/** True for a value with members of its own: an object, or a list of objects. */
function isTree(value: unknown): value is object {
  return isJsonObject(value) || (Array.isArray(value) && value.some(isJsonObject));
}

const isAbsent = (value: unknown): value is null | undefined =>
  value === null || value === undefined;

function* below(path: string, old: unknown, next: unknown): Generator<FieldChange> {
  const [from, to] = [membersOf(old), membersOf(next)];
  const isList = Array.isArray(old ?? next);
  for (const name of new Set([...from.keys(), ...to.keys()])) {
    const own = isList ? `${path}[${name}]` : path === '' ? name : `${path}.${name}`;
    yield* differences(own, from.get(name), to.get(name));
  }
}

function membersOf(value: unknown): ReadonlyMap<string, unknown> {
  return new Map(Object.entries(value ?? {}));
}

function shown(path: string, value: unknown): unknown {
  if (isAbsent(value)) return null;
  if (Array.isArray(value)) return value.map((item) => shown(path, item));
  if (isJsonObject(value)) {
    const members = Object.entries(value).map(([name, member]) => [name, shown(name, member)]);
    return Object.fromEntries(members) as unknown;
  }
  if (typeof value !== 'string') return value;
  if (SECRET_NAME.test(path.slice(path.lastIndexOf('.') + 1))) return MASK;
  let text = value;
  for (const [pattern, replacement] of SECRET_PARTS) text = text.replace(pattern, replacement);
  return text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT - 1)}…`;
}
