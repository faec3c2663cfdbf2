import type { Clock } from '../core/time/clock.ts';
import { isJsonObject } from '../core/json/value.ts';
import type { Value } from '../store/store.ts';
import type { Job, JobHandler } from './jobs.ts';

export interface SweepStep {
  /** Instant before which items are removed, in ms since epoch. */
  readonly before: number;
  /** Cursor that the step before this one returned; undefined at the beginning of a round. */
  readonly cursor: Value;
  /** About how many rows a step may look at; none of its commits removes more. */
  readonly limit: number;
}

export interface Swept {
  readonly removed: number;
  /** Cursor of the next step; undefined: the round is over. */
  readonly cursor?: Value;
}

/**
 * One bounded step that removes old rows. It may be broken off at any point and done again, so none of its
 * commits leaves anything half removed in view. Rejects with `StoreError`.
 */
export type Sweep = (step: SweepStep) => Promise<Swept>;

export interface SweepJobOptions {
  readonly clock: Clock;
  readonly olderThanMs: number;
  readonly sweep: Sweep;
  /** Receives the number that every step removed, unless it is 0. Default: no receiver. */
  readonly count?: (removed: number) => void;
  /** Receives the total at the end of a round in which something was removed. */
  readonly tell: (removed: number) => void;
}

const ROUND_MS = 3_600_000;
/** A start has better things to do, and so has one that comes up again and again. */
const FIRST_MS = 60_000;
/** The store serves requests between two steps. */
const PAUSE_MS = 25;
const LIMIT = 500;

interface Progress {
  readonly cursor: Value;
  /** Rows removed in this round so far. */
  readonly removed: number;
}

/** The one job of its kind; it never ends. */
export const sweepJob = (kind: string): Job => ({ kind, id: kind, payload: null });

/** Delay of the first round, for the commit that adds the job. */
export const SWEEP_SOON = { inMs: FIRST_MS };

/**
 * Removes old rows once an hour, in steps with a pause between them. The lease of the job sees to it that one
 * process at a time does it; the job keeps its position, so another process continues there.
 */
export function createSweepJob(options: SweepJobOptions): JobHandler {
  const { clock, olderThanMs, sweep, count = () => undefined, tell } = options;
  return async ({ job: { payload } }) => {
    const { cursor, removed: before } = progressOf(payload);
    const swept = await sweep({ before: clock.now() - olderThanMs, cursor, limit: LIMIT });
    const removed = before + swept.removed;
    if (swept.removed > 0) count(swept.removed);
    if (swept.cursor !== undefined)
      return { againInMs: PAUSE_MS, payload: { cursor: swept.cursor, removed } };
    if (removed > 0) tell(removed);
    return { againInMs: ROUND_MS, payload: null };
  };
}

function progressOf(payload: Value): Progress {
  const { cursor, removed } = isJsonObject(payload) ? payload : {};
  return { cursor, removed: typeof removed === 'number' ? removed : 0 };
}
