import type { Store } from '../../../store/store.ts';
import { requestKey } from '../../ledger/ledger-keys.ts';
import { firstKeyAt, matches, newestFirst } from '../request-log.ts';
import type { RequestFilter } from '../request-log.ts';
import type { EndRow } from '../request-row.ts';
import { RequestChange } from './request-change.ts';
import { concerns, MAX_ROWS } from './request-channel.ts';
import { tailOf } from './stream-cursor.ts';
import type { StreamCursor } from './stream-cursor.ts';

export interface ReadChangesDeps {
  readonly store: Pick<Store, 'get' | 'list'>;
  /** Milliseconds within which a request body must arrive: so old may an id be that is new to all. */
  readonly requestTimeoutMs: number;
}

/** Records that one reading looks at. */
const MAX_SCANNED = 50_000;

/** The newest requests that a filter lets through, oldest first. Rejects with `StoreError`. */
export async function readNewest(
  { store }: ReadChangesDeps,
  filter: RequestFilter,
  limit: number,
): Promise<RequestChange[]> {
  const found: RequestChange[] = [];
  if (limit === 0) return found;
  const after = filter.to === undefined ? undefined : firstKeyAt(filter.to);
  let scanned = 0;
  for await (const { id, start, end } of newestFirst(store, after)) {
    const change = new RequestChange(id, start, end);
    if (change.at < (filter.from ?? 0) || ++scanned > MAX_SCANNED) break;
    if (matches(change, filter) && found.push(change) === limit) break;
  }
  return found.reverse();
}

/**
 * Requests that changed after a cursor, oldest first; undefined where they are too many. Rejects with
 * `StoreError`.
 */
export async function readSince(
  { store, requestTimeoutMs }: ReadChangesDeps,
  filter: RequestFilter,
  cursor: StreamCursor,
): Promise<RequestChange[] | undefined> {
  const open = new Set(cursor.open);
  const met = new Set<string>();
  const isTold = ({ id, end, endedAt }: RequestChange): boolean => {
    if (open.has(id)) return end === undefined;
    return end !== undefined && (endedAt < cursor.since || cursor.told.has(tailOf(id)));
  };
  const isShown = (change: RequestChange): boolean =>
    concerns(change, filter) &&
    (matches(change, filter) || (filter.status === 'pending' && open.has(change.id)));
  const first = Math.min(cursor.low, cursor.since) - requestTimeoutMs;
  const found: RequestChange[] = [];
  let scanned = 0;
  for await (const { id, start, end } of newestFirst(store, undefined)) {
    const change = new RequestChange(id, start, end);
    if (change.at < first) break;
    if (++scanned > MAX_SCANNED || found.length === MAX_ROWS) return undefined;
    met.add(id);
    if (!isTold(change) && isShown(change)) found.push(change);
  }
  for (const id of open) {
    const entry = met.has(id) ? undefined : await store.get<EndRow>(requestKey(id));
    const change = entry && new RequestChange(id, entry.value[0], entry.value);
    if (change && isShown(change)) found.push(change);
  }
  return found.sort((a, b) => (a.id < b.id ? -1 : 1));
}
