import type { Clock } from '../../../core/time/clock.ts';
import { createSteadyClock } from '../../../core/time/steady-clock.ts';
import { decodeKey, encodeKey } from '../../key-codec.ts';
import { toListPlan } from '../../list-options.ts';
import { openChangeFeed } from './change-feed.ts';
import { markClosed } from './closed-mark.ts';
import { createCommitUnit, type UnitContext } from './commit-unit.ts';
import { createDiskRoom } from './disk-room.ts';
import { openEnvironment, type LmdbEnvironment } from './environment.ts';
import { createGroupWriter, type GroupWriter } from './group-writer.ts';
import { createIncrementUnit, type IncrementUnit } from './increment-unit.ts';
import { toStoreMeta } from './migrations.ts';
import { fromRowBytes, type StoredRow } from './rows.ts';
import { createCorrectUnit, findAhead } from './correct.ts';
import { createSweepUnit, findExpired } from './sweep.ts';
import { toStoreError } from './to-store-error.ts';
import { createVersionSource } from './version-source.ts';
import { waitingFolder } from './waiting-files.ts';
import { expiryOf, prepareCommit, toId } from '../../prepare-commit.ts';
import { assertWhole } from '../../store-meta.ts';
import { StoreError, type Entry, type Key, type ListOptions, type Store } from '../../store.ts';
import { startSweeper } from '../../sweeper.ts';
import { fromEnvelope } from '../../value-codec.ts';
import { createWatchers } from '../../watchers.ts';
import { WriteOrder } from '../../write-order.ts';

/** Overrides for tests, which cannot fill a disk. */
export type LmdbOverrides = Partial<Pick<LmdbEnvironment, 'freeBytes'>>;

/**
 * The embedded store: a directory that several processes of one host may open at once. A commit is
 * on the disk when it resolves. Rejects with `StoreError` `unavailable`, `newer_format`, `corrupt`,
 * `full`, `read_only`, or `locked` when another store is half copied into it.
 */
export async function openLmdbStore(
  directory: string,
  clock: Clock,
  overrides: LmdbOverrides = {},
): Promise<Store> {
  const environment = { ...openWhole(directory), ...overrides };
  const { watchers, writer, context, stop } = startParts(environment, directory, clock);
  const increment = createIncrementer(context, writer);
  let closing: Promise<void> | undefined;

  function assertOpen(): void {
    if (closing) throw new StoreError('closed', 'the store is closed');
  }
  const order = new WriteOrder(assertOpen);

  return {
    scope: 'host',
    driver: 'lmdb',
    folder: waitingFolder(directory),
    async get<T>(key: Key): Promise<Entry<T> | undefined> {
      assertOpen();
      const bytes = encodeKey(key);
      const row = await reading(() => environment.peek(bytes));
      return row && row.expiresAt > context.steady.now() ? toEntry<T>(key, row) : undefined;
    },
    async list<T>(options: ListOptions): Promise<Entry<T>[]> {
      assertOpen();
      return reading(() => listRows<T>(context, options));
    },
    commit: (ops) =>
      order.run({
        prepare: () => prepareCommit(ops, context.steady.wall()),
        write: (prepared) =>
          new Promise((resolve, reject) => {
            writer.add(createCommitUnit(context, prepared, { resolve, reject }));
          }),
      }),
    increment: (key, by, options) =>
      order.run({
        prepare: () => ({
          bytes: encodeKey(key),
          by,
          expiresAt: expiryOf(options?.ttlMs, context.steady.wall()),
        }),
        write: increment,
      }),
    watch(prefix, listener) {
      assertOpen();
      return watchers.add(prefix, listener);
    },
    async ping() {
      assertOpen();
      await ping(environment, writer);
    },
    close: () => (closing ??= stop(order)),
  };
}

function openWhole(directory: string): LmdbEnvironment {
  const environment = openEnvironment(directory);
  try {
    assertWhole(toStoreMeta(environment.meta));
    return environment;
  } catch (error) {
    void environment.root.close();
    throw error;
  }
}

