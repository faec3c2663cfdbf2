import type { Http } from './http/http.ts';
import { hasStrings, isPageOf } from './http/guards.ts';
import { eachItem } from './http/pages.ts';
import { followRequests } from './request-events.ts';
import type { FollowOptions, RequestsEvent } from './request-events.ts';
import type { Patience } from './http/read-on.ts';
import { watchList } from './http/watch-list.ts';
import type { WatchOptions } from './http/watch-list.ts';

/** The record that one inference request leaves; newer servers may add fields. */
export interface RequestRecord {
  id: string;
  created_at: string;
  model: string;
  surface: string;
  status: number | null;
  result: string;
  /** Null where its price is unknown. */
  cost: string | null;
  total_ms: number | null;
  [field: string]: unknown;
}

export interface RequestsQuery {
  key?: string;
  model?: string;
  /** Provider that answered, was tried or left out, by name. */
  provider?: string;
  conversation?: string;
  status?: string;
  organization?: string;
  /** RFC 3339. */
  from?: string;
  to?: string;
  limit?: number;
}

export interface RequestsClient {
  /** Newest first, all pages followed. */
  list(query?: RequestsQuery, signal?: AbortSignal): AsyncGenerator<RequestRecord, void, undefined>;
  get(id: string, signal?: AbortSignal): Promise<RequestRecord>;
  /** Rows as requests begin and end; ends with the connection, and continues after `after`. */
  follow(
    query?: RequestsQuery,
    options?: FollowOptions,
  ): AsyncGenerator<RequestsEvent<RequestRecord>, void, undefined>;
  /** Every record as its request begins, oldest first, and once more when it ended. Never ends by itself. */
  watch(
    query: Omit<RequestsQuery, 'status' | 'from' | 'to' | 'limit'>,
    options: WatchOptions,
  ): AsyncGenerator<RequestRecord, never, undefined>;
}

const PATH = '/admin/v1/requests';
const MOST_OF_PAGE = 1_000;
/** Requests of several processes can come to the list out of their order by so much. */
const DISORDER_MS = 10_000;
const isRecordOfRequest = hasStrings<RequestRecord>('id', 'created_at');

export function createRequestsClient({
  http,
  clock,
}: Pick<Patience, 'clock'> & { readonly http: Http }): RequestsClient {
  const list: RequestsClient['list'] = (query, signal) =>
    eachItem(async (page) => {
      const call = { method: 'GET', path: PATH, query: { ...query, page }, signal };
      return (await http.json(call, isPageOf(isRecordOfRequest))).body;
    });
  return {
    list,
    follow: (query = {}, options = {}) =>
      followRequests(
        http,
        { path: `${PATH}/events`, query: { ...query }, isRow: isRecordOfRequest },
        options,
      ),
    watch: (query, options) =>
      watchList(
        {
          list(since, limit = MOST_OF_PAGE) {
            return list(
              { ...query, limit, ...(since !== undefined && { from: since }) },
              options.signal,
            );
          },
          pending: () => list({ ...query, status: 'pending', limit: MOST_OF_PAGE }, options.signal),
          timeOf: ({ created_at }) => created_at,
          stateOf: ({ result }) => result,
          isPending: ({ result }) => result === 'pending',
          disorderMs: DISORDER_MS,
        },
        { ...options, clock },
      ),
    async get(id, signal) {
      const path = `${PATH}/${encodeURIComponent(id)}`;
      return (await http.json({ method: 'GET', path, signal }, isRecordOfRequest)).body;
    },
  };
}
