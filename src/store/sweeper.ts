import type { Clock, Timer } from '../core/clock.ts';

const STEP = 256;
const IDLE_MS = 1_000;
const BUSY_MS = 20;

/**
 * Calls `sweep` with how many expired rows it may remove, about once a second, faster while a step
 * comes back full: memory stays bounded and no step holds up the requests. Returns the stop.
 */
export function startSweeper(
  clock: Clock,
  sweep: (limit: number) => number | Promise<number>,
): () => void {
  let timer: Timer | undefined;
  let stopped = false;

  async function step(): Promise<void> {
    // What could not be removed now is due again at the next step.
    const removed = await Promise.resolve(STEP)
      .then(sweep)
      .catch(() => 0);
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
