import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { openLmdbStore } from '../../src/store/backends/lmdb.ts';
import { storeConformance, type StoreSite } from '../conformance/store.ts';

storeConformance('lmdb', async (clock) => {
  const directory = await mkdtemp(join(tmpdir(), 'store-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const site: StoreSite = {
    store: await openLmdbStore(directory, clock),
    async reopen() {
      await site.store.close();
      return (site.store = await openLmdbStore(directory, clock));
    },
  };
  return site;
});
