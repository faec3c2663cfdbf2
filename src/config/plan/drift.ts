import { type ActualState, createFinder, findDeclared, identityOf } from '../actual/actual.ts';
import type { DesiredState } from '../objects/desired.ts';
import type { Inventory } from '../actual/inventory.ts';
import type { KindName } from '../objects/kinds.ts';
import { type Owner, ownershipOf } from '../actual/ownership.ts';
import { obstaclesOf } from './obstacles.ts';
import type { Plan } from './plan.ts';
import type { PlannedChange } from './plan-action.ts';
import { maySelect } from './selection.ts';

/** An object that was changed on the server since the last apply. */
export interface DriftedObject {
  readonly kind: KindName;
  readonly identity: string;
  /** Former id of a deleted object. */
  readonly id: string | null;
  /** `added`: made by hand in a collection that the files manage, without an owner. */
  readonly what: 'changed' | 'deleted' | 'added';
  /** Empty unless `what` is `changed`. */
  readonly changes: readonly PlannedChange[];
  /** Why no apply makes it as declared, and the next step; absent where one does. */
  readonly obstacle?: { readonly reason: string; readonly hint: string };
}

export interface Drift {
  readonly drifted: readonly DriftedObject[];
  /** Number of changes of the files that wait for an apply. */
  readonly pending: number;
}

export interface DriftOptions {
  readonly plan: Plan;
  readonly desired: DesiredState;
  readonly actual: ActualState;
  readonly owner: Owner;
  readonly inventories: readonly Inventory[];
}

/** Separates changes on the server from pending changes of the files. Pure. */
export function driftOf(options: DriftOptions): Drift {
  const { plan, desired, inventories } = options;
  const inventory = inventories.find(({ namespace }) => namespace === desired.namespace);
  const deleted = deletedObjects(options, inventory);
  const changed = plan.actions.filter(({ action }) => action === 'update' || action === 'replace');
  const drifted = changed
    .map(({ kind, identity, id, changes }) => ({
      kind,
      identity,
      id,
      what: 'changed' as const,
      changes: changes.filter(({ origin }) => origin === 'server' || origin === 'both'),
    }))
    .filter(({ changes }) => changes.length > 0);
  const again = new Set(deleted.map(({ kind, identity }) => `${kind} ${identity}`));
  const created = plan.actions.filter(
    ({ action, kind, identity }) => action === 'create' && !again.has(`${kind} ${identity}`),
  );
  const edited = changed.flatMap(({ changes }) =>
    changes.filter(({ origin }) => origin !== 'server'),
  );
  return {
    drifted: [...drifted, ...deleted, ...addedObjects(options, inventory)],
    pending: created.length + edited.length,
  };
}

/** Declared objects that the namespace had and that are gone or revoked. */
function deletedObjects(
  { desired, actual, plan }: DriftOptions,
  inventory: Inventory | undefined,
): DriftedObject[] {
  const declared = new Set(desired.objects.map(({ kind, identity }) => `${kind} ${identity}`));
  const obstacles = new Map(
    obstaclesOf(plan, desired).map(({ object: { kind, identity }, message, hint }) => [
      `${kind} ${identity}`,
      { reason: message, hint },
    ]),
  );
  return (inventory?.objects ?? [])
    .filter(({ kind, identity }) => declared.has(`${kind} ${identity}`))
    .filter(({ kind, id }) => {
      const view = actual[kind].find((one) => one.id === id);
      return view === undefined || (view['revoked_at'] ?? null) !== null;
    })
    .map(({ kind, identity, id }) => {
      const obstacle = obstacles.get(`${kind} ${identity}`);
      const gone = { kind, identity, id, what: 'deleted' as const, changes: [] };
      return obstacle ? { ...gone, obstacle } : gone;
    });
}

/**
 * Objects of managed collections that have no owner and are younger than the management. Older ones
 * (the keys of the first start, for one) are left out of the files on purpose.
 */
function addedObjects(
  { desired, actual, owner }: DriftOptions,
  inventory: Inventory | undefined,
): DriftedObject[] {
  const find = createFinder();
  const declared = new Set(desired.objects.flatMap((object) => findDeclared(object, actual, find)));
  return Object.entries(inventory?.managed ?? {}).flatMap(([name, since]) => {
    const kind = name as KindName;
    if (!desired.managed.has(kind)) return [];
    return actual[kind]
      .filter((view) => !declared.has(view) && ownershipOf(view, owner) === 'none')
      .filter((view) => maySelect(desired.selection, kind, { view, actual }))
      .filter((view) => (view['revoked_at'] ?? null) === null)
      .filter((view) => (view.created_at ?? '') > since)
      .map((view) => {
        const identity = identityOf(kind, view, actual);
        return { kind, identity, id: view.id, what: 'added' as const, changes: [] };
      });
  });
}
