import { OPAQUE_FIELDS } from '../actual/changes.ts';
import { ownedIdentity } from '../objects/desired.ts';
import type { Diagnostic } from '../source/diagnostic.ts';
import { COLLECTIONS, CONFIG_KINDS } from '../objects/kinds.ts';
import { formatPath, type Path, type Places } from '../source/locate.ts';
import { isRecord } from '../objects/record.ts';

type Tree = Record<string, unknown>;

/** Key by which an entry is known; undefined when it has none. */
type KeyOf = (entry: Readonly<Tree>) => string | undefined;

/**
 * Lays a document over the merged tree, in place: mappings are merged member by member, declared
 * objects by kind and name, other lists of named objects by their names; everything else is
 * replaced. Null removes a field. Free-form fields (`memory_config`, `mock` and so on) are replaced
 * whole, since null is a value there. Positions move with the values.
 */
export function layOver(tree: Tree, overlay: Readonly<Tree>, places: Places): Diagnostic[] {
  const diagnostics: Diagnostic[] = [];
  const report = (path: Path, problem: Pick<Diagnostic, 'message' | 'hint'>) =>
    diagnostics.push({
      ...places.find(overlay, path, 'key'),
      path: formatPath(path),
      severity: 'error',
      ...problem,
    });
  for (const [name, section] of Object.entries(overlay)) {
    if (section === null) {
      report([name], { message: `${name} has no value`, hint: 'remove the key' });
    } else if (COLLECTIONS.has(name) && Array.isArray(section)) {
      const nameless = section.findIndex((entry) => keyOf(name)(entry as Tree) === undefined);
      if (nameless < 0) setMember(tree, name, { from: overlay, places, keyOf: keyOf(name) });
      else {
        const message = 'an entry of an overlay needs the name of what it changes';
        report([name, nameless], { message });
      }
    } else {
      setMember(tree, name, { from: overlay, places, keyOf: nameOf });
    }
  }
  return diagnostics;
}

interface Laying {
  /** The mapping of the overlay that holds the member. */
  readonly from: Readonly<Tree>;
  readonly places: Places;
  /** Key of the entries, if the member is a list. */
  readonly keyOf: KeyOf;
}

function setMember(target: Tree, name: string, { from, places, keyOf }: Laying): void {
  const [old, next] = [target[name], from[name]];
  const isOpaque = OPAQUE_FIELDS.has(name);
  if (!isOpaque && isRecord(old) && isRecord(next)) return mergeInto(old, next, places);
  if (isKeyed(old, keyOf) && isKeyed(next, keyOf) && next.length > 0) {
    return mergeEntries(old, next, { places, keyOf });
  }
  const member = { key: places.find(from, [name], 'key'), value: places.find(from, [name]) };
  places.markMember(target, name, member);
  if (places.isInterpolated(from, [name])) places.markInterpolated(target, name);
  if (next === null && !isOpaque) delete target[name];
  else target[name] = isOpaque ? next : withoutNulls(next);
}

function mergeInto(target: Tree, from: Readonly<Tree>, places: Places): void {
  for (const name of Object.keys(from)) setMember(target, name, { from, places, keyOf: nameOf });
}

/** Merges entries; new ones come at the end. */
function mergeEntries(
  target: Tree[],
  from: readonly Tree[],
  { places, keyOf }: Pick<Laying, 'places' | 'keyOf'>,
): void {
  for (const [index, entry] of from.entries()) {
    const present = target.find((one) => keyOf(one) === keyOf(entry));
    if (present !== undefined) {
      mergeInto(present, entry, places);
      continue;
    }
    const place = places.find(from, [index]);
    places.markMember(target, target.length, { key: place, value: place });
    target.push(withoutNulls(entry) as Tree);
  }
}

/** Null removes; where there is nothing to remove it says nothing. */
function withoutNulls(value: unknown): unknown {
  if (!isRecord(value)) return value;
  for (const [name, member] of Object.entries(value)) {
    if (OPAQUE_FIELDS.has(name)) continue;
    if (member === null) delete value[name];
    else withoutNulls(member);
  }
  return value;
}

function isKeyed(value: unknown, keyOf: KeyOf): value is Tree[] {
  return (
    Array.isArray(value) &&
    value.every((entry) => isRecord(entry) && keyOf(entry as Tree) !== undefined)
  );
}

/** Names are unique within a section, or within an organization. */
function keyOf(collection: string): KeyOf {
  const isOwned = CONFIG_KINDS.some((kind) => kind.collection === collection && kind.isOwned);
  return (entry) => {
    const name = isRecord(entry) ? nameOf(entry) : undefined;
    if (name === undefined) return undefined;
    return isOwned ? ownedIdentity(entry['organization'], name.trim()) : name.trim();
  };
}

function nameOf({ name }: Readonly<Tree>): string | undefined {
  return typeof name === 'string' ? name : undefined;
}
