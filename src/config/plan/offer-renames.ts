import leven from 'leven';
import type { ActualState, View } from '../actual/actual.ts';
import { changesOf } from '../actual/changes.ts';
import { DEFAULT_ORGANIZATION, kindOf, type KindName } from '../objects/kinds.ts';
import type { DesiredObject, DesiredState } from '../objects/desired.ts';
import { objectKey } from '../objects/object-refs.ts';
import type { PlanAction } from './plan-action.ts';

/** An entry of `moved` that keeps an object which is removed as one that is created. */
export interface Rename {
  readonly kind: KindName;
  /** Absent: the default one, or the kind has none. */
  readonly organization?: string;
  readonly from: string;
  readonly to: string;
}

type Named = Pick<PlanAction, 'kind' | 'identity' | 'id'>;

interface Pair {
  readonly created: DesiredObject;
  readonly view: View;
  readonly distance: number;
}

/** Most objects of a group that are compared with each other. */
const MAX_COMPARED = 40;
const NO_SECRETS: ReadonlySet<string> = new Set();

/**
 * Pairs new objects with those of the same kind and organization that are no longer declared: of
 * all pairs those first whose fields differ least, then whose names do.
 */
export function offerRenames(
  created: readonly Named[],
  gone: readonly Named[],
  { desired, actual }: { desired: DesiredState; actual: ActualState },
): Rename[] {
  if (created.length === 0 || gone.length === 0) return [];
  const declared = new Map(desired.objects.map((one) => [objectKey(one.kind, one.identity), one]));
  const groups = grouped(created);
  return [...grouped(gone)].flatMap(([group, removed]) => {
    const pairs: Pair[] = [];
    const views = removed
      .slice(0, MAX_COMPARED)
      .flatMap(({ kind, id }) => actual[kind].find((one) => one.id === id) ?? []);
    for (const { kind, identity } of (groups.get(group) ?? []).slice(0, MAX_COMPARED)) {
      const object = declared.get(objectKey(kind, identity));
      for (const view of object ? views : []) pairs.push(toPair(object!, view, actual));
    }
    return chosen(pairs).map(toRename);
  });
}

/** By kind and organization. */
function grouped<T extends Named>(objects: readonly T[]): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const one of objects) {
    const group = groups.get(groupOf(one));
    if (group) group.push(one);
    else groups.set(groupOf(one), [one]);
  }
  return groups;
}

function groupOf({ kind, identity }: Named): string {
  const owner = kindOf(kind).isOwned ? identity.slice(0, identity.indexOf('/')) : '';
  return objectKey(kind, owner);
}

function toPair(created: DesiredObject, view: View, actual: ActualState): Pair {
  const { name: _name, ...body } = created.body;
  const changes = changesOf({ object: { ...created, body }, view, actual, secrets: NO_SECRETS });
  return {
    created,
    view,
    distance: changes.length + nameDistance(created.name, String(view['name'])),
  };
}

/** Between 0 and 1, so that it decides among equals. */
function nameDistance(one: string, other: string): number {
  return leven(one, other) / (Math.max(one.length, other.length) + 1);
}

/** Each object in one pair. */
function chosen(pairs: readonly Pair[]): Pair[] {
  const taken = new Set<unknown>();
  return pairs
    .toSorted((one, other) => one.distance - other.distance)
    .filter(({ created, view }) => {
      if (taken.has(created) || taken.has(view)) return false;
      taken.add(created).add(view);
      return true;
    });
}

function toRename({ created: { kind, name, identity }, view }: Pair): Rename {
  const owner = kindOf(kind).isOwned ? identity.slice(0, identity.indexOf('/')) : undefined;
  const isNamed = owner !== undefined && owner !== DEFAULT_ORGANIZATION;
  return {
    kind,
    ...(isNamed && { organization: owner }),
    from: String(view['name']),
    to: name,
  };
}
