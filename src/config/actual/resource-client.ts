import type { View } from './actual.ts';
import type { Inventory } from './inventory.ts';
import type { KindName } from '../objects/kinds.ts';

/** Reads and writes inventories; rejects as {@link ResourceClient} does. */
export interface InventoryClient {
  /** Undefined when the server knows no inventories. */
  list(): Promise<Inventory[] | undefined>;
  /** Makes or replaces the one of a namespace; `before` is the one that was read. */
  write(
    namespace: string,
    before: Inventory | undefined,
    next: Pick<Inventory, 'objects' | 'managed'>,
  ): Promise<void>;
  /** Forgets a namespace. */
  remove(inventory: Inventory): Promise<void>;
}

/**
 * Access of plan and apply to the objects: the admin API, or the repository in process. A rejection
 * carries the `status` of the answer, if there was one.
 */
export interface ResourceClient {
  /** True where the process itself keeps the objects, so that it knows every field of a declaration. */
  readonly isOwn?: boolean;
  /** Inventories of the namespaces. Absent where declarations belong to a file. */
  readonly inventories?: InventoryClient;
  /** Every object of the kind, all pages. */
  list(kind: KindName): Promise<View[]>;
  /** Tries that have the same name come to one object, also when one takes effect late. */
  create(kind: KindName, body: Record<string, unknown>, name?: string): Promise<View>;
  update(
    kind: KindName,
    id: string,
    change: { body: Record<string, unknown>; expectedVersion: number },
  ): Promise<View>;
  delete(kind: KindName, id: string): Promise<void>;
  archive(kind: KindName, id: string): Promise<View>;
  /** Idempotent. */
  act(kind: KindName, id: string, action: 'pause' | 'unpause'): Promise<View>;
}
