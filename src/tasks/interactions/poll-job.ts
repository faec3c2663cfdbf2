import { GatewayError } from '../../core/errors.ts';
import { isJsonObject } from '../../core/json/value.ts';
import type { JobHandler } from '../../jobs/jobs.ts';
import { isOver } from '../../protocols/interactions/interaction.ts';
import type { InteractionEntry } from './interaction-records.ts';
import { lookUpInteraction } from './look-up-interaction.ts';
import type { Look, LookDeps } from './look-up-interaction.ts';
import { giveUpInteraction } from './settle-interaction.ts';

const SHORTEST_PAUSE_MS = 5_000;
const LONGEST_PAUSE_MS = 60_000;
/** Work that its provider does not know for so long is lost, and was never just late. */
const FORGOTTEN_AFTER_MS = 10 * 60_000;
/** No work runs longer. */
const GIVEN_UP_AFTER_MS = 7 * 24 * 3_600_000;

/**
 * Sees one Interaction to its end when nobody asks for it: every 5 seconds at first, every minute in the
 * end. What its provider has lost, or has not ended within a week, is closed without a charge.
 */
export function createPollJob(deps: LookDeps): JobHandler {
  return async ({ job, signal }) => {
    const { key, id } = isJsonObject(job.payload) ? job.payload : {};
    const entry = await deps.records.find(String(key), String(id));
    if (entry?.value.call !== job.id) {
      // Another call has taken over that work, and pays for it.
      await deps.charges.release(job.id);
      return 'done';
    }
    if (entry.value.charge !== 'due') return 'done';
    const age = deps.clock.now() - entry.value.at;
    const look = await lookOrLater(entry, deps, signal);
    if (look !== 'later' && look && isOver(look.seen)) return 'done';
    const isLost = look === undefined && age > FORGOTTEN_AFTER_MS;
    if (isLost || age > GIVEN_UP_AFTER_MS) {
      await giveUpInteraction(entry, deps);
      return 'done';
    }
    return { againInMs: Math.min(Math.max(age / 4, SHORTEST_PAUSE_MS), LONGEST_PAUSE_MS) };
  };
}

/** A provider that cannot be asked now is asked later; what cannot be noted is an exception. */
async function lookOrLater(
  entry: InteractionEntry,
  deps: LookDeps,
  signal: AbortSignal,
): Promise<Look | 'later'> {
  try {
    return await lookUpInteraction(entry, deps, { signal });
  } catch (thrown) {
    if (thrown instanceof GatewayError && thrown.code !== 'persistence_failed') return 'later';
    throw thrown;
  }
}
