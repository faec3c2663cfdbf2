import { type ActualState, createFinder, type View } from './actual.ts';
import type { DesiredObject } from '../objects/desired.ts';
import { kindOf, type KindName } from '../objects/kinds.ts';
import type { ResourceClient } from './resource-client.ts';

/** An object that this apply has made. */
export interface Made {
  readonly object: DesiredObject;
  readonly view: View;
}

/**
 * Removes objects that this apply made after another client made the same ones, for kinds whose
 * names the server does not keep unique. Of two concurrent applies, both so keep the older object;
 * one list for each kind.
 */
export async function yieldTwins(
  client: ResourceClient,
  made: readonly Made[],
  actual: ActualState,
): Promise<Made[]> {
  const shared = made.filter(({ object }) => !isNameUnique(object.kind));
  let now = actual;
  for (const kind of new Set(shared.map(({ object }) => object.kind))) {
    now = { ...now, [kind]: await client.list(kind) };
  }
  const find = createFinder();
  const lost = shared.filter(({ object, view }) =>
    find(object.kind, object.identity, now).some(({ id }) => id < view.id),
  );
  for (const { object, view } of lost.toReversed()) await takeAway(client, object.kind, view);
  return lost;
}

function isNameUnique(kind: KindName): boolean {
  return kindOf(kind).definition.unique?.includes('name') ?? true;
}

/** Hides it from look-ups by its name. */
async function takeAway(client: ResourceClient, kind: KindName, view: View): Promise<void> {
  const { definition, off } = kindOf(kind);
  if (definition.deletable) await client.delete(kind, view.id);
  else if (definition.archivable === true) await client.archive(kind, view.id);
  else {
    const body = { ...off, name: view.id };
    await client.update(kind, view.id, { body, expectedVersion: view.version });
  }
}
