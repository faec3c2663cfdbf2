import type { Entry, Key, Op, Store } from '../../store/store.ts';
import { commitSpend } from '../ledger/commit-spend.ts';
import { rateName, toScope } from '../ledger/ledger-keys.ts';
import { HEAD_TTL_MS } from '../rates/rate-window.ts';
import { windowsOfDay } from '../spend/spend.ts';
import type { SliceRow } from './slice-rows.ts';

const MAX_ATTEMPTS = 50;

/**
 * Gives back the amount set aside in a row, of a worker that no longer uses any of it. `conditions` are those
 * under which that is true. Rejects with `StoreError`.
 */
export async function giveUp(
  store: Store,
  { key, value, version }: Entry<SliceRow>,
  conditions: readonly Op[] = [],
): Promise<void> {
  const [amount, day] = value;
  const scope = toScope(key[1], key[2]);
  const ops: Op[] = [...conditions, { type: 'delete', key, ifVersion: version }];
  if (scope.kind === 'rate') return renewRate(store, rateName(scope), ops);
  const change = { settled: 0, reserved: -amount };
  await commitSpend(store, ops, [{ scope, windows: windowsOfDay(day), change }]);
}

/** Changes the head of a rate, so that all processes read its slices again. */
async function renewRate(store: Store, name: Key, ops: readonly Op[]): Promise<void> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const head = await store.get<number>(name);
    const condition = head ? { ifVersion: head.version } : { ifAbsent: true as const };
    const put: Op = {
      type: 'put',
      key: name,
      value: head?.value ?? 0,
      ttlMs: HEAD_TTL_MS,
      ...condition,
    };
    const result = await store.commit([...ops, put]);
    if (result.ok || result.conflict[0] !== 'rpm') return;
  }
}
