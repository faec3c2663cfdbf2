import type { Clock } from '../../core/time/clock.ts';

export interface Deadline {
  readonly signal: AbortSignal;
  /** True once the time was up, as opposed to the caller's own abort. */
  expired(): boolean;
  /** Stops the time; the caller's own signal still counts, so that a stream can be left. */
  clear(): void;
}

/** A signal that fires after `ms` milliseconds of the clock, or with the caller's signal. */
export function withDeadline(clock: Clock, ms: number, signal: AbortSignal | undefined): Deadline {
  const own = new AbortController();
  let expired = false;
  const timer = clock.setTimeout(() => {
    expired = true;
    own.abort();
  }, ms);
  return {
    signal: signal === undefined ? own.signal : AbortSignal.any([own.signal, signal]),
    expired: () => expired,
    clear: () => timer.cancel(),
  };
}
