import type { Clock, Timer } from '../../core/time/clock.ts';
import { recoverOpen } from './recover-open.ts';
import type { RecoverOptions } from './recover-open.ts';
import type { Closed } from './close-calls.ts';

const EVERY_MS = 10_000;

export interface RecoveryOptions extends RecoverOptions {
  clock: Clock;
  /**
   * Receives the result of every pass that recovered something, and of those that failed. Default: no receiver.
   */
  report?: (result: { recovered: Closed } | { error: unknown }) => void;
}

/**
 * Cleans up after dead workers at once and then every 10 seconds, so that their reservations are free again at
 * most 30 seconds after they died. Returns the stop.
 */
export function startRecovery(options: RecoveryOptions): () => void {
  const { clock, report = () => undefined } = options;
  let timer: Timer | undefined;
  let stopped = false;

  async function pass(): Promise<void> {
    try {
      const recovered = await recoverOpen(options);
      if (recovered.interrupted > 0) report({ recovered });
    } catch (error) {
      report({ error });
    }
    if (!stopped) timer = clock.setTimeout(() => void pass(), EVERY_MS);
  }

  void pass();
  return () => {
    stopped = true;
    timer?.cancel();
  };
}
