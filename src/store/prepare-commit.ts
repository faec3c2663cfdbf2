import { toDeadline } from '../core/time/deadline.ts';
import { inTurns } from '../core/turns/in-turns.ts';
import type { Steps } from '../core/turns/in-turns.ts';
import { encodeKey } from './key-codec.ts';
import { StoreError, type Key, type Op, type Version } from './store.ts';
import { toEnvelope } from './value-codec.ts';

const MAX_OPS = 1_000;
/** Bounds the memory of one commit, in bytes of values. */
const MAX_COMMIT_BYTES = 64 * 1024 * 1024;

/** Bytes of values that are encoded at once. */
const STEP_BYTES = 256 * 1024;

/** An operation whose key and value are checked and encoded. */
export interface PreparedOp {
  readonly type: Op['type'];
  readonly key: Key;
  readonly bytes: Buffer;
  /** The same bytes as a string, one character each: orders and compares like them. */
  readonly id: string;
  /** Empty unless `type` is `put`. */
  readonly envelope: Buffer;
  /** A deadline of `toDeadline`; infinity for what stays. */
  readonly expiresAt: number;
  readonly ifVersion: Version | undefined;
  readonly ifAbsent: boolean;
}

const NOTHING = Buffer.alloc(0);

/**
 * Checks and encodes a commit: a small one at once, a large one in turns during which its values must
 * not change. Throws `StoreError`: `invalid_commit` (too many operations, two on one key,
 * contradicting or missing conditions, a bad ttl), `invalid_key`, `invalid_value`, `too_large`.
 */
export function prepareCommit(
  ops: readonly Op[],
  now: number,
): PreparedOp[] | Promise<PreparedOp[]> {
  return inTurns(prepareSteps(ops, now));
}

function* prepareSteps(ops: readonly Op[], now: number): Steps<PreparedOp[]> {
  if (ops.length > MAX_OPS) throw invalid(`more than ${MAX_OPS} operations`);
  const prepared: PreparedOp[] = [];
  let size = 0;
  let turn = STEP_BYTES;
  for (const op of ops) {
    if (size >= turn) {
      turn = size + STEP_BYTES;
      yield;
    }
    const result = prepareOp(op, now);
    size += result.envelope.length;
    prepared.push(result);
  }
  if (size > MAX_COMMIT_BYTES) {
    throw new StoreError('too_large', `a commit may carry at most ${MAX_COMMIT_BYTES} bytes`);
  }
  if (ops.length > 1 && new Set(prepared.map((op) => op.id)).size < ops.length) {
    throw invalid('two operations on one key');
  }
  return prepared;
}

/** Throws `invalid_commit` unless `ttlMs` is a positive number of milliseconds. */
export function expiryOf(ttlMs: number | undefined, now: number): number {
  if (ttlMs === undefined) return Infinity;
  if (!(ttlMs > 0) || !Number.isFinite(now + ttlMs)) throw invalid('a ttl that is not positive');
  return toDeadline(now, ttlMs);
}

/** The encoded key as a string of one character per byte. */
export function toId(bytes: Buffer): string {
  return bytes.toString('latin1');
}

function prepareOp(op: Op, now: number): PreparedOp {
  const ifAbsent = op.type !== 'delete' && op.ifAbsent === true;
  if (ifAbsent && op.ifVersion !== undefined) throw invalid('both ifVersion and ifAbsent');
  if (op.type === 'check' && !ifAbsent && op.ifVersion === undefined) {
    throw invalid('a check without a condition');
  }
  const bytes = encodeKey(op.key);
  return {
    type: op.type,
    key: op.key,
    bytes,
    id: toId(bytes),
    envelope: op.type === 'put' ? toEnvelope(op.value) : NOTHING,
    expiresAt: op.type === 'put' ? expiryOf(op.ttlMs, now) : Infinity,
    ifVersion: op.ifVersion,
    ifAbsent,
  };
}

function invalid(what: string): StoreError {
  return new StoreError('invalid_commit', `a commit cannot have ${what}`);
}
