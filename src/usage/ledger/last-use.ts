import type { Key, Store } from '../../store/store.ts';
import { USAGE } from './ledger-keys.ts';
import { readRows } from './read-rows.ts';
import { listRequests } from '../requests/request-log.ts';

const DAY_MS = 86_400_000;

export interface LastUse {
  /** UTC day of the last request that ended; null for none. */
  readonly day: string | null;
  /** Beginning of the last request of that day, RFC 3339; null when its record is gone or too far back. */
  readonly at: string | null;
}

/** The last request of an organization, or of one of its keys. Rejects with `StoreError`. */
export async function lastUse(
  { store }: { store: Store },
  { organization, key }: { organization: string; key?: string },
): Promise<LastUse> {
  const day = await lastDay(store, [...USAGE, organization], key);
  if (day === null) return { day, at: null };
  const from = Date.parse(`${day}T00:00:00Z`);
  const { data } = await listRequests(
    { store },
    { organization, key, from, to: from + DAY_MS, limit: 1 },
  );
  return { day, at: data[0]?.created_at ?? null };
}

async function lastDay(
  store: Store,
  prefix: Key,
  wanted: string | undefined,
): Promise<string | null> {
  // The sums of an organization lie in the order of their days.
  for await (const row of readRows(store, prefix, { reverse: true })) {
    const [, , day, key] = row.key.map(String);
    if (day !== undefined && (wanted === undefined || key === wanted)) return day;
  }
  return null;
}