function startParts(environment: LmdbEnvironment, directory: string, clock: Clock) {
  const { lastTransaction, refresh, root } = environment;
  const steady = createSteadyClock(clock);
  const context = { environment, steady };
  const watchers = createWatchers();
  const versions = createVersionSource(environment);
  const feed = openChangeFeed({ directory, clock, watchers, lastTransaction, refresh });
  const room = createDiskRoom({ clock, directory, freeBytes: environment.freeBytes });
  const writer = createGroupWriter({ environment, versions, room, onWritten: feed.publish });
  const stopSweeper = startSweeper({
    clock,
    steady,
    sweep: (limit) => sweep(context, writer, limit),
    correct: () => correctAll(context, writer, clock),
  });
  const stop = async (order: WriteOrder): Promise<void> => {
    stopSweeper();
    watchers.close();
    await order.idle();
    await writer.idle();
    feed.close();
    markClosed({ root, meta: environment.meta, directory });
    await root.close();
  };
  return { watchers, writer, context, stop };
}

async function reading<R>(read: () => R): Promise<R> {
  try {
    return read();
  } catch (thrown) {
    throw await toStoreError(thrown);
  }
}

function toEntry<T>(key: Key, row: StoredRow): Entry<T> {
  return { key, value: fromEnvelope(row.envelope), version: String(row.version) };
}

function listRows<T>({ environment, steady }: UnitContext, options: ListOptions): Entry<T>[] {
  const { lower, upper, limit, maxBytes, reverse } = toListPlan(options);
  const now = steady.now();
  const entries: Entry<T>[] = [];
  let bytes = 0;
  const range = environment.data.getRange({
    start: reverse ? upper : lower,
    end: reverse ? lower : upper,
    exclusiveStart: true,
    reverse,
    versions: true,
  });
  for (const { key, value, version } of range) {
    const row = fromRowBytes(value, version ?? 0);
    if (row.expiresAt <= now) continue;
    entries.push(toEntry(decodeKey(Buffer.from(key.buffer, key.byteOffset, key.byteLength)), row));
    bytes += row.envelope.length;
    if (entries.length === limit || bytes >= maxBytes) break;
  }
  return entries;
}

interface Increment {
  readonly bytes: Buffer;
  readonly by: number;
  readonly expiresAt: number;
}

/** Increments of one counter that are asked for in one turn share one write. */
function createIncrementer(context: UnitContext, writer: GroupWriter) {
  const joinable = new Map<string, IncrementUnit>();
  return ({ bytes, by, expiresAt }: Increment): Promise<number> =>
    new Promise((resolve, reject) => {
      const id = toId(bytes);
      let unit = joinable.get(id);
      if (!unit) {
        unit = createIncrementUnit(context, {
          bytes,
          id,
          onClosed: () => void joinable.delete(id),
        });
        writer.add(unit);
        joinable.set(id, unit);
      }
      unit.add({ by, expiresAt, resolve, reject });
    });
}

async function correctAll(context: UnitContext, writer: GroupWriter, clock: Clock): Promise<void> {
  for await (const ahead of findAhead(context, clock)) {
    if (ahead.length === 0) continue;
    await new Promise<void>((resolve, reject) => {
      writer.add(createCorrectUnit(context, ahead, { resolve, reject }));
    });
  }
}

async function sweep(context: UnitContext, writer: GroupWriter, limit: number): Promise<number> {
  const due = findExpired(context, limit);
  if (due.length > 0) {
    await new Promise<void>((resolve, reject) => {
      writer.add(createSweepUnit(context, due, { resolve, reject }));
    });
  }
  return due.length;
}

function ping({ meta }: LmdbEnvironment, writer: GroupWriter): Promise<void> {
  return new Promise((resolve, reject) => {
    writer.add({
      size: 0,
      issue(version) {
        void meta.put('lastPing', version);
        return [];
      },
      done() {
        resolve();
        return [];
      },
      fail: reject,
    });
  });
}
