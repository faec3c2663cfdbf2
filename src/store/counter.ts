import { StoreError, type Value } from './store.ts';

/** The new value of a counter. Throws `invalid_value` when either side is no finite number. */
export function addToCounter(current: Value, by: number): number {
  if (current !== undefined && typeof current !== 'number') {
    throw new StoreError('invalid_value', 'only a number can be incremented');
  }
  const sum = (current ?? 0) + by;
  if (!Number.isFinite(sum)) throw new StoreError('invalid_value', 'a counter must stay finite');
  return sum;
}
