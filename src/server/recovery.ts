import type { Clock, Timer } from '../core/clock.ts';
import type { Log } from '../core/log.ts';
import type { Store } from '../store/store.ts';
import { recoverOpen } from '../usage/recover-open.ts';

const EVERY_MS = 10_000;

/** Cleans up after dead workers, now and every ten seconds. */
export function startRecovery({ store, clock, log }: { store: Store; clock: Clock; log: Log }): {
  stop(): void;
} {
  let stopped = false;
  let timer: Timer | undefined;
  const run = async (): Promise<void> => {
    try {
      const { released, interrupted } = await recoverOpen({ store, clock });
      if (interrupted > 0) log.info('recovered calls of a dead worker', { released, interrupted });
    } catch (error) {
      if (!stopped)
        log.warn('recovery failed', {
          reason: error instanceof Error ? error.message : String(error),
        });
    }
    if (!stopped) timer = clock.setTimeout(() => void run(), EVERY_MS);
  };
  void run();
  return {
    stop() {
      stopped = true;
      timer?.cancel();
    },
  };
}
