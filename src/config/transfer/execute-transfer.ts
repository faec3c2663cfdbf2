import { byKindAndIdentity, type Inventory } from '../actual/inventory.ts';
import { labelsOf, NAMESPACE_LABEL } from '../actual/ownership.ts';
import type { ResourceClient } from '../actual/resource-client.ts';
import { StalePlanError } from '../plan/stale-plan-error.ts';
import { triesAgain } from '../actual/try-again.ts';
import { changeInventory } from './change-inventory.ts';
import type { Transfer, Transferred } from './plan-transfer.ts';

export interface TransferRun {
  readonly client: ResourceClient;
  readonly transfer: Transfer;
  /** Receives every object that is of the other namespace from now on. */
  readonly onMoved?: ((object: Transferred) => void) | undefined;
  /** Waits so many milliseconds before a write is tried again. Default: a timer. */
  readonly pause?: ((ms: number) => Promise<void>) | undefined;
  /** No further write begins after its abort. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Gives objects to another namespace. Its inventory names them first, then each gets its label,
 * then the former inventories forget them: while two name an object its label decides, so it
 * belongs to exactly one of them at any moment, and the same transfer planned again does the rest.
 *
 * @throws StalePlanError when another client changed an object meanwhile
 */
export async function executeTransfer(run: TransferRun): Promise<void> {
  const { transfer, onMoved, signal } = run;
  if (transfer.entries.length === 0 && transfer.renamed === undefined) return;
  await claim(run);
  for (const object of transfer.objects) {
    signal?.throwIfAborted();
    await relabel(object, run);
    onMoved?.(object);
  }
  signal?.throwIfAborted();
  // An apply of the new namespace may have dropped entries that were not its own yet.
  if (transfer.objects.length > 0) await claim(run);
  await release(run);
}

async function claim({ client, transfer, pause }: TransferRun): Promise<void> {
  const { to, entries, managed } = transfer;
  const { inventories } = client;
  if (inventories === undefined || entries.length === 0) return;
  const ids = new Set(entries.map(({ id }) => id));
  await changeInventory(inventories, to, {
    pause,
    change(before) {
      const others = (before?.objects ?? []).filter(({ id }) => !ids.has(id));
      return {
        objects: [...others, ...entries].sort(byKindAndIdentity),
        managed: { ...managed, ...before?.managed },
      };
    },
  });
}

async function relabel(object: Transferred, { client, transfer, pause }: TransferRun) {
  const { kind, identity, view } = object;
  const { to } = transfer;
  const labels = labelsOf(view);
  if (labels[NAMESPACE_LABEL] === to) return;
  const body = { labels: { ...labels, [NAMESPACE_LABEL]: to } };
  const look = async () => {
    const now = (await client.list(kind)).find(({ id }) => id === view.id);
    return now && labelsOf(now)[NAMESPACE_LABEL] === to ? now : undefined;
  };
  try {
    await triesAgain(() => client.update(kind, view.id, { body, expectedVersion: view.version }), {
      look,
      pause,
    });
  } catch (thrown) {
    const { status } = thrown as { status?: number };
    if (status !== 404 && status !== 409 && status !== 412) throw thrown;
    const reason = status === 404 ? 'it is gone' : 'somebody else changed it meanwhile';
    throw new StalePlanError([{ kind, identity, reason }]);
  }
}

/** Takes the objects out of every other inventory; that of a renamed namespace goes when it is empty. */
async function release({ client, transfer, pause }: TransferRun): Promise<void> {
  const { to, ids, renamed } = transfer;
  const { inventories } = client;
  const all = (await inventories?.list()) ?? [];
  const rest = ({ objects }: Inventory) => objects.filter(({ id }) => !ids.has(id));
  for (const inventory of all.filter(({ namespace }) => namespace !== to)) {
    const { namespace, objects } = inventory;
    const left = rest(inventory);
    if (namespace === renamed && left.length === 0) await inventories?.remove(inventory);
    else if (inventories && left.length < objects.length) {
      await changeInventory(inventories, namespace, {
        pause,
        change: (now) => now && { objects: rest(now), managed: now.managed },
      });
    }
  }
}
