import type { Op, Store, Version } from '../../store/store.ts';
import { fenceKey } from './ledger-keys.ts';
import type { Plan } from './ledger-plan.ts';

/** The number of a worker's last commit; `dead` once another worker took over its calls. */
export interface FenceRow {
  readonly seq: number;
  readonly dead?: true;
  /** Number of the last line of its journal that the store holds. Absent: none. */
  readonly folded?: number;
}

/** Time that the fence of a dead worker stays, in ms. */
export const FENCE_TTL_MS = 24 * 3_600_000;

/** Attempts whose outcome is unknown; more cannot pile up, since a healed store decides them. */
const MAX_UNCERTAIN = 16;

/**
 * Numbers the commits of one worker. A store that fails leaves open whether the commit was made: the number in
 * the store decides. And since each commit replaces the number it knows, one that arrives late, or after the
 * worker was declared dead, is refused.
 */
export interface Fence {
  /** Number of the last line of the journal that the store is known to hold. */
  readonly folded: number;
  /** The operation that every commit carries; `folded`: the last line that the commit stores. */
  next(folded: number): Op;
  succeeded(version: Version): void;
  /** The commit of the last `next` ended in an unknown state. */
  uncertain(plan: Plan): void;
  /** Reads what the store has. */
  reconcile(): Promise<FenceFindings>;
}

export interface FenceFindings {
  /** Uncertain plan that was committed after all. */
  readonly landed: Plan | undefined;
  readonly version: Version | undefined;
  /** Others took over. */
  readonly takenOver: boolean;
  /** The store has lost commits that it confirmed, as after a failover to a late replica. */
  readonly isRolledBack: boolean;
}

export function createFence(store: Store, worker: string): Fence {
  const key = fenceKey(worker);
  let version: Version | undefined;
  let seq = 0;
  /** Number of the last commit that is known to be in the store. */
  let confirmed = 0;
  let stored = 0;
  let asked = 0;
  let attempts: { seq: number; plan: Plan }[] = [];

  return {
    get folded() {
      return stored;
    },
    next(folded) {
      asked = Math.max(stored, folded);
      const value: FenceRow = { seq: ++seq, ...(asked > 0 && { folded: asked }) };
      return version === undefined
        ? { type: 'put', key, value, ifAbsent: true }
        : { type: 'put', key, value, ifVersion: version };
    },
    succeeded(stamp) {
      version = stamp;
      confirmed = seq;
      stored = asked;
      attempts = [];
    },
    uncertain(plan) {
      attempts.push({ seq, plan });
      if (attempts.length > MAX_UNCERTAIN) attempts.shift();
    },
    async reconcile() {
      const entry = await store.get<FenceRow>(key);
      const found = entry?.value.seq ?? 0;
      const landed = attempts.find((attempt) => attempt.seq === found)?.plan;
      const takenOver = entry ? entry.value.dead === true : version !== undefined;
      const isRolledBack = found < confirmed;
      version = entry?.version;
      confirmed = found;
      seq = Math.max(seq, found);
      stored = Math.max(stored, entry?.value.folded ?? 0);
      if (landed) attempts = [];
      return { landed, version, takenOver, isRolledBack };
    },
  };
}

/** The worker was not dead: it continues by itself. */
export class WorkerWoke extends Error {
  override readonly name = 'WorkerWoke';
}

/**
 * Numbers commits on behalf of a dead worker; `reconcile` comes first, and throws {@link WorkerWoke} when it
 * lives. Another process that does the same moves the number, so that each line is stored once.
 */
export function createDeadFence(store: Store, worker: string): Fence {
  const key = fenceKey(worker);
  let version: Version | undefined;
  let seq = 0;
  let stored = 0;
  let asked = 0;
  return {
    get folded() {
      return stored;
    },
    next(folded) {
      asked = Math.max(stored, folded);
      const value: FenceRow = { seq, dead: true, folded: asked };
      const condition =
        version === undefined ? { ifAbsent: true as const } : { ifVersion: version };
      return { type: 'put', key, value, ttlMs: FENCE_TTL_MS, ...condition };
    },
    succeeded(stamp) {
      version = stamp;
      stored = asked;
    },
    uncertain: () => undefined,
    async reconcile() {
      const entry = await store.get<FenceRow>(key);
      if (entry?.value.dead !== true) throw new WorkerWoke(`${worker} lives`);
      version = entry.version;
      seq = entry.value.seq;
      stored = Math.max(stored, entry.value.folded ?? 0);
      return { landed: undefined, version, takenOver: false, isRolledBack: false };
    },
  };
}
