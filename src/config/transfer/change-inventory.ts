import type { Inventory } from '../actual/inventory.ts';
import { canonicalJson } from '../objects/record.ts';
import type { InventoryClient } from '../actual/resource-client.ts';
import { triesAgain } from '../actual/try-again.ts';

const MAX_TRIES = 3;

type Content = Pick<Inventory, 'objects' | 'managed'>;

export interface InventoryChange {
  /** Gives what the inventory becomes, `tries` times at most 3; undefined leaves it as it is. */
  readonly change: (
    before: Inventory | undefined,
    tries: number,
  ) => Content | undefined | Promise<Content | undefined>;
  /** Waits so many milliseconds before the write is tried again. Default: a timer. */
  readonly pause?: ((ms: number) => Promise<void>) | undefined;
}

/**
 * Changes the inventory of a namespace; writes nothing when it is as it should be, or where the
 * gateway keeps none. After a concurrent change by another client, it is read and changed again.
 */
export async function changeInventory(
  inventories: InventoryClient,
  namespace: string,
  { change, pause }: InventoryChange,
): Promise<void> {
  for (let tries = 1; ; tries++) {
    const all = await inventories.list();
    // A gateway of an earlier release keeps none.
    if (all === undefined) return;
    const before = all.find((one) => one.namespace === namespace);
    const next = await change(before, tries);
    if (next === undefined || (before && isSame(before, next))) return;
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

function isSame({ objects, managed }: Inventory, next: Content): boolean {
  return canonicalJson({ objects, managed }) === canonicalJson(next);
}
