import { createIdSource, idTime } from '../core/ids.ts';
import { GatewayError } from '../core/errors.ts';
import { systemClock } from '../core/time/clock.ts';
import type { Store } from '../store/store.ts';
import type { AuditEntry } from './audit-entry.ts';
import { CUT, ENTRIES, entryKey } from './audit-rows.ts';
import type { Cut } from './audit-rows.ts';

const ENTRY_ID = /^aud_[0-9a-z]{1,64}$/;
const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 1_000;
/** Entries that one page looks at; a rare filter takes several pages, some of them empty. */
const MAX_SCANNED = 10_000;
const PAGE = 500;
/** Milliseconds by which the clocks of writers may differ: so much further a listing looks. */
const SKEW_MS = 60_000;

export interface AuditFilter {
  /** Id. */
  readonly organization?: string | undefined;
  /** Id or name. */
  readonly actor?: string | undefined;
  readonly action?: string | undefined;
  /** Kind of the object. */
  readonly kind?: string | undefined;
  /** Id or name of the object. */
  readonly object?: string | undefined;
  /** Id of a request. */
  readonly request?: string | undefined;
  /** Milliseconds since epoch, inclusive. */
  readonly from?: number | undefined;
  /** Milliseconds since epoch, exclusive. */
  readonly to?: number | undefined;
}

export interface AuditQuery extends AuditFilter {
  /** Default 20, at most 1,000. */
  readonly limit?: number | undefined;
  /** The `next_page` of the page before. */
  readonly page?: string | undefined;
}

export type AuditView = AuditEntry & { readonly type: 'audit_entry' };

export interface AuditPage {
  readonly data: readonly AuditView[];
  readonly next_page: string | null;
  /** Instant before which entries are removed; on the last page, when the listing reaches so far back. */
  readonly removed_before?: string;
}

/**
 * Entries, newest first. A page may be short, or empty, before the last one: only `next_page` says whether
 * there is more.
 *
 * @throws GatewayError `invalid_request` for a page that no listing has given out
 */
export async function listAudit(
  store: Pick<Store, 'get' | 'list'>,
  { limit, page, ...filter }: AuditQuery = {},
): Promise<AuditPage> {
  const { from = 0, to = Infinity } = filter;
  const wanted = Math.min(Math.max(1, limit ?? DEFAULT_LIMIT), MAX_LIMIT);
  const data: AuditView[] = [];
  let after = page === undefined ? firstIdAt(to) : fromPage(page);
  for (let scanned = 0; ;) {
    const rows = await store.list<AuditEntry>({
      prefix: ENTRIES,
      limit: PAGE,
      reverse: true,
      ...(after !== undefined && { after: entryKey(after) }),
    });
    for (const { value } of rows) {
      if ((idTime(value.id) ?? 0) < from - SKEW_MS) return atEnd(store, data, from);
      if (matches(value, filter)) {
        if (data.length === wanted) return { data, next_page: toPage(data.at(-1)?.id) };
        data.push(toView(value));
      }
      after = value.id;
      if (++scanned === MAX_SCANNED) return { data, next_page: toPage(after) };
    }
    if (rows.length < PAGE) return atEnd(store, data, from);
  }
}

/** One entry, or undefined. */
export async function getAudit(
  store: Pick<Store, 'get'>,
  id: string,
): Promise<AuditView | undefined> {
  if (!ENTRY_ID.test(id)) return undefined;
  const entry = await store.get<AuditEntry>(entryKey(id));
  return entry && toView(entry.value);
}

async function atEnd(
  store: Pick<Store, 'get'>,
  data: readonly AuditView[],
  from: number,
): Promise<AuditPage> {
  const until = (await store.get<Cut>(CUT))?.value.seal.at ?? null;
  const isCut = until !== null && until > from;
  return { data, next_page: null, ...(isCut && { removed_before: new Date(until).toISOString() }) };
}

function toView({ id, ...entry }: AuditEntry): AuditView {
  return { id, type: 'audit_entry', ...entry };
}

function matches(entry: AuditEntry, filter: AuditFilter): boolean {
  const { organization, actor, action, kind, object, request, from = 0, to = Infinity } = filter;
  const at = Date.parse(entry.at);
  const isOf = (named: { id: string | null; name: string | null }, wanted: string | undefined) =>
    wanted === undefined || named.id === wanted || named.name === wanted;
  return (
    at >= from &&
    at < to &&
    (organization === undefined || entry.organization === organization) &&
    (action === undefined || entry.action === action) &&
    (kind === undefined || entry.object.kind === kind) &&
    (request === undefined || entry.request_id === request) &&
    isOf(entry.actor, actor) &&
    isOf(entry.object, object)
  );
}

/** The id after which a listing begins that ends at an instant; undefined: with the newest. */
function firstIdAt(to: number): string | undefined {
  if (to === Infinity) return undefined;
  const clock = { ...systemClock, now: () => to + SKEW_MS };
  return createIdSource(clock, (size) => Buffer.alloc(size)).next('aud');
}

const toPage = (id: string | undefined): string | null =>
  id === undefined ? null : Buffer.from(id).toString('base64url');

function fromPage(page: string): string {
  const id = Buffer.from(page, 'base64url').toString();
  if (ENTRY_ID.test(id)) return id;
  throw new GatewayError('invalid_request', {
    message: 'page is not a cursor of this list',
    param: 'page',
  });
}
