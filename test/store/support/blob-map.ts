import type { Driver } from 'unstorage';

/** A driver over a map that tests look into and break. */
export interface BlobMap extends Driver {
  readonly blobs: Map<string, string>;
  /** Runs before a write lands; throwing makes the write fail. */
  beforeWrite: ((key: string) => void) | undefined;
}

export function createBlobMap(blobs = new Map<string, string>()): BlobMap {
  const driver: BlobMap = {
    name: 'blob-map',
    blobs,
    beforeWrite: undefined,
    hasItem: (key) => blobs.has(key),
    getItem: (key) => blobs.get(key) ?? null,
    setItem(key, value) {
      driver.beforeWrite?.(key);
      if (blobs.has(key)) throw new Error(`${key} was written twice`);
      blobs.set(key, value);
    },
    removeItem: (key) => void blobs.delete(key),
    getKeys: () => [...blobs.keys()],
  };
  return driver;
}
