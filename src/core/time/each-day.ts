import type { Clock, Timer } from './clock.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const RETRY_MS = 60_000;

/**
 * Runs the work at the beginning of each day by UTC until it is cancelled; work that rejects runs again
 * a minute later. The clock may be set, so it is looked at every hour.
 */
export function eachDay(clock: Clock, work: () => Promise<void>): Timer {
  const dayOf = (at: number): number => Math.floor(at / DAY_MS);
  let done = dayOf(clock.now());
  let isOver = false;
  let timer: Timer | undefined;

  const wait = (ms: number): void => {
    if (!isOver) timer = clock.setTimeout(() => void look(), ms);
  };
  const waitForMidnight = (): void => wait(Math.min(HOUR_MS, DAY_MS - (clock.now() % DAY_MS)));
  const look = async (): Promise<void> => {
    const today = dayOf(clock.now());
    try {
      if (today !== done) await work();
    } catch {
      return wait(RETRY_MS);
    }
    done = today;
    waitForMidnight();
  };

  waitForMidnight();
  return {
    cancel() {
      isOver = true;
      timer?.cancel();
    },
  };
}
