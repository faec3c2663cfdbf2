import type pg from 'pg';
import {
  STEP_BYTES,
  STEP_ROWS,
  type RawRow,
  type RawStore,
  type RawTarget,
} from '../../raw/raw-store.ts';
import { newerFormat, type StoreMeta } from '../../store-meta.ts';
import { AbsentStore } from '../../damage.ts';
import { CHANNEL } from './changes.ts';
import { openPool, toPostgresPlace } from './connection.ts';
import { migrate, readMeta } from './migrate.ts';
import { MIGRATIONS } from './schema.ts';
import { toStoreError } from './to-store-error.ts';

interface Opened {
  readonly pool: pg.Pool;
  readonly schema: string;
  readonly format: number;
  readonly meta: StoreMeta;
}

interface StoredRow {
  readonly key: Buffer;
  readonly value: Buffer;
  readonly version: string;
  readonly expires_at: number | null;
}

/**
 * Opens an existing store for reading. Rejects with `unavailable`, `newer_format`. `isToServe`: where there is
 * none, tries whether this user may make it, and takes that back.
 */
export async function openRawPostgres(
  options: Record<string, unknown>,
  { isToServe = false } = {},
): Promise<RawStore> {
  return createRaw(
    await openPlace(options, async (pool, schema) => {
      if (await isThere(pool, schema)) return;
      if (isToServe) await migrate(pool, schema, { isTrial: true });
      throw new AbsentStore(`in the schema ${schema}`);
    }),
  );
}

/** Opens or makes a store that is to be filled. */
export async function openRawPostgresTarget(options: Record<string, unknown>): Promise<RawTarget> {
  const opened = await openPlace(options, migrate);
  const { pool } = opened;
  const run = (text: string, values: unknown[] = []): Promise<void> =>
    guarded(async () => {
      await pool.query(text, values);
    });
  return {
    ...createRaw(opened),
    async begin(incoming) {
      await run(MARK, [JSON.stringify(incoming)]);
      await run('truncate rows');
    },
    write: (rows) => run(WRITE, columnsOf(rows)),
    flush: (lastVersion) => run(`select setval('versions', $1)`, [Math.max(1, lastVersion)]),
    complete: () => run(`delete from meta where name = 'incoming'`),
  };
}

/** A row whose predecessors in the step have filled it is left to the next one. */
const READ = `select key, value, version, expires_at from (
  select *, sum(octet_length(value)) over (order by key) - octet_length(value) as before
  from (select * from rows where key > $1 order by key limit ${STEP_ROWS}) as step
) as sized where before < ${STEP_BYTES} order by key`;
const WRITE = `insert into rows (key, value, version, expires_at)
select * from unnest($1::bytea[], $2::bytea[], $3::bigint[], $4::double precision[])`;
const MARK = `insert into meta values ('incoming', $1)
on conflict (name) do update set value = excluded.value`;
const USERS = `select count(*) as count from pg_stat_activity
where datname = current_database() and pid <> pg_backend_pid() and query = $1`;

async function openPlace(
  options: Record<string, unknown>,
  prepare: (pool: pg.Pool, schema: string) => Promise<void>,
): Promise<Opened> {
  const place = toPostgresPlace(options);
  const { schema } = place;
  const pool = openPool(place);
  try {
    await prepare(pool, schema);
    const { rows } = await pool.query<{ version: number }>('select version from format');
    const format = rows[0]?.version ?? 0;
    if (format > MIGRATIONS.length) throw newerFormat(format, MIGRATIONS.length);
    return { pool, schema, format, meta: await metaOf(pool, format) };
  } catch (error) {
    await pool.end();
    throw toStoreError(error);
  }
}

async function isThere(pool: pg.Pool, schema: string): Promise<boolean> {
  const { rows } = await pool.query('select 1 where to_regclass($1) is not null', [
    `${schema}.format`,
  ]);
  return rows.length > 0;
}

/** The table came with format 2. */
async function metaOf(pool: pg.Pool, format: number): Promise<StoreMeta> {
  return format < 2 ? {} : readMeta(pool);
}

function createRaw({ pool, schema, format, meta }: Opened): RawStore {
  const ask = <R extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<R[]> =>
    guarded(async () => (await pool.query<R>(text, values)).rows);
  return {
    driver: 'postgres',
    format,
    meta,
    async lastVersion() {
      const [row] = await ask<{ last: string }>(
        'select case when is_called then last_value else 0 end as last from versions',
      );
      return Number(row?.last ?? 0);
    },
    read: async (after = Buffer.alloc(0)) => (await ask<StoredRow>(READ, [after])).map(toRow),
    async users() {
      const [row] = await ask<{ count: string }>(USERS, [`listen ${schema}_${CHANNEL}`]);
      const users = Number(row?.count ?? 0);
      return users > 0 ? [`${users} ${users === 1 ? 'process' : 'processes'} of a gateway`] : [];
    },
    faults: async () => [],
    close: () => pool.end(),
  };
}

function toRow({ key, value, version, expires_at: expiry }: StoredRow): RawRow {
  return { key, envelope: value, version: Number(version), expiresAt: expiry ?? Infinity };
}

function columnsOf(rows: readonly RawRow[]): unknown[] {
  return [
    rows.map(({ key }) => key),
    rows.map(({ envelope }) => envelope),
    rows.map(({ version }) => version),
    rows.map(({ expiresAt }) => (expiresAt === Infinity ? null : expiresAt)),
  ];
}

async function guarded<R>(action: () => Promise<R>): Promise<R> {
  try {
    return await action();
  } catch (error) {
    throw toStoreError(error);
  }
}
