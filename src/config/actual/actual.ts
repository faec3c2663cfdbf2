import { type DesiredObject, type DesiredState, ownedIdentity } from '../objects/desired.ts';
import { kindOf, type KindName } from '../objects/kinds.ts';
import { dependenciesOf } from '../objects/object-refs.ts';
import { isRecord } from '../objects/record.ts';
import { ObjectRef } from '../objects/references.ts';

/** New name of an organization in a pending rename; its objects are declared under it. */
const MOVES_TO: unique symbol = Symbol('moves to');

/** An object as the API shows it. */
export interface View extends Readonly<Record<string, unknown>> {
  readonly [MOVES_TO]?: string;
  readonly id: string;
  readonly version: number;
  /** RFC 3339. */
  readonly created_at?: string;
}

/** Every object of every kind that there is. */
export type ActualState = Readonly<Record<KindName, readonly View[]>>;

/** False for archived objects and revoked keys. */
export function isAlive(view: View): boolean {
  return (view['archived_at'] ?? null) === null && (view['revoked_at'] ?? null) === null;
}

/** The name that declarations know the object by. */
export function identityOf(kind: KindName, view: View, actual: ActualState): string {
  const name = String(view['name']);
  if (!kindOf(kind).isOwned) return name;
  return ownedIdentity(organizationOf(view, actual)?.['name'], name);
}

/** The objects that a declaration means; it may name an organization by name or id. */
export function findActual(kind: KindName, identity: string, actual: ActualState): View[] {
  return actual[kind].filter((view) => identitiesOf(kind, view, actual).has(identity));
}

function identitiesOf(kind: KindName, view: View, actual: ActualState): Set<string> {
  const names = new Set([identityOf(kind, view, actual)]);
  const owner = kindOf(kind).isOwned ? organizationOf(view, actual) : undefined;
  for (const one of [owner?.id, owner?.[MOVES_TO]])
    if (one !== undefined) names.add(ownedIdentity(one, String(view['name'])));
  return names;
}

/** Organizations with the names that the files give to some of them. */
export function withMoves(
  organizations: readonly View[],
  { objects, moved = [] }: Pick<DesiredState, 'objects'> & Partial<Pick<DesiredState, 'moved'>>,
): View[] {
  const declared = objects.filter(({ kind }) => kind === 'organization');
  return organizations.map((view) => {
    const { id, name } = view;
    const to =
      declared.find((one) => one.id === id)?.name ??
      moved.find(({ kind, from }) => kind === 'organization' && from === name)?.to;
    return to === undefined || to === name ? view : { ...view, [MOVES_TO]: to };
  });
}

/** The objects that a declaration means: the one that it pins by id, else those of its name. */
export function findDeclared(
  { kind, identity, id }: Pick<DesiredObject, 'kind' | 'identity' | 'id'>,
  actual: ActualState,
  find: typeof findActual = findActual,
): View[] {
  if (id === undefined) return find(kind, identity, actual);
  return actual[kind].filter((view) => view.id === id);
}

/**
 * The same as {@link findActual} for many of them: reads each list once. A list must not change in place
 * between two questions.
 */
export function createFinder(): typeof findActual {
  const known = new WeakMap<readonly View[], { owners: readonly View[]; named: Named }>();
  return (kind, identity, actual) => {
    const views = actual[kind];
    let index = known.get(views);
    if (index?.owners !== actual.organization) {
      index = { owners: actual.organization, named: toNamed(kind, actual) };
      known.set(views, index);
    }
    return index.named.get(identity) ?? [];
  };
}

type Named = ReadonlyMap<string, View[]>;

function toNamed(kind: KindName, actual: ActualState): Named {
  const named = new Map<string, View[]>();
  for (const view of actual[kind]) {
    for (const identity of identitiesOf(kind, view, actual)) {
      const found = named.get(identity);
      if (found) found.push(view);
      else named.set(identity, [view]);
    }
  }
  return named;
}

/** Keys of what an object refers to by its name. */
export function namedBy(kind: KindName, view: View, actual: ActualState): string[] {
  return dependenciesOf({
    kind,
    body: { ...view, organization: organizationOf(view, actual)?.['name'] },
  });
}

/** The id of the organization that is declared; undefined when there is none yet. */
export function organizationId(declared: unknown, actual: ActualState): string | undefined {
  const name = declared instanceof ObjectRef ? declared.name : declared;
  return actual.organization.find(
    (one) => one.id === name || one['name'] === name || one[MOVES_TO] === name,
  )?.id;
}

/** Views name the organization by id, by name, or as an object with both. */
function organizationOf({ organization }: View, actual: ActualState): View | undefined {
  const named = isRecord(organization) ? organization['id'] : organization;
  return actual.organization.find(({ id, name }) => id === named || name === named);
}
