import type { Store } from '../../store/store.ts';
import { spendKey } from '../ledger/ledger-keys.ts';
import type { Scope } from '../ledger/ledger-keys.ts';
import { listUnfolded } from './spend-counters.ts';
import { addSpend, spendIn, windowsOf, windowsOfDay } from './spend.ts';
import type { Spend, SpendRecord } from './spend.ts';

const MAX_ATTEMPTS = 20;

/**
 * Spending of a key or an organization, and the most that its open calls may still cost, in
 * nano-dollars.
 */
export interface SpendSummary {
  lifetime: Spend;
  /** The running UTC day and month. */
  day: Spend;
  month: Spend;
}

/**
 * The spending of a scope at an instant (ms since epoch), for account look-ups. A call that ends while
 * this reads may be missing, none is counted twice. Rejects with `StoreError`.
 */
export async function readSpend(
  { store }: { store: Store },
  scope: Scope,
  at: number,
): Promise<SpendSummary> {
  for (let attempt = 1; ; attempt++) {
    const before = await store.get<SpendRecord>(spendKey(scope));
    const unfolded = await listUnfolded(store, scope);
    const after = await store.get<SpendRecord>(spendKey(scope));
    // Unfolded rows may have moved into the record in between.
    if (before?.version !== after?.version && attempt < MAX_ATTEMPTS) continue;
    const record = structuredClone(before?.value ?? {});
    for (const { day, amount } of unfolded) {
      addSpend(record, windowsOfDay(day), { settled: amount, reserved: 0 });
    }
    const { life, day, month } = windowsOf(at);
    return {
      lifetime: { ...spendIn(record, life) },
      day: { ...spendIn(record, day) },
      month: { ...spendIn(record, month) },
    };
  }
}
