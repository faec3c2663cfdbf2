import { systemClock } from '../../../core/time/clock.ts';
import { StoreError } from '../../store.ts';
import type { DiskRoom } from './disk-room.ts';
import type { LmdbEnvironment } from './environment.ts';
import { toStoreError } from './to-store-error.ts';
import type { VersionSource } from './version-source.ts';

const MAX_GROUP = 2_000;
const MAX_WAITING = 50_000;
const MAX_WAITING_BYTES = 256 * 1024 * 1024;
const STALL_MS = 30_000;

/** Something that is written whole or not at all, together with others of its turn. */
export interface WriteUnit {
  /** Bytes of values, for the bound on what waits. */
  readonly size: number;
  /** Issues the writes and returns the outcome of each condition they depend on. */
  issue(version: number): readonly Promise<boolean>[];
  /**
   * Called when the group is durable. Returns the keys that changed, as encoded strings, or `again`
   * to take part in the next group.
   */
  done(outcomes: readonly boolean[], version: number): readonly string[] | 'again';
  fail(error: StoreError): void;
}

export interface GroupWriter {
  /** Throws `unavailable` when too much waits already or the disk does not answer. */
  add(unit: WriteUnit): void;
  /** Resolves when nothing is under way or waiting. */
  idle(): Promise<void>;
}

export interface GroupWriterOptions {
  environment: LmdbEnvironment;
  versions: VersionSource;
  room: DiskRoom;
  /** Runs after each group that wrote something. */
  onWritten: (transaction: number, changed: readonly string[]) => void;
}

interface Issued {
  unit: WriteUnit;
  version: number;
  outcomes: readonly Promise<boolean>[];
}

const UNCONDITIONAL: readonly boolean[] = [];
/** A key that the root table, where names of tables are, never has. */
const NOWHERE = Buffer.of(0);

/**
 * One lmdb transaction at a time carries everything that was asked for since the one before it.
 * Conditions and writes run on lmdb's writer thread; this thread only lists them.
 */
export function createGroupWriter(options: GroupWriterOptions): GroupWriter {
  const { environment, versions, room, onWritten } = options;
  const queue = createQueue();
  let working: Promise<void> | undefined;
  let stalled = false;
  let transaction = 0;
  environment.root.on('aftercommit', ({ txnId }: { txnId?: number }) => {
    transaction = txnId ?? 0;
  });

  async function work(): Promise<void> {
    // Every commit of this tick joins the group.
    await new Promise((resolve) => setImmediate(resolve));
    for (let units = queue.take(); units.length > 0; units = queue.take()) await writeGroup(units);
    working = undefined;
  }

  async function writeGroup(units: WriteUnit[]): Promise<void> {
    // Real time, whatever the store's clock says: the disk is waited for.
    const timer = systemClock.setTimeout(() => stall(units), STALL_MS);
    try {
      room.take(units.reduce((sum, unit) => sum + unit.size, 0));
      versions.reserve(units.length);
      const { issued, durable } = issueAll(units, environment, versions);
      settleAll(issued, await outcomesOf(issued, durable));
    } catch (thrown) {
      const error = await toStoreError(thrown, environment.directory);
      for (const unit of units) unit.fail(error);
    } finally {
      timer.cancel();
      stalled = false;
    }
  }

  function settleAll(issued: Issued[], outcomes: (readonly boolean[])[]): void {
    const changed: string[] = [];
    const again: WriteUnit[] = [];
    let wrote = false;
    for (const [i, { unit, version }] of issued.entries()) {
      const own = outcomes[i] ?? UNCONDITIONAL;
      wrote ||= !own.includes(false);
      const result = unit.done(own, version);
      if (result === 'again') again.push(unit);
      else changed.push(...result);
    }
    if (wrote) onWritten(transaction, changed);
    queue.putBack(again);
  }

  /** The writer thread cannot be interrupted, but no caller has to wait for it. */
  function stall(units: WriteUnit[]): void {
    stalled = true;
    for (const unit of units) unit.fail(notAnswering());
    for (let more = queue.take(); more.length > 0; more = queue.take()) {
      for (const unit of more) unit.fail(notAnswering());
    }
  }

  return {
    add(unit) {
      if (stalled) throw notAnswering();
      queue.add(unit);
      working ??= work();
    },
    idle: async () => working,
  };
}

function createQueue() {
  let waiting: WriteUnit[] = [];
  let bytes = 0;
  return {
    add(unit: WriteUnit): void {
      if (waiting.length >= MAX_WAITING || bytes > MAX_WAITING_BYTES) {
        throw new StoreError('unavailable', 'too many commits wait for the disk');
      }
      waiting.push(unit);
      bytes += unit.size;
    },
    putBack(units: WriteUnit[]): void {
      if (units.length === 0) return;
      waiting = [...units, ...waiting];
      for (const unit of units) bytes += unit.size;
    },
    take(): WriteUnit[] {
      const group = waiting.splice(0, MAX_GROUP);
      for (const unit of group) bytes -= unit.size;
      return group;
    },
  };
}

function issueAll(
  units: WriteUnit[],
  { root }: LmdbEnvironment,
  versions: VersionSource,
): { issued: Issued[]; durable: Promise<boolean> } {
  const issued: Issued[] = [];
  const durable = root.batch(() => {
    for (const unit of units) {
      const version = versions.next();
      issued.push({ unit, version, outcomes: unit.issue(version) });
    }
  });
  // Adds one more write, without which lmdb starts its writer only after a whole tick. This one touches no
  // page, and its promise is the group's.
  void root.remove(NOWHERE);
  return { issued, durable };
}

async function outcomesOf(
  issued: readonly Issued[],
  durable: Promise<boolean>,
): Promise<(readonly boolean[])[]> {
  // All at once: when the commit fails, each of these rejects and none may go unnoticed.
  const outcomes = Promise.all(issued.map(({ outcomes }) => Promise.all(outcomes)));
  const [, all] = await Promise.all([durable, outcomes]);
  return all;
}

function notAnswering(): StoreError {
  return new StoreError('unavailable', `the disk did not answer within ${STALL_MS / 1_000} s`);
}
