import type { Clock } from '../../../src/core/time/clock.ts';

export interface FakeClock extends Clock {
  /** Moves time on and fires, in order, what falls due. */
  advance(ms: number): void;
  /** Timers that wait. */
  readonly pending: number;
}

export function createFakeClock(start = 1_800_000_000_000): FakeClock {
  let now = start;
  const timers = new Set<{ at: number; fn: () => void }>();
  return {
    now: () => now,
    monotonic: () => now - start,
    setTimeout(fn, ms) {
      const timer = { at: now + ms, fn };
      timers.add(timer);
      return { cancel: () => timers.delete(timer) };
    },
    advance(ms) {
      const until = now + ms;
      for (;;) {
        const due = [...timers].filter(({ at }) => at <= until).sort((a, b) => a.at - b.at)[0];
        if (!due) break;
        timers.delete(due);
        now = due.at;
        due.fn();
      }
      now = until;
    },
    get pending() {
      return timers.size;
    },
  };
}
