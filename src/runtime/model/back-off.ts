import type { Clock } from '../../core/time/clock.ts';
import { interruptible } from '../turn/interruptible.ts';
import type { TurnContext } from '../turn/turn-context.ts';

const FIRST_MS = 1000;
const MAX_MS = 30_000;

/** Waits before a failed model request is made again; false when it is not to be made. */
export function backOff({ journal, deps, signal }: TurnContext): Promise<boolean> {
  const ms = Math.min(MAX_MS, FIRST_MS * 2 ** Math.max(0, journal.state.failures - 1));
  // Spread, so that what failed together does not come back together.
  const spread = ms * (0.75 + deps.random() / 2);
  return interruptible(journal, signal, (stopped) => wait(spread, deps.clock, stopped));
}

function wait(ms: number, clock: Clock, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve(false);
    const onAbort = (): void => {
      timer.cancel();
      resolve(false);
    };
    const timer = clock.setTimeout(() => {
      signal.removeEventListener('abort', onAbort);
      resolve(true);
    }, ms);
    signal.addEventListener('abort', onAbort, { once: true });
  });
}
