import type { Clock } from '../../src/core/time/clock.ts';

/** Time that passes only while somebody waits: every pause is over at once, and is written down. */
export function instantClock(): Clock & { pauses: number[] } {
  const pauses: number[] = [];
  let now = 1_800_000_000_000;
  return {
    pauses,
    now: () => now,
    monotonic: () => now,
    setTimeout(fn, ms) {
      // Deadlines of calls must not fire by themselves; pauses between attempts are far below them.
      if (ms >= 60_000) return { cancel: () => undefined };
      pauses.push(ms);
      const handle = setImmediate(() => {
        now += ms;
        fn();
      });
      return { cancel: () => clearImmediate(handle) };
    },
  };
}
