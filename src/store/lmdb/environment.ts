import { statfsSync } from 'node:fs';
import { open, type Database, type RootDatabase, type RootDatabaseOptionsWithPath } from 'lmdb';
import { StoreError } from '../store.ts';
import { prepareDirectory, unusable } from './prepare-directory.ts';
import { fromRowBytes, type StoredRow } from './rows.ts';
import { fromLmdbError } from './to-store-error.ts';

/** What this code writes; a store of a higher number is left alone. */
const FORMAT = 1;
/** Versions are handed to a process in blocks, so that no two processes ever give out the same. */
const VERSION_BLOCK = 2 ** 20;

export interface LmdbEnvironment {
  readonly root: RootDatabase<Buffer, Buffer>;
  readonly data: Database<Buffer, Buffer>;
  readonly expiry: Database<Buffer, Buffer>;
  readonly meta: Database<number, string>;
  /** The row of a key, expired or not, as the last commit this process knows of left it. */
  peek(key: Buffer): StoredRow | undefined;
  /** The first of a fresh block of {@link VERSION_BLOCK} version numbers; waits for the disk. */
  leaseVersions(): { first: number; count: number };
  /** The number of the last transaction that any process committed. */
  lastTransaction: () => number;
  /** Bytes that this user may still write to the disk. */
  freeBytes: () => number;
}

/**
 * Opens or creates the data directory (mode 0700). Throws `StoreError`: `unavailable` when the
 * directory cannot be used, `newer_format`, `corrupt`, `full`, `read_only`.
 */
export function openEnvironment(directory: string): LmdbEnvironment {
  prepareDirectory(directory);
  try {
    return openTables(directory);
  } catch (cause) {
    if (cause instanceof StoreError) throw cause;
    const { code, message } = fromLmdbError(cause);
    if (code === 'unavailable' || code === 'read_only') throw unusable(directory, cause);
    throw new StoreError(code, `${message} (${directory})`, { cause });
  }
}

function openTables(directory: string): LmdbEnvironment {
  // lmdb documents the threshold but leaves it out of its types.
  const options: RootDatabaseOptionsWithPath & { txnStartThreshold: number } = {
    path: directory,
    noSubdir: false,
    encoding: 'binary',
    keyEncoding: 'binary',
    // A commit is told when it is on the disk, not before.
    overlappingSync: false,
    // The writer groups commits itself, and then knows which promise can reject.
    eventTurnBatching: false,
    // A write that follows so many others starts the writer thread at once.
    txnStartThreshold: 1,
  };
  const root = open<Buffer, Buffer>(options);
  assertFormat(root, directory);
  const binary = { encoding: 'binary', keyEncoding: 'binary' } as const;
  const data = root.openDB<Buffer, Buffer>('data', { ...binary, useVersions: true });
  const expiry = root.openDB<Buffer, Buffer>('expiry', binary);
  const meta = openMeta(root);
  meta.transactionSync(() => {
    if (meta.get('format') === undefined) void meta.put('format', FORMAT);
  });
  return {
    root,
    data,
    expiry,
    meta,
    peek(key) {
      const entry = data.getEntry(key);
      return entry && fromRowBytes(entry.value, entry.version ?? 0);
    },
    leaseVersions: () =>
      meta.transactionSync(() => {
        const first = meta.get('nextVersion') ?? 1;
        void meta.put('nextVersion', first + VERSION_BLOCK);
        return { first, count: VERSION_BLOCK };
      }),
    lastTransaction: () => transactionOf(root),
    freeBytes() {
      const { bavail, bsize } = statfsSync(directory);
      return bavail * bsize;
    },
  };
}

function openMeta(root: RootDatabase<Buffer, Buffer>, create = true): Database<number, string> {
  const options = { encoding: 'json', keyEncoding: 'ordered-binary', create } as const;
  return root.openDB<number, string>('meta', options);
}

/** Looks before anything is written, so that a store of a newer release stays as it is. */
function assertFormat(root: RootDatabase<Buffer, Buffer>, directory: string): void {
  const existing: Database<number, string> | undefined = openMeta(root, false);
  const format = existing?.get('format') ?? FORMAT;
  if (format <= FORMAT) return;
  void root.close();
  throw new StoreError(
    'newer_format',
    `the store in ${directory} has format ${format}, this release knows up to ${FORMAT}; use the release that wrote it`,
  );
}

/** lmdb keeps this cheap call off its public type; `getStats()` would walk the free list as well. */
function transactionOf(root: object): number {
  return Reflect.get(root, 'env').info().lastTxnId;
}
