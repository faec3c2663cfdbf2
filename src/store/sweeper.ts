import type { Clock, Timer } from '../core/time/clock.ts';
import type { SteadyClock } from '../core/time/steady-clock.ts';

const STEP = 256;
const IDLE_MS = 1_000;
const BUSY_MS = 20;

export interface SweeperOptions {
  readonly clock: Pick<Clock, 'setTimeout'>;
  readonly steady: Pick<SteadyClock, 'setBacks'>;
  /** Removes up to `limit` expired rows; gives how many. */
  sweep(limit: number): number | Promise<number>;
  /** Gives rows whose expiry was written by a clock that was ahead their length from now on. */
  correct(): void | Promise<void>;
}

/**
 * Calls `sweep` about once a second, faster while a step comes back full: memory stays bounded and no
 * step holds up the requests. At the first step, and when the clock was set back, `correct` comes
 * before it. Returns the stop.
 */
export function startSweeper({ clock, steady, sweep, correct }: SweeperOptions): () => void {
  let timer: Timer | undefined;
  let stopped = false;
  let corrected = -1;

  async function work(): Promise<number> {
    const setBacks = steady.setBacks();
    if (setBacks !== corrected) {
      await correct();
      corrected = setBacks;
    }
    return sweep(STEP);
  }

  async function step(): Promise<void> {
    // Rows that could not be removed now are due again at the next step.
    const removed = await work().catch(() => 0);
    if (!stopped) schedule(removed === STEP ? BUSY_MS : IDLE_MS);
  }

  function schedule(ms: number): void {
    timer = clock.setTimeout(() => void step(), ms);
  }

  schedule(IDLE_MS);
  return () => {
    stopped = true;
    timer?.cancel();
  };
}
