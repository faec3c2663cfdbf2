import type { Clock, Timer } from '../../src/core/time/clock.ts';

export interface FakeClock extends Clock {
  /** Moves time on and runs the timers that fall due, in order. */
  advance(ms: number): void;
  /** Steps the wall clock alone, as an operator or NTP would. */
  step(ms: number): void;
  /** Timers that wait. */
  readonly pending: number;
}

interface Waiting {
  at: number;
  fn: () => void;
}

export function createFakeClock(startMs = Date.UTC(2026, 10, 21)): FakeClock {
  let mono = 0;
  let wall = startMs;
  const waiting = new Set<Waiting>();

  const nextDue = (until: number): Waiting | undefined => {
    let found: Waiting | undefined;
    for (const timer of waiting)
      if (timer.at <= until && (!found || timer.at < found.at)) found = timer;
    return found;
  };

  const moveTo = (at: number): void => {
    wall += at - mono;
    mono = at;
  };

  return {
    now: () => wall,
    monotonic: () => mono,
    setTimeout(fn, ms): Timer {
      const timer = { at: mono + Math.max(0, ms), fn };
      waiting.add(timer);
      return { cancel: () => void waiting.delete(timer) };
    },
    advance(ms) {
      const end = mono + ms;
      for (let due = nextDue(end); due; due = nextDue(end)) {
        waiting.delete(due);
        moveTo(Math.max(mono, due.at));
        due.fn();
      }
      moveTo(end);
    },
    step(ms) {
      wall += ms;
    },
    get pending() {
      return waiting.size;
    },
  };
}
