import { StoreError } from '../../store/store.ts';
import type { CommitResult, Op, Store } from '../../store/store.ts';
import { scopeName, spendKey } from './ledger-keys.ts';
import type { Scope } from './ledger-keys.ts';
import { putCounter } from '../spend/put-counter.ts';
import { addSpend, earlierOf, withoutPastWindows } from '../spend/spend.ts';
import type { Spend, SpendRecord, Windows } from '../spend/spend.ts';

const MAX_ATTEMPTS = 50;

export interface SpendChange {
  readonly scope: Scope;
  readonly windows: Windows;
  readonly change: Readonly<Spend>;
}

/**
 * Commits operations together with changes of the shared counters, again while others change the same
 * counters. A conflict in the result is one of the operations' own. Rejects with `StoreError`.
 */
export async function commitSpend(
  store: Store,
  ops: readonly Op[],
  changes: readonly SpendChange[],
): Promise<CommitResult> {
  const scopes = new Map(changes.map(({ scope }) => [scopeName(scope), scope]));
  for (let attempt = 1; ; attempt++) {
    const counters = await Promise.all(
      Array.from(scopes, async ([name, scope]): Promise<Op> => {
        const entry = await store.get<SpendRecord>(spendKey(scope));
        const record = structuredClone(entry?.value ?? {});
        const own = changes.filter(({ scope: one }) => scopeName(one) === name);
        for (const { windows, change } of own) addSpend(record, windows, change);
        const earliest = own.map(({ windows }) => windows).reduce(earlierOf);
        return putCounter(scope, withoutPastWindows(record, earliest), entry?.version);
      }),
    );
    const result = await store.commit([...ops, ...counters]);
    if (result.ok || result.conflict[0] !== 'spend') return result;
    if (attempt === MAX_ATTEMPTS) {
      throw new StoreError('unavailable', 'others kept changing the same counters');
    }
  }
}
