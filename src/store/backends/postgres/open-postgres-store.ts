import type pg from 'pg';
import type { Clock } from '../../../core/time/clock.ts';
import { openChanges } from './changes.ts';
import { PATIENCE, openPool, settingsOf, toPostgresPlace } from './connection.ts';
import { createExpiries } from './expiries.ts';
import { migrate, readMeta } from './migrate.ts';
import { toStoreError } from './to-store-error.ts';
import type { PreparedOp } from '../../prepare-commit.ts';
import { createRemoteStore, type RemoteRows } from '../../remote-store.ts';
import { assertWhole } from '../../store-meta.ts';
import type { Store } from '../../store.ts';
import { createWatchers } from '../../watchers.ts';

/**
 * A store at cluster scope on PostgreSQL 13 or newer. A commit is one function call, so all or nothing, and
 * durable when it resolves unless the server is configured otherwise. Rejects with `StoreError` `unavailable`,
 * `newer_format`, or `locked` when another store is half copied into it.
 */
export async function openPostgresStore(
  given: Record<string, unknown>,
  clock: Clock,
): Promise<Store> {
  const place = toPostgresPlace(given);
  const { schema } = place;
  const settings = settingsOf(place);
  const pool = openPool(place);
  const watchers = createWatchers();
  try {
    await migrate(pool, schema);
    assertWhole(await readMeta(pool));
    const changes = await openChanges({ settings, schema, pool, clock, watchers });
    const rows = createRows(pool, changes);
    return createRemoteStore({ driver: 'postgres', rows, clock, watchers });
  } catch (error) {
    await pool.end();
    throw toStoreError(error);
  }
}

function createRows(
  pool: pg.Pool,
  changes: { tell(ids: readonly string[]): void; close(): Promise<void> },
): RemoteRows {
  const ask = async <R extends pg.QueryResultRow>(
    name: string,
    text: string,
    values: unknown[],
  ) => {
    try {
      return (await pool.query<R>({ ...PATIENCE, name, text, values })).rows;
    } catch (error) {
      throw toStoreError(error);
    }
  };
  return {
    async get(bytes, now) {
      const [row] = await ask<{ value: Buffer; version: string }>('store_get', GET, [bytes, now]);
      return row && { envelope: row.value, version: row.version };
    },
    async list({ lower, upper, limit, maxBytes, reverse }, now) {
      type Row = { key: Buffer; value: Buffer; version: string };
      const isBounded = Number.isFinite(maxBytes);
      const [forth, back] = isBounded ? [BOUNDED, BOUNDED_BACK] : [LIST, LIST_BACK];
      const [name, text] = reverse ? back : forth;
      const values = [lower, upper, limit, now, ...(isBounded ? [maxBytes] : [])];
      const found = await ask<Row>(name, text, values);
      return found.map(({ key, value, version }) => ({ key, envelope: value, version }));
    },
    async commit(ops, now) {
      const values = [...columnsOf(ops), now];
      type Outcome = { failed: number | null; stamp: string | null };
      const [row] = await ask<Outcome>('store_commit', COMMIT, values);
      if (typeof row?.failed === 'number') return { failed: row.failed };
      changes.tell(ops.filter(({ type }) => type !== 'check').map(({ id }) => id));
      return { version: String(row?.stamp) };
    },
    async increment({ bytes, by, expiresAt }, now) {
      const values = [bytes, by, expiresAt, now];
      const [row] = await ask<{ total: number | null }>('store_increment', INCREMENT, values);
      if (row?.total === null || row === undefined) return undefined;
      changes.tell([bytes.toString('latin1')]);
      return row.total;
    },
    expiries: createExpiries(ask),
    async sweep(now, limit) {
      const [row] = await ask<{ count: string }>('store_sweep', SWEEP, [now, limit]);
      return Number(row?.count ?? 0);
    },
    async ping(now) {
      await ask('store_ping', PING, [now]);
    },
    async close() {
      await changes.close();
      await pool.end();
    },
  };
}

const ALIVE = (at: string): string => `(expires_at is null or expires_at > ${at})`;
const GET = `select value, version from rows where key = $1 and ${ALIVE('$2')}`;
const RANGE = `select key, value, version from rows where key > $1 and key < $2 and ${ALIVE('$4')}`;
const PAGE = `${RANGE} order by key limit $3`;
const PAGE_BACK = `${RANGE} order by key desc limit $3`;
/** Leaves out the rows after the one with which the values reach $5 bytes; those are never read. */
const boundedBy = (page: string, order: string): string =>
  `select key, value, version from (
     select *, sum(octet_length(value)) over (order by ${order}
       rows between unbounded preceding and 1 preceding) as before
     from (${page}) as page
   ) as summed where coalesce(before, 0) < $5 order by ${order}`;
/** Names of the prepared statements, and their texts. */
const LIST = ['store_list', PAGE] as const;
const LIST_BACK = ['store_list_back', PAGE_BACK] as const;
const BOUNDED = ['store_list_bounded', boundedBy(PAGE, 'key')] as const;
const BOUNDED_BACK = ['store_list_bounded_back', boundedBy(PAGE_BACK, 'key desc')] as const;
const COMMIT = 'select failed, stamp from commit_rows($1, $2, $3, $4, $5, $6)';
const INCREMENT = 'select increment_row($1, $2, $3, $4) as total';
const SWEEP = `with gone as (
  delete from rows where key in (
    select key from rows where expires_at <= $1 order by expires_at limit $2 for update skip locked
  ) returning 1
) select count(*) as count from gone`;
const PING = `insert into pings values (1, $1) on conflict (id) do update set at = excluded.at`;

function columnsOf(ops: readonly PreparedOp[]): unknown[] {
  return [
    ops.map(({ type }) => type),
    ops.map(({ bytes }) => bytes),
    ops.map(({ ifVersion, ifAbsent }) => {
      if (ifAbsent) return 'absent';
      return ifVersion === undefined ? '' : `=${ifVersion}`;
    }),
    ops.map(({ expiresAt }) => expiresAt),
    ops.map(({ envelope }) => envelope),
  ];
}
