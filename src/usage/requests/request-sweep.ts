import { idTime } from '../../core/ids.ts';
import type { Sweep } from '../../jobs/sweep-job.ts';
import type { Entry, Op, Store } from '../../store/store.ts';
import { listStarts } from '../ledger/flights.ts';
import { REMOVED_UNTIL, REQUESTS, requestKey } from '../ledger/ledger-keys.ts';
import type { EndRow } from './request-row.ts';

/**
 * Removes final records, the oldest first. Money and use are summed in rows of their own, in the commit
 * that writes the record, so balances, limits and reports stay as they are.
 */
export function createRequestSweep(store: Store): Sweep {
  return async ({ before, cursor, limit }) => {
    const page = await store.list<EndRow>({
      prefix: REQUESTS,
      limit,
      ...(typeof cursor === 'string' && { after: requestKey(cursor) }),
    });
    const old = page.filter((entry) => timeOf(entry) < before);
    const last = old.at(-1);
    if (!last) return { removed: 0 };
    // One whose flight is not over would seem to be under way, and would be marked as interrupted some day.
    const starts = await listStarts(store);
    const over = old.filter(({ key }) => !starts.has(String(key[1])));
    if (over.length > 0) {
      const until = Math.max(timeOf(last) + 1, (await removedUntil(store)) ?? 0);
      await store.commit([
        { type: 'put', key: REMOVED_UNTIL, value: until },
        ...over.map(({ key }): Op => ({ type: 'delete', key })),
      ]);
    }
    const isMore = old.length === limit;
    return { removed: over.length, ...(isMore && { cursor: String(last.key[1]) }) };
  };
}

/** Records from before this instant (ms since epoch) may be missing; undefined: none is. */
export async function removedUntil(store: Pick<Store, 'get'>): Promise<number | undefined> {
  return (await store.get<number>(REMOVED_UNTIL))?.value;
}

function timeOf({ key, value }: Entry<EndRow>): number {
  return idTime(String(key[1])) ?? value[0][0];
}
