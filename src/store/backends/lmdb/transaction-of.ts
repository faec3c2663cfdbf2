/**
 * Number of the last transaction that any process committed. lmdb keeps this cheap call off its public type;
 * `getStats()` would walk the free list as well.
 */
export function transactionOf(root: object): number {
  return Reflect.get(root, 'env').info().lastTxnId;
}
