import type { Clock } from '../core/time/clock.ts';
import type { SteadyClock } from '../core/time/steady-clock.ts';
import { addToCounter } from './counter.ts';
import { encodeKey } from './key-codec.ts';
import { expiryOf, prepareCommit, toId, type PreparedOp } from './prepare-commit.ts';
import { StoreError, type CommitResult, type Entry, type Key, type ListOptions } from './store.ts';
import type { Store } from './store.ts';
import { startSweeper } from './sweeper.ts';
import { createTableWriter, type Stage, type TableWriterOptions } from './table-writer.ts';
import { toEntry, type Changes, type Row, type Table } from './table.ts';
import { fromEnvelope, toEnvelope } from './value-codec.ts';
import { createWatchers, type Watchers } from './watchers.ts';
import { WriteOrder } from './write-order.ts';

export interface TableStoreOptions extends Omit<TableWriterOptions, 'onChanged'> {
  driver: string;
  clock: Clock;
  /** Decides which rows have expired. */
  steady: SteadyClock;
  ping: () => Promise<void>;
  /** Runs after the last group is done. */
  close: () => Promise<void>;
}

/** A store at process scope over rows in memory; `persist` decides whether it outlives the process. */
export function createTableStore(options: TableStoreOptions): Store {
  const { clock, steady, table, driver } = options;
  const { wall } = steady;
  const watchers = createWatchers();
  let closing: Promise<void> | undefined;
  const writer = createTableWriter({
    ...options,
    onChanged: (changes) => tell(watchers, changes),
  });

  const stopSweeper = startSweeper({
    clock,
    steady,
    sweep: table.sweep,
    correct: () => writer.write((stage) => correctExpiries(stage, table, clock.now())),
  });

  function assertOpen(): void {
    if (closing) throw new StoreError('closed', 'the store is closed');
  }
  const order = new WriteOrder(assertOpen);

  async function shutDown(): Promise<void> {
    stopSweeper();
    watchers.close();
    await order.idle();
    await writer.idle();
    await options.close();
  }

  return {
    scope: 'process',
    driver,
    async get<T>(key: Key): Promise<Entry<T> | undefined> {
      assertOpen();
      return entryOf<T>(table, toId(encodeKey(key)));
    },
    async list<T>(options: ListOptions): Promise<Entry<T>[]> {
      assertOpen();
      return table.list<T>(options);
    },
    commit: (ops) =>
      order.run({
        prepare: () => prepareCommit(ops, wall()),
        write: (prepared) => writer.write((stage) => runCommit(prepared, stage)),
      }),
    increment: (key, by, { ttlMs } = {}) =>
      order.run({
        prepare: () => ({ id: toId(encodeKey(key)), by, expiresAt: expiryOf(ttlMs, wall()) }),
        write: (increment) => writer.write((stage) => runIncrement(stage, increment)),
      }),
    watch(prefix, listener) {
      assertOpen();
      return watchers.add(prefix, listener);
    },
    async ping() {
      assertOpen();
      return options.ping();
    },
    close: () => (closing ??= shutDown()),
  };
}

function entryOf<T>(table: Table, id: string): Entry<T> | undefined {
  const row = table.get(id);
  return row && toEntry<T>(id, row);
}

function tell(watchers: Watchers, changes: Changes): void {
  if (watchers.size > 0) for (const id of changes.keys()) watchers.changed(id);
}

function runCommit(ops: readonly PreparedOp[], stage: Stage): CommitResult {
  const failed = ops.find((op) => !holds(op, stage.look(op.id)));
  if (failed) return { ok: false, conflict: failed.key };
  const version = stage.nextVersion();
  for (const { type, id, envelope, expiresAt } of ops) {
    if (type === 'delete') stage.set(id, undefined);
    else if (type === 'put') stage.set(id, { envelope, version, expiresAt });
  }
  return { ok: true, version: String(version) };
}

function holds(op: PreparedOp, row: Row | undefined): boolean {
  if (op.ifAbsent) return row === undefined;
  return op.ifVersion === undefined || (row !== undefined && String(row.version) === op.ifVersion);
}

/** The versions stay: what a row holds is the same. */
function correctExpiries(stage: Stage, table: Table, now: number): void {
  for (const [id, row] of table.ahead(now))
    if (stage.look(id)?.version === row.version) stage.set(id, row);
}

function runIncrement(
  stage: Stage,
  { id, by, expiresAt }: { id: string; by: number; expiresAt: number },
): number {
  const row = stage.look(id);
  const sum = addToCounter(row && fromEnvelope(row.envelope), by);
  stage.set(id, {
    envelope: toEnvelope(sum),
    version: stage.nextVersion(),
    expiresAt: row ? row.expiresAt : expiresAt,
  });
  return sum;
}
