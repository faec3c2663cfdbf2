import { open, type Database, type RootDatabase } from 'lmdb';
import { systemClock } from '../../../core/time/clock.ts';
import { damaged } from '../../damage.ts';
import { findPeers } from './doorbell.ts';
import {
  STEP_BYTES,
  STEP_ROWS,
  type RawRow,
  type RawStore,
  type RawTarget,
} from '../../raw/raw-store.ts';
import { newerFormat } from '../../store-meta.ts';
import { StoreError } from '../../store.ts';
import { assertUncut } from './closed-mark.ts';
import { createDiskRoom } from './disk-room.ts';
import { openEnvironment, type LmdbEnvironment } from './environment.ts';
import { FORMAT, formatOf, toStoreMeta, type MetaTable } from './migrations.ts';
import { assertReadable } from './prepare-directory.ts';
import { fromRowBytes, toExpiryKey, toRowBytes } from './rows.ts';
import { toStoreError } from './to-store-error.ts';
import { transactionOf } from './transaction-of.ts';
import { findWaiting } from './waiting-files.ts';

type Tables = Pick<LmdbEnvironment, 'root' | 'data' | 'meta'>;

/** A store that can also copy itself while others write. */
export interface RawLmdb extends RawStore {
  /** Everything that was committed before the call, as a store in an existing empty folder. */
  copyTo(directory: string): Promise<void>;
}

/** Opens an existing store only for reading. Rejects with `unavailable`, `corrupt`, `newer_format`. */
export async function openRawLmdb(directory: string): Promise<RawLmdb> {
  const isShort = assertReadable(directory);
  return guarded(async () => {
    const tables = openTables(directory, isShort);
    const format = formatOf(tables.meta);
    if (format <= FORMAT) return createRaw(tables, directory);
    await tables.root.close();
    throw newerFormat(format, FORMAT, `the store in ${directory}`);
  });
}

/** Opens or makes a store that is to be filled. */
export async function openRawLmdbTarget(directory: string): Promise<RawTarget> {
  const environment = openEnvironment(directory);
  const { root, data, expiry, meta } = environment;
  const room = createDiskRoom({ clock: systemClock, directory, freeBytes: environment.freeBytes });
  const transact = (size: number, write: () => void): Promise<void> =>
    guarded(async () => {
      room.take(size);
      root.transactionSync(write);
    });
  return {
    ...createRaw(environment, directory),
    begin: (incoming) =>
      transact(0, () => {
        void meta.put('incoming', incoming);
        data.clearSync();
        expiry.clearSync();
      }),
    write: (rows) =>
      transact(sizeOf(rows), () => {
        for (const { key, envelope, version, expiresAt } of rows) {
          void data.put(key, toRowBytes(envelope, expiresAt), version);
          if (expiresAt !== Infinity) void expiry.put(toExpiryKey(expiresAt, key), PRESENT);
        }
      }),
    flush: (lastVersion) => transact(0, () => void meta.put('nextVersion', lastVersion + 1)),
    complete: () => transact(0, () => void meta.remove('incoming')),
  };
}

const PRESENT = Buffer.of(1);

function openTables(directory: string, isShort: boolean): Tables {
  const root = open<Buffer, Buffer>({
    path: directory,
    noSubdir: false,
    readOnly: true,
    encoding: 'binary',
    keyEncoding: 'binary',
    overlappingSync: false,
  });
  const binary = { encoding: 'binary', keyEncoding: 'binary' } as const;
  const data: Database<Buffer, Buffer> | undefined = root.openDB<Buffer, Buffer>('data', {
    ...binary,
    useVersions: true,
  });
  const meta: MetaTable | undefined = root.openDB('meta', {
    encoding: 'json',
    keyEncoding: 'ordered-binary',
  });
  try {
    if (meta && isShort) assertUncut({ root, meta, directory });
    if (data && meta) return { root, data, meta };
  } catch (error) {
    void root.close();
    throw error;
  }
  void root.close();
  throw damaged('it is not the database of a gateway', `the store in ${directory}`);
}

function createRaw({ root, data, meta }: Tables, directory: string): RawLmdb {
  const before = transactionOf(root);
  return {
    driver: 'lmdb',
    format: formatOf(meta),
    meta: toStoreMeta(meta),
    lastVersion: async () => Number(meta.get('nextVersion') ?? 1) - 1,
    read: (after) => guarded(async () => readStep(data, after)),
    waiting: () => findWaiting(directory),
    users: async () => usersOf(root, await findPeers(directory)),
    faults: (rows) => guarded(async () => faultsOf(data, rows, before === transactionOf(root))),
    copyTo: (target) => root.backup(target, false).catch(asCopyError),
    close: () => root.close(),
  };
}

/** A damaged page may end a walk early; while others write, the counts differ by themselves. */
function faultsOf(data: Database<Buffer, Buffer>, rows: number, isStill: boolean): string[] {
  const count = Number(Reflect.get(data.getStats(), 'entryCount'));
  if (!isStill || count === rows) return [];
  return [`the store counts ${count} rows, but ${rows} can be read`];
}

function readStep(data: Database<Buffer, Buffer>, after: Buffer | undefined): RawRow[] {
  const rows: RawRow[] = [];
  let size = 0;
  const start = after ?? Buffer.of(0);
  for (const { key, value, version = 0 } of data.getRange({
    start,
    exclusiveStart: true,
    versions: true,
  })) {
    const { envelope, expiresAt } = fromRowBytes(value, version);
    rows.push({ key: Buffer.from(key), envelope: Buffer.from(envelope), version, expiresAt });
    size += envelope.length;
    if (rows.length === STEP_ROWS || size >= STEP_BYTES) break;
  }
  return rows;
}

/** lmdb has cleared its table of readers of those that died when it opened the store. */
function usersOf(root: RootDatabase<Buffer, Buffer>, peers: readonly number[]): string[] {
  const readers = Array.from(root.readerList().matchAll(/^ *(\d+) /gm), ([, pid]) => Number(pid));
  const others = readers.filter((pid) => pid !== process.pid);
  return [...new Set([...peers, ...others])].map((pid) => `process ${pid}`);
}

/** The engine reports faults of its copies only in the system's words. */
function asCopyError(cause: Error): never {
  const code = /no space|quota|too large/i.test(cause.message) ? 'full' : 'unavailable';
  throw new StoreError(code, `the store could not be copied: ${cause.message}`, { cause });
}

function sizeOf(rows: readonly RawRow[]): number {
  return rows.reduce((sum, { key, envelope }) => sum + key.length + envelope.length, 0);
}

async function guarded<R>(action: () => Promise<R>): Promise<R> {
  try {
    return await action();
  } catch (thrown) {
    throw await toStoreError(thrown);
  }
}
