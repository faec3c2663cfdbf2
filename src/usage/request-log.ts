import { systemClock } from '../core/clock.ts';
import type { Clock } from '../core/clock.ts';
import { createIdSource, idTime } from '../core/ids.ts';
import { GatewayError } from '../core/errors.ts';
import type { Key, Op, Store } from '../store/store.ts';
import { REQUESTS, requestKey } from './ledger-keys.ts';
import { isEnded, toRequestRecord } from './request-row.ts';
import type { RequestRecord, RequestResult, RequestRow } from './request-row.ts';

const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 1_000;
const SCAN = 1_000;
/** Records that one page looks at; a rare filter takes several pages, some of them empty. */
const MAX_SCANNED = 20_000;

export interface RequestFilter {
  organization?: string | undefined;
  /** A key's id. */
  key?: string | undefined;
  model?: string | undefined;
  /** An HTTP status, or `ok`, `error`, `aborted`, `interrupted`, `pending`. */
  status?: number | RequestResult | undefined;
  /** Milliseconds since epoch, inclusive. */
  from?: number | undefined;
  /** Milliseconds since epoch, exclusive. */
  to?: number | undefined;
}

export interface RequestQuery extends RequestFilter {
  /** Default 20, at most 1,000. */
  limit?: number | undefined;
  /** The `next_page` of the page before. */
  page?: string | undefined;
}

export interface RequestPage {
  data: RequestRecord[];
  next_page: string | null;
}

/**
 * Request records, newest first. A page may be short, or empty, before the last one: `next_page` alone
 * says whether there is more.
 *
 * @throws GatewayError `invalid_request` for a page that no listing has given out
 */
export async function listRequests(
  { store }: { store: Store },
  { limit, page, ...filter }: RequestQuery = {},
): Promise<RequestPage> {
  const wanted = Math.min(Math.max(1, limit ?? DEFAULT_LIMIT), MAX_LIMIT);
  const data: RequestRecord[] = [];
  let after = startOf(filter, page);
  for (let scanned = 0; scanned < MAX_SCANNED; scanned += SCAN) {
    const entries = await store.list<RequestRow>({
      prefix: REQUESTS,
      reverse: true,
      limit: SCAN,
      ...(after ? { after } : {}),
    });
    for (const { key, value } of entries) {
      const id = String(key[1]);
      if (filter.from !== undefined && (idTime(id) ?? value.at) < filter.from) {
        return { data, next_page: null };
      }
      if (!matches(value, filter)) continue;
      if (data.length === wanted) return { data, next_page: toPage(data.at(-1)?.id) };
      data.push(toRequestRecord(id, value));
    }
    if (entries.length < SCAN) return { data, next_page: null };
    after = entries.at(-1)?.key;
  }
  return { data, next_page: toPage(after && String(after[1])) };
}

/** One record, or undefined. */
export async function getRequest(
  { store }: { store: Store },
  id: string,
): Promise<RequestRecord | undefined> {
  const entry = await store.get<RequestRow>(requestKey(id));
  return entry && toRequestRecord(id, entry.value);
}

export interface SweepOptions {
  /** Age in milliseconds; older records are deleted. */
  olderThanMs: number;
  /** The most that one step deletes. Default and maximum 1,000. */
  limit?: number;
}

/** Deletes the oldest records, one bounded step; returns how many, less than the limit when done. */
export async function sweepRequests(
  { store, clock }: { store: Store; clock: Clock },
  { olderThanMs, limit = SCAN }: SweepOptions,
): Promise<number> {
  const before = clock.now() - olderThanMs;
  const entries = await store.list<RequestRow>({ prefix: REQUESTS, limit: Math.min(limit, SCAN) });
  const ops: Op[] = [];
  for (const { key, value } of entries) {
    if ((idTime(String(key[1])) ?? value.at) >= before) break;
    ops.push({ type: 'delete', key });
  }
  if (ops.length > 0) await store.commit(ops);
  return ops.length;
}

function matches(row: RequestRow, { organization, key, model, status }: RequestFilter): boolean {
  return (
    (organization === undefined || row.organization === organization) &&
    (key === undefined || row.key === key) &&
    (model === undefined || row.model === model) &&
    (status === undefined || statusOf(row, typeof status) === status)
  );
}

function statusOf(row: RequestRow, type: string): number | string | null {
  if (type === 'number') return isEnded(row) ? row.status : null;
  return isEnded(row) ? row.result : 'pending';
}

/** The key that the listing goes on behind: that of the page, or the first id of the instant `to`. */
function startOf({ to }: RequestFilter, page: string | undefined): Key | undefined {
  if (page !== undefined) return requestKey(fromPage(page));
  if (to === undefined) return undefined;
  const firstOf = createIdSource({ ...systemClock, now: () => to }, (size) => Buffer.alloc(size));
  return requestKey(firstOf.next('req'));
}

const toPage = (id: string | undefined): string | null =>
  id === undefined ? null : Buffer.from(id).toString('base64url');

function fromPage(page: string): string {
  const id = Buffer.from(page, 'base64url').toString();
  if (idTime(id) === undefined) {
    throw new GatewayError('invalid_request', {
      message: 'page is not a cursor of this list',
      param: 'page',
    });
  }
  return id;
}
