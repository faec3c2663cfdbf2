import type { Clock } from '../core/time/clock.ts';
import { createSteadyClock, type SteadyClock } from '../core/time/steady-clock.ts';
import { decodeKey, encodeKey } from './key-codec.ts';
import { type ListPlan, toListPlan } from './list-options.ts';
import { expiryOf, prepareCommit, type PreparedOp, toId } from './prepare-commit.ts';
import { type Entry, type Key, type ListOptions, type Store, StoreError } from './store.ts';
import type { CommitResult } from './store.ts';
import { correctExpiries, type RemoteExpiries } from './remote-expiries.ts';
import { startSweeper } from './sweeper.ts';
import { fromEnvelope } from './value-codec.ts';
import type { Watchers } from './watchers.ts';
import { WriteOrder } from './write-order.ts';

export interface RemoteRow {
  readonly envelope: Buffer;
  readonly version: string;
}

export interface RemoteIncrement {
  readonly bytes: Buffer;
  readonly by: number;
  /** Deadline of a counter that appears; infinity for one that stays. */
  readonly expiresAt: number;
}

/**
 * Rows in a database that several hosts share. Every method is one atomic step there; `now` decides which rows
 * have expired. Rejections are `StoreError`s.
 */
export interface RemoteRows {
  get(bytes: Buffer, now: number): Promise<RemoteRow | undefined>;
  list(plan: ListPlan, now: number): Promise<(RemoteRow & { readonly key: Buffer })[]>;
  /** Gives the version, or the position of the first condition that does not hold. */
  commit(
    ops: readonly PreparedOp[],
    now: number,
  ): Promise<{ version: string } | { failed: number }>;
  /** Undefined when the key holds something else than a number, or the sum would not be finite. */
  increment(increment: RemoteIncrement, now: number): Promise<number | undefined>;
  readonly expiries: RemoteExpiries;
  /** Removes up to `limit` expired rows; gives how many. */
  sweep(now: number, limit: number): Promise<number>;
  /** Writes durably. */
  ping(now: number): Promise<void>;
  close(): Promise<void>;
}

export interface RemoteStoreOptions {
  readonly driver: string;
  readonly rows: RemoteRows;
  readonly clock: Clock;
  /** Receives the changes of this process here, those of others from the backend's notifications. */
  readonly watchers: Watchers;
  readonly warnings?: readonly string[];
}

/** A store at cluster scope over rows that a database keeps. */
export function createRemoteStore(options: RemoteStoreOptions): Store {
  const { driver, rows, clock, watchers, warnings = [] } = options;
  const steady = createSteadyClock(clock);
  const stopSweeper = startSweeping(rows, clock, steady);
  let closing: Promise<void> | undefined;

  function assertOpen(): void {
    if (closing) throw new StoreError('closed', 'the store is closed');
  }
  const order = new WriteOrder(assertOpen);
  const { commit, increment } = createWrites(options, steady);

  async function shutDown(): Promise<void> {
    stopSweeper();
    watchers.close();
    await order.idle();
    await rows.close();
  }

  return {
    scope: 'cluster',
    driver,
    warnings,
    async get<T>(key: Key): Promise<Entry<T> | undefined> {
      assertOpen();
      const row = await rows.get(encodeKey(key), steady.now());
      return row && toEntry<T>(key, row);
    },
    async list<T>(options: ListOptions): Promise<Entry<T>[]> {
      assertOpen();
      const found = await rows.list(toListPlan(options), steady.now());
      return found.map((row) => toEntry<T>(decodeKey(row.key), row));
    },
    commit: (ops) =>
      order.run({
        prepare: () => prepareCommit(ops, steady.wall()),
        write: commit,
      }),
    increment: (key, by, { ttlMs } = {}) =>
      order.run({
        prepare: () => ({
          bytes: encodeKey(key),
          by: finite(by),
          expiresAt: expiryOf(ttlMs, steady.wall()),
        }),
        write: increment,
      }),
    watch(prefix, listener) {
      assertOpen();
      return watchers.add(prefix, listener);
    },
    async ping() {
      assertOpen();
      await rows.ping(clock.now());
    },
    close: () => (closing ??= shutDown()),
  };
}

/** Writes the prepared commit, and notifies the watchers of this process. */
function createWrites({ rows, watchers }: RemoteStoreOptions, steady: SteadyClock) {
  async function commit(ops: readonly PreparedOp[]): Promise<CommitResult> {
    const outcome = await rows.commit(ops, steady.now());
    if ('failed' in outcome) return { ok: false, conflict: ops[outcome.failed]!.key };
    if (watchers.size > 0) {
      for (const { type, id } of ops) if (type !== 'check') watchers.changed(id);
    }
    return { ok: true, version: outcome.version };
  }

  async function increment(asked: RemoteIncrement): Promise<number> {
    const sum = await rows.increment(asked, steady.now());
    if (sum === undefined) throw notANumber();
    watchers.changed(toId(asked.bytes));
    return sum;
  }

  return { commit, increment };
}

function startSweeping(rows: RemoteRows, clock: Clock, steady: SteadyClock): () => void {
  return startSweeper({
    clock,
    steady,
    sweep: (limit) => rows.sweep(steady.now(), limit),
    correct: () => correctExpiries(rows.expiries, clock.now()),
  });
}

function finite(by: number): number {
  if (!Number.isFinite(by)) throw new StoreError('invalid_value', 'a counter must stay finite');
  return by;
}

function notANumber(): StoreError {
  return new StoreError('invalid_value', 'only a number that stays finite can be incremented');
}

function toEntry<T>(key: Key, { envelope, version }: RemoteRow): Entry<T> {
  return { key, value: fromEnvelope(envelope), version };
}
