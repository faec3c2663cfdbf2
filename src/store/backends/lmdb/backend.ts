import { defineBackend } from '../../backend.ts';
import type { StoreConfig } from '../../store-config.ts';
import { StoreError } from '../../store.ts';

/** The embedded store. */
export const lmdb = defineBackend({
  drivers: ['lmdb'],
  scope: 'host',
  packages: ['lmdb'],
  place: { kind: 'folder', drivers: ['lmdb'], file: 'data.mdb' },
  mayEndReader: true,
  async open(config, { clock }) {
    const path = pathOf(config);
    const { openLmdbStore } = await import('./open-lmdb-store.ts');
    return openLmdbStore(path, clock);
  },
  raw: {
    async open(config, { isToServe }) {
      const path = pathOf(config);
      const { openRawLmdb } = await import('./raw-lmdb.ts');
      const { assertWritable } = await import('./prepare-directory.ts');
      if (isToServe) assertWritable(path);
      return openRawLmdb(path);
    },
    async openTarget(config) {
      const { openRawLmdbTarget } = await import('./raw-lmdb.ts');
      return openRawLmdbTarget(pathOf(config));
    },
  },
});

function pathOf({ path }: StoreConfig): string {
  if (path) return path;
  throw new StoreError('unavailable', 'the lmdb store needs a path');
}
