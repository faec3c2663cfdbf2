/** A handle of {@link Clock.setTimeout}; `cancel` is idempotent. */
export interface Timer {
  cancel(): void;
}

/**
 * Source of time. Everything that waits or compares instants takes one, so that tests drive years
 * in milliseconds.
 */
export interface Clock {
  /** Milliseconds since the Unix epoch (wall clock, may step). */
  now(): number;
  /** Milliseconds from an arbitrary origin that never steps back; for durations. */
  monotonic(): number;
  /** Calls `fn` once after `ms`; the timer does not keep the process alive. */
  setTimeout(fn: () => void, ms: number): Timer;
}

/**
 * Time of the machine.
 *
 * @example
 * ```ts
 * import { systemClock } from 'agent-gateway';
 * import type { Clock } from 'agent-gateway';
 *
 * const startOfYear: Clock = { ...systemClock, now: () => Date.UTC(2030, 0, 1) };
 * ```
 */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  setTimeout(fn, ms) {
    const handle = setTimeout(fn, ms);
    handle.unref();
    return { cancel: () => clearTimeout(handle) };
  },
};
