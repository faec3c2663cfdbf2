import { systemClock } from '../../../src/core/time/clock.ts';
import type { Clock } from '../../../src/core/time/clock.ts';

/** Time that passes so many times as fast as that of the machine, from now on. */
export function createHastyClock(times = 5): Clock {
  const wall = systemClock.now();
  const start = systemClock.monotonic();
  const passed = (): number => (systemClock.monotonic() - start) * times;
  return {
    now: () => Math.floor(wall + passed()),
    monotonic: () => start + passed(),
    setTimeout: (fn, ms) => systemClock.setTimeout(fn, ms / times),
  };
}
