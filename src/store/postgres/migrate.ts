import type pg from 'pg';
import { StoreError } from '../store.ts';
import { MIGRATIONS } from './schema.ts';

/** Names the lock that those who migrate take; any number will do. */
const LOCK = 7_261_834;

/**
 * Brings the schema to the present form, in one transaction and one process at a time. Rejects with
 * `newer_format`, and changes nothing, when it is of a later form.
 */
export async function migrate(pool: pg.Pool, schema: string): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query('begin');
    await client.query('select pg_advisory_xact_lock($1)', [LOCK]);
    await client.query(`create schema if not exists ${schema}`);
    await client.query('create table if not exists format (version int not null)');
    const { rows } = await client.query<{ version: number }>('select version from format');
    const version = rows[0]?.version ?? 0;
    if (version > MIGRATIONS.length) {
      const message = `the store has format ${version}; this version reads up to ${MIGRATIONS.length}`;
      throw new StoreError('newer_format', message);
    }
    for (const step of MIGRATIONS.slice(version)) await client.query(step);
    await client.query('delete from format');
    await client.query('insert into format values ($1)', [MIGRATIONS.length]);
    await client.query('commit');
  } catch (error) {
    await client.query('rollback').catch(() => undefined);
    throw error;
  } finally {
    client.release();
  }
}
