import type { Store } from '../../store/store.ts';
import { chargeKey, holdKey, requestKey } from '../ledger/ledger-keys.ts';
import { toUsageRecord } from '../requests/request-record.ts';
import { knownCost } from '../usage.ts';
import type { UsageRecord } from '../requests/request-record.ts';
import type { EndRow } from '../requests/request-row.ts';

/** Charge for work that outlived its call. */
export interface ChargeFound {
  readonly usage: UsageRecord;
  /** Nano-dollars; null: unknown. */
  readonly cost: number | null;
}

/**
 * The charge for a task of that id; undefined while there is none, and for what cost nothing. Rejects
 * with `StoreError`.
 */
export async function findCharge(
  { store }: { store: Store },
  id: string,
): Promise<ChargeFound | undefined> {
  const charge = await store.get<string | null>(chargeKey(id));
  if (!charge?.value) return undefined;
  const record = await store.get<EndRow>(requestKey(charge.value));
  if (!record) return undefined;
  const [, , , , , , usage, , cost, , , , , , unpriced] = record.value;
  return { usage: toUsageRecord(usage), cost: knownCost({ cost, unpriced: unpriced === 1 }) };
}

/** True while money is kept back for a task of that id; only where a spending limit applies. */
export async function isHeld({ store }: { store: Store }, id: string): Promise<boolean> {
  return (await store.get(holdKey(id))) !== undefined;
}
