import { StoreError } from './store.ts';
import type { StoreErrorCode } from './store.ts';

const TROUBLE: ReadonlySet<StoreErrorCode> = new Set([
  'unavailable',
  'full',
  'read_only',
  'corrupt',
] as const);

/** True for a failure of the store as it is now, false for a faulty operation. */
export function isStoreTrouble(error: unknown): boolean {
  return error instanceof StoreError && TROUBLE.has(error.code);
}
