import { getActiveResourcesInfo } from 'node:process';
import { expect, it } from 'vitest';
import { systemClock } from '../../../src/core/time/clock.ts';

/** Timers that keep the process alive. */
const keeping = (): number => getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;

it('lets the process end while a timer of the system clock waits', async () => {
  const before = keeping();
  const timer = systemClock.setTimeout(() => undefined, 60_000);
  expect(keeping()).toBe(before);
  timer.cancel();
  const other = setTimeout(() => undefined, 60_000);
  expect(keeping()).toBe(before + 1);
  clearTimeout(other);
});
