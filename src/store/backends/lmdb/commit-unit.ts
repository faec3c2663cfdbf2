import type { SteadyClock } from '../../../core/time/steady-clock.ts';
import type { PreparedOp } from '../../prepare-commit.ts';
import type { CommitResult } from '../../store.ts';
import type { LmdbEnvironment } from './environment.ts';
import type { WriteUnit } from './group-writer.ts';
import { toExpiryKey, toRowBytes } from './rows.ts';

export interface UnitContext {
  environment: LmdbEnvironment;
  /** Decides which rows have expired. */
  steady: SteadyClock;
}

export interface Settle<R> {
  resolve: (result: R) => void;
  reject: (error: unknown) => void;
}

const PRESENT = Buffer.of(1);
const CONFLICT = Promise.resolve(false);

/** A commit as lmdb's writer thread runs it: conditions nested into each other around the writes. */
export function createCommitUnit(
  context: UnitContext,
  ops: readonly PreparedOp[],
  settle: Settle<CommitResult>,
): WriteUnit {
  const { environment, steady } = context;
  const guards = ops.filter((op) => op.ifAbsent || op.ifVersion !== undefined);
  /** Keys that must be absent but hold an expired row: the version of the row to write over. */
  const expired = new Map<PreparedOp, number>();

  function expectedVersion(op: PreparedOp): number | 'absent' | 'never' {
    if (op.ifVersion === undefined) return expired.get(op) ?? 'absent';
    const version = Number(op.ifVersion);
    if (String(version) !== op.ifVersion || !Number.isSafeInteger(version)) return 'never';
    const row = environment.peek(op.bytes);
    return row?.version === version && row.expiresAt <= steady.now() ? 'never' : version;
  }

  /** True when an expired row was in the way. */
  function mayTryAgain(op: PreparedOp): boolean {
    if (!op.ifAbsent) return false;
    const row = environment.peek(op.bytes);
    const wasExpired = expired.delete(op);
    if (!row) return wasExpired;
    if (row.expiresAt > steady.now()) return false;
    expired.set(op, row.version);
    return true;
  }

  return {
    size: ops.reduce((sum, op) => sum + op.envelope.length, 0),
    issue(version) {
      const outcomes: Promise<boolean>[] = [];
      const enter = (depth: number): void => {
        const guard = guards[depth];
        if (!guard) return writeAll(environment, ops, version);
        const expected = expectedVersion(guard);
        const inner = (): void => enter(depth + 1);
        if (expected === 'never') outcomes[depth] = CONFLICT;
        else if (expected === 'absent') {
          outcomes[depth] = environment.data.ifNoExists(guard.bytes, inner);
        } else outcomes[depth] = environment.data.ifVersion(guard.bytes, expected, inner);
      };
      enter(0);
      return outcomes;
    },
    done(outcomes, version) {
      const failed = guards[outcomes.indexOf(false)];
      if (!failed) {
        settle.resolve({ ok: true, version: String(version) });
        return ops.flatMap((op) => (op.type === 'check' ? [] : [op.id]));
      }
      if (mayTryAgain(failed)) return 'again';
      settle.resolve({ ok: false, conflict: failed.key });
      return [];
    },
    fail: settle.reject,
  };
}

/** The promises of these writes only repeat what the group's own promise says. */
function writeAll(environment: LmdbEnvironment, ops: readonly PreparedOp[], version: number): void {
  const { data } = environment;
  for (const op of ops) {
    if (op.type === 'delete') void data.remove(op.bytes);
    else if (op.type === 'put') putRow(environment, op, version);
  }
}

/** Enters what expires into the expiry table, too; call it inside a group. */
export function putRow(
  { data, expiry }: LmdbEnvironment,
  row: { bytes: Buffer; envelope: Buffer; expiresAt: number },
  version: number,
): void {
  void data.put(row.bytes, toRowBytes(row.envelope, row.expiresAt), version);
  if (row.expiresAt !== Infinity) void expiry.put(toExpiryKey(row.expiresAt, row.bytes), PRESENT);
}
