import { sleep } from '../../client/http/sleep.ts';
import { StalePlanError } from '../../config/plan/stale-plan-error.ts';
import { CliError } from '../cli-error.ts';
import type { FlagInput } from '../command-input.ts';
import type { LOCK_TIMEOUT } from '../tables/config-words.ts';

/** Waits between two tries of what was not alone. */
const TURN_MS = 500;

/**
 * Does something that gives way to others at the same objects; where somebody else was faster and
 * --lock-timeout leaves time for it, it is planned and done again.
 */
export async function inTurn<T>(
  { context, flags }: FlagInput<readonly [typeof LOCK_TIMEOUT]>,
  attempt: () => Promise<T>,
): Promise<T> {
  const { clock, output, signal } = context;
  const deadline = clock.monotonic() + (flags['lock-timeout'] ?? 0);
  for (;;) {
    try {
      return await attempt();
    } catch (thrown) {
      const isBehind = thrown instanceof CliError && thrown.cause instanceof StalePlanError;
      if (!isBehind || clock.monotonic() + TURN_MS > deadline) throw thrown;
      output.note(`${thrown.message}; planning again`);
      await sleep(clock, TURN_MS, signal);
    }
  }
}
