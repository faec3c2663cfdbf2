import { beforeEach, describe, expect, it } from 'vitest';
import type { Inventory, InventoryEntry } from '../../../src/config/actual/inventory.ts';
import { labelsOf, NAMESPACE_LABEL } from '../../../src/config/actual/ownership.ts';
import type { View } from '../../../src/config/actual/actual.ts';
import type { ResourceClient } from '../../../src/config/actual/resource-client.ts';
import { executeTransfer } from '../../../src/config/transfer/execute-transfer.ts';
import type { Transfer, Transferred } from '../../../src/config/transfer/plan-transfer.ts';

let views: View[];
let inventories: Inventory[];
let writes: string[];
/** Outcome of the next update of an object: it is done, and its answer lost, or it is refused. */
let trouble: ((take: () => View) => View) | undefined;

const entryOf = ({ id }: { id: string }) =>
  ({ kind: 'model', identity: id, id }) as unknown as InventoryEntry;
const inventoryOf = (namespace: string, ids: readonly string[]): Inventory => ({
  id: `inv_${namespace}`,
  version: 1,
  namespace,
  objects: ids.map((id) => entryOf({ id })),
  managed: { model: namespace },
});

beforeEach(() => {
  trouble = undefined;
  writes = [];
  views = ['a', 'b', 'c'].map((id) => ({
    id,
    version: 7,
    labels: { [NAMESPACE_LABEL]: 'old', mine: id },
  }));
  inventories = [inventoryOf('old', ['a', 'b', 'c'])];
});

const client: ResourceClient = {
  list: async () => views,
  async update(
    _: string,
    id: string,
    { body, expectedVersion }: Parameters<ResourceClient['update']>[2],
  ) {
    const take = (): View => {
      writes.push(`label ${id} of ${expectedVersion}`);
      views = views.map((view) =>
        view.id === id ? { ...view, labels: body['labels'], version: 8 } : view,
      );
      return views.find((view) => view.id === id) as View;
    };
    return trouble ? trouble(take) : take();
  },
  inventories: {
    list: async () => inventories,
    async write(namespace: string, _: unknown, next: Pick<Inventory, 'objects' | 'managed'>) {
      writes.push(`inventory of ${namespace}: ${next.objects.map(({ id }) => id).join('')}`);
      const kept = inventories.filter((one) => one.namespace !== namespace);
      inventories = [...kept, { ...inventoryOf(namespace, []), ...next }];
    },
    async remove({ namespace }: Inventory) {
      writes.push(`no inventory of ${namespace}`);
      inventories = inventories.filter((one) => one.namespace !== namespace);
    },
  },
} as unknown as ResourceClient;

function transferOf(ids: readonly string[], more: Partial<Transfer> = {}): Transfer {
  const moved = views.filter(({ id }) => ids.includes(id));
  return {
    to: 'new',
    renamed: undefined,
    objects: moved.map((view) => {
      return { kind: 'model', identity: view.id, id: view.id, from: 'old', view };
    }),
    already: 0,
    entries: ids.map((id) => entryOf({ id })),
    managed: { model: 'old' },
    ids: new Set(ids),
    refused: [],
    unused: [],
    isEmpty: false,
    isFromUnknown: false,
    namespaces: ['old'],
    ...more,
  };
}

const run = (transfer: Transfer) =>
  executeTransfer({ client, transfer, pause: async () => undefined });
const refusal = (status: number) => Object.assign(new Error(`answer ${status}`), { status });

describe('a transfer', () => {
  it('names the objects in the inventory that gets them, labels them, and takes them out of the former', async () => {
    await run(transferOf(['b', 'a']));
    expect(writes).toEqual([
      'inventory of new: ab',
      'label a of 7',
      'label b of 7',
      'inventory of old: c',
    ]);
    expect(views.map(labelsOf)).toEqual([
      { [NAMESPACE_LABEL]: 'new', mine: 'a' },
      { [NAMESPACE_LABEL]: 'new', mine: 'b' },
      { [NAMESPACE_LABEL]: 'old', mine: 'c' },
    ]);
    expect(inventories.map(({ namespace, managed }) => [namespace, managed])).toEqual([
      ['new', { model: 'old' }],
      ['old', { model: 'old' }],
    ]);
  });

  it('removes the inventory of a renamed namespace once nothing is left in it', async () => {
    await run(transferOf(['a', 'b', 'c'], { renamed: 'old' }));
    expect(writes.at(-1)).toBe('no inventory of old');
    expect(inventories.map(({ namespace }) => namespace)).toEqual(['new']);
  });

  it('keeps the inventory of a renamed namespace that still names something', async () => {
    await run(transferOf(['a'], { renamed: 'old' }));
    expect(writes.at(-1)).toBe('inventory of old: bc');
  });

  it('writes nothing where nothing is to move', async () => {
    await run(transferOf([], { entries: [] }));
    expect(writes).toEqual([]);
  });

  it('leaves the label of an object that has it by now', async () => {
    const [object] = transferOf(['a']).objects as [Transferred];
    const view = { ...object.view, labels: { [NAMESPACE_LABEL]: 'new' } };
    await run(transferOf(['a'], { objects: [{ ...object, view }] }));
    expect(writes).toEqual(['inventory of new: a', 'inventory of old: bc']);
  });

  it.each([
    [404, 'it is gone'],
    [409, 'somebody else changed it meanwhile'],
    [412, 'somebody else changed it meanwhile'],
  ])(
    'is stale after an answer %i, and takes nothing from the former inventory',
    async (status, reason) => {
      trouble = () => {
        throw refusal(status);
      };
      await expect(run(transferOf(['a']))).rejects.toMatchObject({
        name: 'StalePlanError',
        objects: [{ kind: 'model', identity: 'a', reason }],
      });
      expect(writes).toEqual(['inventory of new: a']);
    },
  );

  it.each([403, 422])('ends with any other answer as it came: %i', async (status) => {
    trouble = () => {
      throw refusal(status);
    };
    await expect(run(transferOf(['a']))).rejects.toMatchObject({ message: `answer ${status}` });
  });

  it('looks whether a write took effect whose answer was lost', async () => {
    trouble = (take) => {
      take();
      trouble = undefined;
      throw refusal(503);
    };
    await run(transferOf(['a']));
    expect(writes.filter((one) => one.startsWith('label'))).toEqual(['label a of 7']);
  });

  it('begins no further write after it was told to stop', async () => {
    const stop = new AbortController();
    const moved: string[] = [];
    const onMoved = ({ id }: Transferred): void => {
      moved.push(id);
      stop.abort();
    };
    const transfer = transferOf(['a', 'b']);
    const done = executeTransfer({ client, transfer, onMoved, signal: stop.signal });
    await expect(done).rejects.toMatchObject({ name: 'AbortError' });
    expect(moved).toEqual(['a']);
    expect(writes).toEqual(['inventory of new: ab', 'label a of 7']);
  });
});
