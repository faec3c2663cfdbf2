import type { Clock } from '../core/time/clock.ts';
import type { StoreConfig } from './store-config.ts';
import { StoreError, type Store } from './store.ts';

/** Opens the configured store, loading only what its driver needs. Rejects with `StoreError`. */
export async function openStore(config: StoreConfig, deps: { clock: Clock }): Promise<Store> {
  switch (config.driver) {
    case 'memory': {
      const { openMemoryStore } = await import('./backends/memory/open-memory-store.ts');
      return openMemoryStore(deps.clock);
    }
    case 'lmdb': {
      if (!config.path) throw new StoreError('unavailable', 'the lmdb store needs a path');
      const { openLmdbStore } = await import('./backends/lmdb/open-lmdb-store.ts');
      return openLmdbStore(config.path, deps.clock);
    }
    case 'redis': {
      const { openRedisStore } = await import('./backends/redis/open-redis-store.ts');
      return openRedisStore(config.options ?? {}, deps.clock);
    }
    case 'postgres': {
      const { openPostgresStore } = await import('./backends/postgres/open-postgres-store.ts');
      return openPostgresStore(config.options ?? {}, deps.clock);
    }
    default: {
      const { loadDriver } = await import('./load-driver.ts');
      const { openJournalStore } = await import('./backends/journal/open-journal-store.ts');
      return openJournalStore(await loadDriver(config), deps.clock);
    }
  }
}
