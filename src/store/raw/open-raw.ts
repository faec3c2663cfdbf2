import type { Clock } from '../../core/time/clock.ts';
import type { StoreConfig } from '../store-config.ts';
import { StoreError } from '../store.ts';
import type { RawStore, RawTarget } from './raw-store.ts';

/**
 * Opens a store that is there, for reading; its format stays as it is. `isHeld`: keeps others from
 * the store as far as its driver can. Rejects with `StoreError`.
 */
export async function openRaw(
  config: StoreConfig,
  { clock, isHeld }: { clock: Clock; isHeld: boolean },
): Promise<RawStore> {
  const { driver, options = {} } = config;
  if (driver === 'lmdb') {
    const { openRawLmdb } = await import('../backends/lmdb/raw-lmdb.ts');
    return openRawLmdb(pathOf(config));
  }
  if (driver === 'redis')
    return (await import('../backends/redis/raw-redis.ts')).openRawRedis(options);
  if (driver === 'postgres') {
    return (await import('../backends/postgres/raw-postgres.ts')).openRawPostgres(options);
  }
  const { openHeldJournal, openRawJournal } = await import('../backends/journal/raw-journal.ts');
  const blobs = await journalDriver(config);
  return isHeld ? openHeldJournal(blobs, clock) : openRawJournal(blobs);
}

/** Opens or makes a store that another one is to be copied into. Rejects with `StoreError`. */
export async function openRawTarget(config: StoreConfig, clock: Clock): Promise<RawTarget> {
  const { driver, options = {} } = config;
  if (driver === 'lmdb') {
    const { openRawLmdbTarget } = await import('../backends/lmdb/raw-lmdb.ts');
    return openRawLmdbTarget(pathOf(config));
  }
  if (driver === 'redis') {
    return (await import('../backends/redis/raw-redis.ts')).openRawRedisTarget(options);
  }
  if (driver === 'postgres') {
    return (await import('../backends/postgres/raw-postgres.ts')).openRawPostgresTarget(options);
  }
  const { openRawJournalTarget } = await import('../backends/journal/raw-journal.ts');
  return openRawJournalTarget(await journalDriver(config), clock);
}

function pathOf({ path }: StoreConfig): string {
  if (path) return path;
  throw new StoreError('unavailable', 'the lmdb store needs a path');
}

async function journalDriver(config: StoreConfig) {
  if (config.driver === 'memory') {
    throw new StoreError('unavailable', 'the memory store ends with its process');
  }
  const { loadDriver } = await import('../load-driver.ts');
  return loadDriver(config);
}
