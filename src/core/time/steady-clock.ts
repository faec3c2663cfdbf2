import type { Clock } from './clock.ts';
import { isFromAhead } from './deadline.ts';

/** A difference between wall clock and elapsed time up to here is drift, beyond it a step. */
const STEP_MS = 1_000;
/** Longer than any lease takes to be renewed. */
const HOLD_MS = 120_000;

/** Wall time for judging the deadlines of others. */
export interface SteadyClock {
  /**
   * The wall clock's time; after each step ahead, for two minutes, the time that has really passed, so that a
   * live process can renew its leases before they count as over.
   */
  now(): number;
  /** True when a deadline is over: by {@link now}, by a later time for one made since a step. */
  hasPassed(deadline: number): boolean;
  /** The wall clock's time, to make a deadline with: so every step before it is known. */
  readonly wall: () => number;
  /** Number of times the wall clock was seen to be set back. */
  setBacks(): number;
}

/** Step ahead that does not count yet. */
interface Step {
  /** Wall time less elapsed time, as it was before. */
  readonly before: number;
  /** Elapsed time at which it counts. */
  readonly until: number;
}

/** Notices steps of the wall clock by comparing it with the time that has passed. */
export function createSteadyClock(clock: Pick<Clock, 'now' | 'monotonic'>): SteadyClock {
  /** Wall time less elapsed time, as it was last seen. */
  let seen = clock.now() - clock.monotonic();
  /** Each has a wait of its own: deadlines made between two of them end in their time as well. */
  let held: Step[] = [];
  let setBacks = 0;

  const look = (): number => {
    const elapsed = clock.monotonic();
    const offset = clock.now() - elapsed;
    if (offset < seen - STEP_MS) setBacks++;
    if (offset > seen + STEP_MS) held.push({ before: seen, until: elapsed + HOLD_MS });
    seen = offset;
    // A clock that was set back has undone its step.
    if (held.length > 0)
      held = held.filter(({ before, until }) => elapsed < until && offset > before + STEP_MS);
    return elapsed + (held[0]?.before ?? offset);
  };

  return {
    now: look,
    hasPassed(deadline) {
      const now = look();
      if (!isFromAhead(deadline, now)) return deadline <= now;
      const elapsed = clock.monotonic();
      const maker = held.find(({ before }) => !isFromAhead(deadline, elapsed + before));
      return deadline <= (maker ? elapsed + maker.before : clock.now());
    },
    wall() {
      look();
      return clock.now();
    },
    setBacks() {
      look();
      return setBacks;
    },
  };
}
