import type { Entry, Store } from '../../store/store.ts';
import { slicePrefix } from '../ledger/ledger-keys.ts';
import type { Scope } from '../ledger/ledger-keys.ts';

/** Row of a slice: the amount that is set aside, in nano-dollars, and the day whose windows it lies in. */
export type SliceRow = readonly [amount: number, day: string];

/** Rows are `slice, kind, id, worker`. */
export const workerOf = ({ key }: Entry): string => String(key[3]);

/** Workers on one host. */
const MAX_SLICES = 1_000;

/** Amounts of a scope that workers other than this one have set aside. Rejects with `StoreError`. */
export async function amountsElsewhere(
  store: Pick<Store, 'list'>,
  scope: Scope,
  worker: string,
): Promise<number[]> {
  const rows = await store.list<SliceRow>({ prefix: slicePrefix(scope), limit: MAX_SLICES });
  return rows.filter((row) => workerOf(row) !== worker).map(({ value: [amount] }) => amount);
}

/** Sum of {@link amountsElsewhere}. Rejects with `StoreError`. */
export async function slicedElsewhere(
  ...asked: Parameters<typeof amountsElsewhere>
): Promise<number> {
  return (await amountsElsewhere(...asked)).reduce((sum, amount) => sum + amount, 0);
}
