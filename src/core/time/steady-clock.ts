import type { Clock } from './clock.ts';
import { isFromAhead } from './deadline.ts';

/** A difference between wall clock and elapsed time up to here is drift, beyond it a step. */
const STEP_MS = 1_000;
/** Longer than any lease takes to be renewed. */
const HOLD_MS = 120_000;

/** Wall time for judging what others hold. */
export interface SteadyClock {
  /**
   * The wall clock's time; after a step ahead, for two minutes, the time that has really passed, so
   * that whoever lives can renew what it holds before it counts as over.
   */
  now(): number;
  /** Whether a deadline is over: by {@link now}, by the wall clock for one made since the step. */
  hasPassed(deadline: number): boolean;
  /** Number of times the wall clock was seen to be set back. */
  setBacks(): number;
}

/** Notices steps of the wall clock by comparing it with the time that has passed. */
export function createSteadyClock(clock: Pick<Clock, 'now' | 'monotonic'>): SteadyClock {
  /** Wall time less elapsed time, as it was last seen and as it counts. */
  let seen = clock.now() - clock.monotonic();
  let counted = seen;
  let heldUntil: number | undefined;
  let setBacks = 0;

  const look = (): number => {
    const elapsed = clock.monotonic();
    const offset = clock.now() - elapsed;
    if (offset < seen - STEP_MS) setBacks++;
    seen = offset;
    if (offset > counted + STEP_MS) heldUntil ??= elapsed + HOLD_MS;
    else heldUntil = undefined;
    if (heldUntil === undefined || elapsed >= heldUntil) {
      heldUntil = undefined;
      counted = offset;
    }
    return elapsed + counted;
  };

  return {
    now: look,
    hasPassed(deadline) {
      const now = look();
      return deadline <= (isFromAhead(deadline, now) ? clock.now() : now);
    },
    setBacks() {
      look();
      return setBacks;
    },
  };
}
