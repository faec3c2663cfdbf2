import { open, type Database, type RootDatabase, type RootDatabaseOptionsWithPath } from 'lmdb';
import { systemClock } from '../../../core/time/clock.ts';
import { damaged } from '../../damage.ts';
import { newerFormat } from '../../store-meta.ts';
import { StoreError } from '../../store.ts';
import { assertUncut } from './closed-mark.ts';
import { assertRoomForFiles, createDiskRoom, freeBytesOf } from './disk-room.ts';
import { FORMAT, formatOf, migrate, type MetaTable } from './migrations.ts';
import { FILE_MODE, prepareDirectory, unusable } from './prepare-directory.ts';
import { fromRowBytes, type StoredRow } from './rows.ts';
import { fromLmdbError } from './to-store-error.ts';
import { transactionOf } from './transaction-of.ts';

/** Versions are handed to a process in blocks, so that no two processes ever give out the same. */
const VERSION_BLOCK = 2 ** 20;

export interface LmdbEnvironment {
  readonly directory: string;
  readonly root: RootDatabase<Buffer, Buffer>;
  readonly data: Database<Buffer, Buffer>;
  readonly expiry: Database<Buffer, Buffer>;
  readonly meta: MetaTable;
  /** The row of a key, expired or not, as the last commit this process knows of left it. */
  peek(key: Buffer): StoredRow | undefined;
  /** The first of a fresh block of {@link VERSION_BLOCK} version numbers; waits for the disk. */
  leaseVersions(): { first: number; count: number };
  /** The number of the last transaction that any process committed. */
  lastTransaction: () => number;
  /** Drops the snapshot that reads share for about a millisecond. */
  refresh: () => void;
  /** Bytes that this user may still write to the disk. */
  freeBytes: () => number;
}

/**
 * Opens or creates the data directory (mode 0700). Throws `StoreError`: `unavailable` when the
 * directory cannot be used, `newer_format`, `corrupt`, `full`, `read_only`.
 */
export function openEnvironment(directory: string): LmdbEnvironment {
  const isShort = prepareDirectory(directory);
  assertRoomForFiles(directory, () => freeBytesOf(directory));
  try {
    return openTables(directory, isShort);
  } catch (cause) {
    if (cause instanceof StoreError) throw cause;
    const { code, message } = fromLmdbError(cause, directory);
    if (code === 'unavailable' || code === 'read_only') throw unusable(directory, cause);
    if (code === 'corrupt') throw damaged('lmdb cannot read it', `the store in ${directory}`);
    throw new StoreError(code, message, { cause });
  }
}

function openTables(directory: string, isShort: boolean): LmdbEnvironment {
  // lmdb leaves the threshold and the mode out of its types.
  const options: RootDatabaseOptionsWithPath & {
    txnStartThreshold: number;
    permissionsMode: number;
  } = {
    path: directory,
    noSubdir: false,
    encoding: 'binary',
    keyEncoding: 'binary',
    // A commit is acknowledged when it is on the disk, not before.
    overlappingSync: false,
    // The writer groups commits itself, and then knows which promise can reject.
    eventTurnBatching: false,
    // A write that follows so many others starts the writer thread at once.
    txnStartThreshold: 1,
    permissionsMode: FILE_MODE,
  };
  const root = open<Buffer, Buffer>(options);
  try {
    if (isShort) assertUncut({ root, meta: openMeta(root, false), directory });
    return tablesOf(root, directory);
  } catch (error) {
    void root.close();
    throw error;
  }
}

function tablesOf(root: RootDatabase<Buffer, Buffer>, directory: string): LmdbEnvironment {
  const freeBytes = (): number => freeBytesOf(directory);
  const format = storedFormat(root, directory);
  if (format < FORMAT) createDiskRoom({ clock: systemClock, directory, freeBytes }).take(0);
  const binary = { encoding: 'binary', keyEncoding: 'binary' } as const;
  const data = root.openDB<Buffer, Buffer>('data', { ...binary, useVersions: true });
  const expiry = root.openDB<Buffer, Buffer>('expiry', binary);
  const meta = openMeta(root);
  if (format < FORMAT) migrate(meta);
  return {
    directory,
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
        const first = Number(meta.get('nextVersion') ?? 1);
        void meta.put('nextVersion', first + VERSION_BLOCK);
        return { first, count: VERSION_BLOCK };
      }),
    lastTransaction: () => transactionOf(root),
    refresh: () => root.resetReadTxn(),
    freeBytes,
  };
}

function openMeta(root: RootDatabase<Buffer, Buffer>, create = true): MetaTable {
  const options = { encoding: 'json', keyEncoding: 'ordered-binary', create } as const;
  return root.openDB('meta', options);
}

/** Looks before anything is written, so that a store of a newer release stays as it is. */
function storedFormat(root: RootDatabase<Buffer, Buffer>, directory: string): number {
  const format = formatOf(openMeta(root, false));
  if (format > FORMAT) throw newerFormat(format, FORMAT, `the store in ${directory}`);
  return format;
}
