import { type Inventory, type InventoryUpdate, nextInventory } from '../actual/inventory.ts';
import { canonicalJson } from '../objects/record.ts';
import type { ResourceClient } from '../actual/resource-client.ts';
import { triesAgain } from '../actual/try-again.ts';

const MAX_TRIES = 3;

export interface KeepOptions extends Omit<InventoryUpdate, 'before'> {
  /** Reads what there is by now. */
  readonly read: () => Promise<InventoryUpdate['left']>;
  /** Waits so many milliseconds before the write is tried again. Default: a timer. */
  readonly pause?: ((ms: number) => Promise<void>) | undefined;
}

/**
 * Brings the inventory of a namespace up to what an apply has made; writes nothing when it says so
 * already. When another apply of the namespace was faster, everything is read again.
 */
export async function keepInventory(
  client: ResourceClient,
  namespace: string,
  { pause, read, ...update }: KeepOptions,
): Promise<void> {
  const { inventories } = client;
  if (inventories === undefined) return;
  for (let tries = 1; ; tries++) {
    const all = await inventories.list();
    // A gateway of an earlier release keeps none.
    if (all === undefined) return;
    const before = all.find((one) => one.namespace === namespace);
    const left = tries === 1 ? update.left : await read();
    const next = nextInventory({ ...update, left, before });
    if (before === undefined && next.objects.length === 0) return;
    if (before && isSame(before, next)) return;
    const look = async () => {
      const now = (await inventories.list())?.find((one) => one.namespace === namespace);
      return now && isSame(now, next) ? true : undefined;
    };
    try {
      await triesAgain(() => inventories.write(namespace, before, next).then(() => true), {
        look,
        pause,
      });
      return;
    } catch (thrown) {
      const { status } = thrown as { status?: number };
      if (tries === MAX_TRIES || (status !== 409 && status !== 412)) throw thrown;
    }
  }
}

function isSame(
  { objects, managed }: Inventory,
  next: Pick<Inventory, 'objects' | 'managed'>,
): boolean {
  return canonicalJson({ objects, managed }) === canonicalJson(next);
}
