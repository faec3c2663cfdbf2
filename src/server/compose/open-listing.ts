import type { Clock } from '../../core/time/clock.ts';
import type { Log } from '../../core/log.ts';
import { createListJob, LIST_JOB, toListJob } from '../../inference/listing/list-job.ts';
import type { ListJobDeps } from '../../inference/listing/list-job.ts';
import { createModelLists } from '../../inference/listing/model-lists.ts';
import type { JobHandler, Jobs } from '../../jobs/jobs.ts';
import type { Store } from '../../store/store.ts';
import type { LiveCatalog } from './live-catalog.ts';
import { reasonOf } from '../../core/errors.ts';

export interface ListingOptions extends Pick<ListJobDeps, 'random' | 'transportFor'> {
  readonly clock: Clock;
  readonly log: Log;
  readonly catalog: LiveCatalog;
  readonly jobs: Pick<Jobs, 'add'>;
}

/** Lists of the models that providers serve without declarations. */
export interface Listing {
  readonly handlers: ReadonlyMap<string, JobHandler>;
  close(): void;
}

/** Shows the stored lists at once; each version of a provider is asked by one process. */
export async function openListing(store: Store, options: ListingOptions): Promise<Listing> {
  const { clock, log, catalog, jobs } = options;
  const lists = createModelLists({ store, clock });
  const tell = (message: string, provider: string, error: unknown): void =>
    log.warn(message, { provider, reason: reasonOf(error) });
  const asked = new Set<string>();
  const ask = (): void => {
    for (const open of catalog.open()) {
      const job = toListJob(open);
      if (asked.has(job.id) || !open.account.definition.models) continue;
      asked.add(job.id);
      jobs.add(job).catch((error: unknown) => {
        asked.delete(job.id);
        tell('the models of a provider cannot be asked for', open.account.name, error);
      });
    }
  };
  await lists.start((found) => catalog.list(found));
  catalog.onUpdate(ask);
  ask();
  const handler = createListJob({
    ...options,
    lists,
    find: (id) => catalog.open().find(({ account }) => account.id === id),
    onFailure: (provider, error) =>
      tell('the models of a provider could not be listed', provider, error),
  });
  return { handlers: new Map([[LIST_JOB, handler]]), close: () => lists.close() };
}
