import { systemClock } from '../../core/time/clock.ts';
import { createIdSource, idTime } from '../../core/ids.ts';
import { GatewayError } from '../../core/errors.ts';
import type { Key, Store } from '../../store/store.ts';
import { REQUESTS, requestKey } from '../ledger/ledger-keys.ts';
import { listStarts } from '../ledger/flights.ts';
import { readRows } from '../ledger/read-rows.ts';
import { removedUntil } from './request-sweep.ts';
import { toFinalRecord, toPendingRecord } from './request-record.ts';
import type { RequestRecord, RequestResult } from './request-record.ts';
import type { EndRow, StartRow } from './request-row.ts';

const REQUEST_ID = /^\w{1,64}$/;
const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 1_000;
/** Records that one page looks at; a rare filter takes several pages, some of them empty. */
const MAX_SCANNED = 20_000;

export interface RequestFilter {
  organization?: string | undefined;
  /** A key's id. */
  key?: string | undefined;
  model?: string | undefined;
  /** Name of a provider that answered, was tried, or left out; pending requests have none. */
  provider?: string | undefined;
  conversation?: string | undefined;
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
  /** Instant before which records may be gone; on the last page, when the listing reaches so far back. */
  removed_before?: string;
}

/**
 * Request records, newest first. A page may be short, or empty, before the last one: only `next_page` says
 * whether there is more.
 *
 * @throws GatewayError `invalid_request` for a page that no listing has given out
 */
export async function listRequests(
  { store }: { store: Store },
  { limit, page, ...filter }: RequestQuery = {},
): Promise<RequestPage> {
  const { from = 0 } = filter;
  const wanted = Math.min(Math.max(1, limit ?? DEFAULT_LIMIT), MAX_LIMIT);
  const data: RequestRecord[] = [];
  let scanned = 0;
  // One more shows whether there is another page.
  const enough = wanted + 1;
  for await (const stored of newestFirst(store, startOf(filter, page), enough)) {
    const { id, start } = stored;
    if ((idTime(id) ?? start[0]) < from) break;
    if (matches(stored, filter)) {
      if (data.length === wanted) return { data, next_page: toPage(data.at(-1)?.id) };
      data.push(toRecord(stored));
    }
    if (++scanned === MAX_SCANNED) return { data, next_page: toPage(id) };
  }
  const until = (await removedUntil(store)) ?? 0;
  const isCut = until > from;
  return { data, next_page: null, ...(isCut && { removed_before: new Date(until).toISOString() }) };
}

/** One record, or undefined. */
export async function getRequest(
  { store }: { store: Store },
  id: string,
): Promise<RequestRecord | undefined> {
  // Callers choose any name, and keys of the store have a maximum length.
  if (!REQUEST_ID.test(id)) return undefined;
  const ended = await getEnded(store, id);
  if (ended) return ended;
  const start = (await listStarts(store)).get(id);
  // A request that is no longer in flight may have ended since the first look.
  return start ? toPendingRecord(id, start) : getEnded(store, id);
}

async function getEnded(store: Store, id: string): Promise<RequestRecord | undefined> {
  const entry = await store.get<EndRow>(requestKey(id));
  return entry && toFinalRecord(id, entry.value);
}

/** A request as it is stored. */
export interface StoredRequest {
  readonly id: string;
  readonly start: StartRow;
  /** Undefined while the call is in flight. */
  readonly end: EndRow | undefined;
}

/**
 * All requests after a key; those in flight are sorted among the ended ones.
 *
 * @param enough number of them that are probably looked at
 */
export async function* newestFirst(
  store: Pick<Store, 'list'>,
  after: Key | undefined,
  enough?: number,
): AsyncGenerator<StoredRequest> {
  const starts = await listStarts(store);
  const behind = after && String(after[1]);
  const open = [...starts.keys()].filter((id) => behind === undefined || id < behind).sort();
  const pending = (id: string): StoredRequest[] => {
    const start = starts.get(id);
    return start ? [{ id, start, end: undefined }] : [];
  };
  const rows = readRows<EndRow>(store, REQUESTS, { reverse: true, after, enough });
  for await (const { key, value } of rows) {
    const id = String(key[1]);
    for (let next = open.at(-1); next !== undefined && next >= id; next = open.at(-1)) {
      open.pop();
      if (next !== id) yield* pending(next);
    }
    yield { id, start: value[0], end: value };
  }
  for (const id of open.reverse()) yield* pending(id);
}

function toRecord({ id, start, end }: StoredRequest): RequestRecord {
  return end ? toFinalRecord(id, end) : toPendingRecord(id, start);
}

/** True when a request passes a filter, except for its times, which bound the listing. */
export function matches(request: StoredRequest, filter: RequestFilter): boolean {
  const { status, provider } = filter;
  if (!matchesStart(request.start, filter)) return false;
  if (provider !== undefined && !hasAsked(request.end, provider)) return false;
  if (status === undefined) return true;
  const { 1: ownStatus = null, 2: ownResult = 'pending' } = request.end ?? [];
  return (typeof status === 'number' ? ownStatus : ownResult) === status;
}

function hasAsked(end: EndRow | undefined, provider: string): boolean {
  return end?.[4]?.[1] === provider || end?.[5].some(([name]) => name === provider) === true;
}

/** The same for the start of a request. */
export function matchesStart(
  { 1: ownOrganization, 2: ownKey, 5: ownModel, 8: origin }: StartRow,
  { organization, key, model, conversation }: RequestFilter,
): boolean {
  return (
    (organization === undefined || ownOrganization === organization) &&
    (key === undefined || ownKey === key) &&
    (model === undefined || ownModel === model) &&
    (conversation === undefined || origin?.conversation === conversation)
  );
}

/** The key after which the listing continues: that of the page, or the first id of the instant `to`. */
function startOf({ to }: RequestFilter, page: string | undefined): Key | undefined {
  if (page !== undefined) return requestKey(fromPage(page));
  return to === undefined ? undefined : firstKeyAt(to);
}

/** Key before which all requests began before this instant (ms since epoch). */
export function firstKeyAt(ms: number): Key {
  const firstOf = createIdSource({ ...systemClock, now: () => ms }, (size) => Buffer.alloc(size));
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
