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

/** A declared value, for the server to compare with the stored one. */
export interface AskedSecret {
  readonly kind: KindName;
  /** Null for an object that is to be created. */
  readonly id: string | null;
  readonly field: string;
  readonly value: string;
}

/** Answer of the server for one {@link AskedSecret}. */
export interface ComparedSecret {
  /** True where the object has the value; for a key also where a rotation ended it. */
  readonly same: boolean;
  /** Short digest under a key of the gateway, so that it tells values apart and nothing else; null without one. */
  readonly stored: string | null;
  readonly given: string;
  /** Id of the key that has, or had, the value. */
  readonly holder: string | null;
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
  /** One answer for each, in their order; undefined where the server gives none. Changes nothing. */
  compareSecrets?(asked: readonly AskedSecret[]): Promise<readonly ComparedSecret[] | undefined>;
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
