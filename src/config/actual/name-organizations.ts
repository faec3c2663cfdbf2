import { type DesiredObject, type DesiredState, ownedIdentity } from '../objects/desired.ts';
import { kindOf } from '../objects/kinds.ts';
import type { ActualState } from './actual.ts';

/**
 * Names organizations in declarations as they are called, where the files say an id, so that one object
 * has one identity and references find it. An organization that is about to get another name keeps its
 * id: the name that it has now is gone before the last write.
 */
export function nameOrganizations(
  desired: DesiredState,
  { organization: owners }: Pick<ActualState, 'organization'>,
): DesiredState {
  const { objects, moved, selection } = desired;
  const names = new Map(
    owners
      .filter((view) => !isRenamed(view, desired))
      .map(({ id, name }) => [id, String(name)] as const),
  );
  const named = (object: DesiredObject): DesiredObject => withName(object, names);
  return {
    ...desired,
    objects: objects.map(named),
    moved: moved.map((move) => {
      if (!kindOf(move.kind).isOwned) return move;
      return { ...move, from: renamed(move.from, names), to: renamed(move.to, names) };
    }),
    ...(selection && { selection: { ...selection, leftOut: selection.leftOut.map(named) } }),
  };
}

type Names = ReadonlyMap<string, string>;

function isRenamed(
  { id, name }: ActualState['organization'][number],
  { objects, moved }: DesiredState,
): boolean {
  return (
    moved.some(({ kind, from }) => kind === 'organization' && from === name) ||
    objects.some((one) => one.kind === 'organization' && one.id === id && one.name !== name)
  );
}

function withName(object: DesiredObject, names: Names): DesiredObject {
  const { organization: owner } = object.body;
  const organization = typeof owner === 'string' ? names.get(owner) : undefined;
  if (organization === undefined || !kindOf(object.kind).isOwned) return object;
  const identity = ownedIdentity(organization, object.name);
  return { ...object, identity, body: { ...object.body, organization } };
}

/** Identity with the name of its organization in place of the id. */
function renamed(identity: string, names: Names): string {
  const slash = identity.indexOf('/');
  const name = names.get(identity.slice(0, slash));
  return name === undefined ? identity : ownedIdentity(name, identity.slice(slash + 1));
}
