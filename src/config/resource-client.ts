import type { View } from './actual.ts';
import type { KindName } from './kinds.ts';

/**
 * How plan and apply reach the objects: the admin API, or the repository in process. A rejection carries
 * the `status` of the answer, if there was one.
 */
export interface ResourceClient {
  /** True where the process itself keeps the objects, so that it knows every field of a declaration. */
  readonly isOwn?: boolean;
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
