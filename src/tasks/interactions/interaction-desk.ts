import { Buffer } from 'node:buffer';
import { GatewayError } from '../../core/errors.ts';
import type { InferenceDeps } from '../../inference/run-inference.ts';
import type { WorkKeeper } from '../../inference/work-keeper.ts';
import type { JobHandler, Jobs } from '../../jobs/jobs.ts';
import { isRunning } from '../../protocols/interactions/interaction.ts';
import type { Catalog } from '../../routing/catalog.ts';
import type { Store } from '../../store/store.ts';
import type { Charges } from '../../usage/spend/charges.ts';
import { createInteractionKeeper } from './interaction-keeper.ts';
import { createInteractionRecords } from './interaction-records.ts';
import type { InteractionEntry } from './interaction-records.ts';
import { lookUpInteraction, ownerOf, toNamed, toShown } from './look-up-interaction.ts';
import type { LookDeps, LookOptions } from './look-up-interaction.ts';
import { createPollJob } from './poll-job.ts';

export interface InteractionDeskOptions {
  store: Store;
  jobs: Jobs;
  charges: Charges;
  inference: Pick<InferenceDeps, 'clock' | 'transportFor' | 'maxAnswerBytes' | 'active'>;
  catalog(): Catalog;
  /** How long one that is over is kept; null or absent: 60 days. */
  resultsKeptMs?: number | null;
  /** How long a call that is not meant for the background waits for work that goes on. */
  interactionWaitMs: number;
}

/** Everything about Interactions that outlives the call which created one; its only state is the store. */
export interface InteractionDesk {
  readonly keeper: WorkKeeper;
  /**
   * An Interaction for the key that created it: a terminal one whole, as long as it can be had; of a
   * running one nothing partial.
   *
   * @throws GatewayError `not_found`, or what `lookUpInteraction` throws
   */
  get(keyId: string, id: string, options: LookOptions): Promise<Buffer>;
  /** Of the kind `POLL_JOB`. */
  readonly poll: JobHandler;
}

export function createInteractionDesk(options: InteractionDeskOptions): InteractionDesk {
  const { store, jobs, charges, inference, catalog, interactionWaitMs: waitMs } = options;
  const records = createInteractionRecords(store, jobs, options.resultsKeptMs);
  const { clock, transportFor, maxAnswerBytes, active } = inference;
  const deps = { clock, transportFor, maxAnswerBytes, catalog, charges, records };
  return {
    keeper: createInteractionKeeper({ ...deps, active, waitMs }),
    poll: createPollJob(deps),
    async get(keyId, id, look) {
      const entry = await records.find(keyId, id);
      if (!entry) throw new GatewayError('not_found', { message: 'interaction not found' });
      return show(entry, deps, look);
    },
  };
}

async function show(
  entry: InteractionEntry,
  deps: LookDeps,
  options: LookOptions,
): Promise<Buffer> {
  const { value: record } = entry;
  const kept = record.kept && toNamed(record, Buffer.from(record.kept.body));
  // Nothing will change in it and nothing is missing: its provider has no more to say.
  if (kept && record.kept?.form === 'whole' && !options.includeInput) return kept;
  // Of an account that is gone there is nothing more to be had than what was kept.
  if (kept && !ownerOf(record, deps.catalog())) return kept;
  const found = await lookUpInteraction(entry, deps, options);
  if (!found) {
    if (kept) return kept;
    throw new GatewayError('not_found', { message: 'the provider no longer has this interaction' });
  }
  return kept && isRunning(found.seen.status) ? kept : toShown(record, found);
}
