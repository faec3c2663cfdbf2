import { changeInventory } from '../transfer/change-inventory.ts';
import { type InventoryUpdate, nextInventory } from '../actual/inventory.ts';
import type { ResourceClient } from '../actual/resource-client.ts';

export interface KeepOptions extends Omit<InventoryUpdate, 'before'> {
  /** Reads the current state. */
  readonly read: () => Promise<InventoryUpdate['left']>;
  /** Waits so many milliseconds before the write is tried again. Default: a timer. */
  readonly pause?: ((ms: number) => Promise<void>) | undefined;
}

/**
 * Brings the inventory of a namespace up to what an apply has made; writes nothing when it says so
 * already. When another apply of the namespace was faster, everything is read again.
 */
export async function keepInventory(
  { inventories }: ResourceClient,
  namespace: string,
  { pause, read, ...update }: KeepOptions,
): Promise<void> {
  if (inventories === undefined) return;
  await changeInventory(inventories, namespace, {
    pause,
    async change(before, tries) {
      const left = tries === 1 ? update.left : await read();
      const next = nextInventory({ ...update, left, before });
      return before === undefined && next.objects.length === 0 ? undefined : next;
    },
  });
}
