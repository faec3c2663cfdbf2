import type pg from 'pg';
import type { RemoteExpiries } from '../../remote-expiries.ts';

type Ask = <R extends pg.QueryResultRow>(
  name: string,
  text: string,
  values: unknown[],
) => Promise<R[]>;

export function createExpiries(ask: Ask): RemoteExpiries {
  return {
    async list({ from, skip, limit }) {
      const values = [from, skip, limit];
      const found = await ask<{ key: Buffer; expires_at: number }>('store_expiring', LIST, values);
      return found.map(({ key, expires_at }) => ({ bytes: key, expiresAt: expires_at }));
    },
    async change(changes) {
      await ask('store_correct', CHANGE, [
        changes.map(({ bytes }) => bytes),
        changes.map(({ before }) => before),
        changes.map(({ expiresAt }) => expiresAt),
      ]);
    },
  };
}

const LIST = `select key, expires_at from rows where expires_at >= $1
  order by expires_at, key offset $2 limit $3`;
/** Versions stay: what a row holds is the same. */
const CHANGE = `update rows r set expires_at = corrected
  from unnest($1::bytea[], $2::double precision[], $3::double precision[])
    as change (k, given, corrected)
  where r.key = k and r.expires_at = given`;
