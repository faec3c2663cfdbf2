import { beforeEach, describe, expect, it } from 'vitest';
import type { View } from '../../../src/config/actual/actual.ts';
import {
  type Inventory,
  type InventoryUpdate,
  nextInventory,
} from '../../../src/config/actual/inventory.ts';
import { driftOf } from '../../../src/config/plan/drift.ts';
import { ownerFor, plan, type PlanOptions } from '../../../src/config/plan/plan.ts';
import { select } from '../../../src/config/plan/selection.ts';
import { type DeclaredOnGateway, declaredOnGateway } from '../declared-on-gateway.ts';

const TEXT = 'models: [{ name: a/a, routes: [] }, { name: a/b, routes: [] }]';
const NOTHING: InventoryUpdate['report'] = { applied: [], failed: [], blocked: [], notRun: [] };

let gateway: DeclaredOnGateway;
let first: Inventory;
beforeEach(async () => {
  gateway = await declaredOnGateway();
  const { report } = await gateway.applied(TEXT);
  first = inventoryAfter(await gateway.compared(TEXT), undefined, report);
});

function inventoryAfter(
  options: PlanOptions,
  before: Inventory | undefined,
  report = NOTHING,
): Inventory {
  const { desired, actual } = options;
  const owner = ownerFor({ ...options, inventories: before ? [before] : [] });
  const next = nextInventory({ before, desired, owner, found: actual, left: actual, report });
  return { id: 'inv_1', version: 1, namespace: desired.namespace, ...next };
}

async function remove(name: string): Promise<void> {
  const views: readonly View[] = await gateway.client.list('model');
  await gateway.client.delete('model', views.find((one) => one['name'] === name)!.id);
}

async function drifted(inventory: Inventory): Promise<string[]> {
  const options = { ...(await gateway.compared(TEXT)), inventories: [inventory] };
  const { desired, actual, inventories } = options;
  const owner = ownerFor(options);
  const drift = driftOf({ plan: plan(options), desired, actual, owner, inventories });
  return drift.drifted.map(({ what, identity }) => `${what} ${identity}`);
}

describe('the inventory after an apply', () => {
  it('of a selection still knows what is left out and was deleted by hand', async () => {
    await remove('a/b');
    const options = await gateway.compared(TEXT);
    const desired = select(options.desired, { only: ['model/a/a'], exclude: [], labels: [] });
    const next = inventoryAfter({ ...options, desired }, first);
    expect(next.objects).toEqual(first.objects);
    expect(await drifted(next)).toEqual(['deleted a/b']);
  });

  it('still knows what was deleted by hand and could not be made again', async () => {
    await remove('a/b');
    const failed = [{ kind: 'model', identity: 'a/b', action: 'create', id: null }] as const;
    const next = inventoryAfter(await gateway.compared(TEXT), first, { ...NOTHING, failed });
    expect(await drifted(next)).toEqual(['deleted a/b']);
  });

  it('forgets what is no longer declared and was deleted by hand', async () => {
    await remove('a/b');
    const options = await gateway.compared('models: [{ name: a/a, routes: [] }]');
    const next = inventoryAfter(options, first);
    expect(next.objects.map(({ identity }) => identity)).toEqual(['a/a']);
  });
});
