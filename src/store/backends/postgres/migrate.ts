import type pg from 'pg';
import { newerFormat, type StoreMeta } from '../../store-meta.ts';
import { MIGRATIONS } from './schema.ts';

/** Names the lock that those who migrate take; any number will do. */
const LOCK = 7_261_834;

/**
 * Brings the schema to the present form, in one transaction and one process at a time. Rejects with
 * `newer_format`, and changes nothing, when it is of a later form. `isTrial`: takes everything back.
 */
export async function migrate(
  pool: pg.Pool,
  schema: string,
  { isTrial = false } = {},
): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query('begin');
    // Rewriting a large table takes its time, and so does waiting for who does.
    await client.query('set local statement_timeout = 0');
    await client.query('select pg_advisory_xact_lock($1)', [LOCK]);
    await client.query(`create schema if not exists ${schema}`);
    await client.query('create table if not exists format (version int not null)');
    const { rows } = await client.query<{ version: number }>('select version from format');
    const version = rows[0]?.version ?? 0;
    if (version > MIGRATIONS.length) throw newerFormat(version, MIGRATIONS.length);
    for (const step of MIGRATIONS.slice(version)) await client.query(step);
    await client.query('delete from format');
    await client.query('insert into format values ($1)', [MIGRATIONS.length]);
    await client.query(isTrial ? 'rollback' : 'commit');
  } catch (error) {
    await client.query('rollback').catch(() => undefined);
    throw error;
  } finally {
    client.release();
  }
}

export async function readMeta(client: Pick<pg.Pool, 'query'>): Promise<StoreMeta> {
  const { rows } = await client.query<{ name: string; value: string }>(
    'select name, value from meta',
  );
  const valueOf = (name: string) => rows.find((row) => row.name === name)?.value;
  const incoming = valueOf('incoming');
  return {
    identity: valueOf('identity'),
    incoming: incoming === undefined ? undefined : JSON.parse(incoming),
  };
}
