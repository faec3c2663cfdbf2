import type { Op, Store, Version } from '../../store/store.ts';
import { fenceKey } from './ledger-keys.ts';
import type { Plan } from './ledger-plan.ts';

/** The number of a worker's last commit; `dead` once another worker took over what it left. */
export interface FenceRow {
  readonly seq: number;
  readonly dead?: true;
}

/** Attempts whose outcome is unknown; more cannot pile up, since a healed store decides them. */
const MAX_UNCERTAIN = 16;

/**
 * Numbers the commits of one worker. A store that fails leaves open whether the commit was made: the
 * number in the store tells. And since each commit replaces the number it knows, one that arrives
 * late, or after the worker was declared dead, is refused.
 */
export interface Fence {
  /** The operation that every commit carries. */
  next(): Op;
  succeeded(version: Version): void;
  /** The commit of the last `next` ended in an unknown state. */
  uncertain(plan: Plan): void;
  /** Reads what the store has: the uncertain plan that was committed after all, and whether others took over. */
  reconcile(): Promise<{
    landed: Plan | undefined;
    version: Version | undefined;
    takenOver: boolean;
  }>;
}

export function createFence(store: Store, worker: string): Fence {
  const key = fenceKey(worker);
  let version: Version | undefined;
  let seq = 0;
  let attempts: { seq: number; plan: Plan }[] = [];

  return {
    next() {
      const value: FenceRow = { seq: ++seq };
      return version === undefined
        ? { type: 'put', key, value, ifAbsent: true }
        : { type: 'put', key, value, ifVersion: version };
    },
    succeeded(stamp) {
      version = stamp;
      attempts = [];
    },
    uncertain(plan) {
      attempts.push({ seq, plan });
      if (attempts.length > MAX_UNCERTAIN) attempts.shift();
    },
    async reconcile() {
      const entry = await store.get<FenceRow>(key);
      const landed = attempts.find((attempt) => attempt.seq === entry?.value.seq)?.plan;
      const takenOver = entry ? entry.value.dead === true : version !== undefined;
      version = entry?.version;
      seq = Math.max(seq, entry?.value.seq ?? 0);
      if (landed) attempts = [];
      return { landed, version, takenOver };
    },
  };
}
