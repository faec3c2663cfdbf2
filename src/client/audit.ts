import type { Http } from './http/http.ts';
import { hasStrings, isPageOf, isRecord } from './http/guards.ts';
import type { Guard } from './http/guards.ts';
import { eachItem } from './http/pages.ts';
import type { Patience } from './http/read-on.ts';
import { watchList } from './http/watch-list.ts';
import type { WatchOptions } from './http/watch-list.ts';

/** One entry of the audit log; newer servers may add fields. */
export interface AuditEntry {
  id: string;
  /** RFC 3339. */
  at: string;
  organization: string | null;
  actor: { kind: string; id: string | null; name: string };
  from: { address: string | null; client: string | null };
  action: string;
  object: { kind: string; id: string; name: string | null };
  /** Secrets are masked; null where a member was or is not there. */
  changes: { path: string; old: unknown; new: unknown }[];
  request_id: string | null;
  chain: number;
  number: number;
  hash: string;
  [field: string]: unknown;
}

export interface AuditQuery {
  /** Id. */
  organization?: string;
  /** Id or name, as `object`. */
  actor?: string;
  action?: string;
  /** Kind of the object. */
  kind?: string;
  object?: string;
  /** Id of a request. */
  request?: string;
  /** RFC 3339; `from` inclusive, `to` exclusive. */
  from?: string;
  to?: string;
  limit?: number;
}

export interface AuditVerdict {
  valid: boolean;
  entries: number;
  seals: number;
  sealed_until: string | null;
  removed_before: string | null;
  /** First fault; null: there is none. */
  fault: {
    problem: string;
    entry: string | null;
    chain: number | null;
    number: number | null;
    message: string;
  } | null;
  [field: string]: unknown;
}

export interface AuditClient {
  /** Newest first, all pages followed. */
  list(query?: AuditQuery, signal?: AbortSignal): AsyncGenerator<AuditEntry, void, undefined>;
  get(id: string, signal?: AbortSignal): Promise<AuditEntry>;
  /** Every entry as it is written, oldest first. Never ends by itself. */
  watch(
    query: Omit<AuditQuery, 'from' | 'to' | 'limit'>,
    options: WatchOptions,
  ): AsyncGenerator<AuditEntry, never, undefined>;
  /** Reads the whole log on the server. */
  verify(signal?: AbortSignal): Promise<AuditVerdict>;
}

const PATH = '/admin/v1/audit';
const MOST_OF_PAGE = 1_000;
/** Entries of several processes can come to the list out of their order by so much. */
const DISORDER_MS = 10_000;
const hasTexts = hasStrings<AuditEntry>('id', 'at', 'action');
const isEntry: Guard<AuditEntry> = (value): value is AuditEntry =>
  hasTexts(value) && isRecord(value.actor) && isRecord(value.object) && isRecord(value.from);
const isVerdict: Guard<AuditVerdict> = (value): value is AuditVerdict =>
  isRecord(value) && typeof value['valid'] === 'boolean';

export function createAuditClient({
  http,
  clock,
}: Pick<Patience, 'clock'> & { readonly http: Http }): AuditClient {
  const list: AuditClient['list'] = (query, signal) =>
    eachItem(async (page) => {
      const call = { method: 'GET', path: PATH, query: { ...query, page }, signal };
      return (await http.json(call, isPageOf(isEntry))).body;
    });
  return {
    list,
    async get(id, signal) {
      const path = `${PATH}/${encodeURIComponent(id)}`;
      return (await http.json({ method: 'GET', path, signal }, isEntry)).body;
    },
    watch: (query, options) =>
      watchList(
        {
          list(since, limit = MOST_OF_PAGE) {
            const from = since === undefined ? {} : { from: since };
            return list({ ...query, limit, ...from }, options.signal);
          },
          timeOf: ({ at }) => at,
          stateOf: () => '',
          isPending: () => false,
          disorderMs: DISORDER_MS,
        },
        { ...options, clock },
      ),
    verify: async (signal) =>
      (await http.json({ method: 'GET', path: `${PATH}/verify`, signal }, isVerdict)).body,
  };
}
