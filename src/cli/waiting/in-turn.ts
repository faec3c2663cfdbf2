import { sleep } from '../../client/http/sleep.ts';
import { StalePlanError } from '../../config/plan/stale-plan-error.ts';
import { CliError } from '../cli-error.ts';
import type { FlagInput } from '../command-input.ts';
import type { LOCK_TIMEOUT } from '../tables/config-words.ts';

/** Wait between two attempts after a stale plan. */
const TURN_MS = 500;

/**
 * Repeats an attempt that fails on a stale plan, since another client was first at the objects,
 * with a new plan while --lock-timeout leaves time for it.
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
