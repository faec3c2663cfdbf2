import type { Clock } from '../core/clock.ts';
import { StoreError, type Store } from './store.ts';

export interface StoreConfig {
  /** `memory`, `lmdb`, or the name of an unstorage driver (`fs`, `s3`, `mongodb`, …). */
  driver: string;
  /** Where data lies: the directory of `lmdb`, and the `base` of a driver that has none in `options`. */
  path?: string;
  /** What the unstorage driver takes, in its own words. */
  options?: Record<string, unknown>;
}

/** Opens the configured store, loading only what its driver needs. Rejects with `StoreError`. */
export async function openStore(config: StoreConfig, deps: { clock: Clock }): Promise<Store> {
  switch (config.driver) {
    case 'memory': {
      const { openMemoryStore } = await import('./backends/memory.ts');
      return openMemoryStore(deps.clock);
    }
    case 'lmdb': {
      if (!config.path) throw new StoreError('unavailable', 'the lmdb store needs a path');
      const { openLmdbStore } = await import('./backends/lmdb.ts');
      return openLmdbStore(config.path, deps.clock);
    }
    default: {
      const { loadDriver } = await import('./load-driver.ts');
      const { openJournalStore } = await import('./backends/journal.ts');
      return openJournalStore(await loadDriver(config), deps.clock);
    }
  }
}
