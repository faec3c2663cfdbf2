import type { JobHandler, Jobs } from '../../jobs/jobs.ts';
import { createSweepJob, SWEEP_SOON, sweepJob } from '../../jobs/sweep-job.ts';
import type { Sweep } from '../../jobs/sweep-job.ts';
import type { Repository } from '../../resources/store/repository.ts';
import { createRunSweep } from '../../scheduler/run-sweep.ts';
import { createEventSweep } from '../../sessions/log/event-sweep.ts';
import type { Store } from '../../store/store.ts';
import { createRequestSweep } from '../../usage/requests/request-sweep.ts';
import { createRemovalCounter } from '../process/metrics.ts';
import type { GatewayOptions } from './open-gateway.ts';

export interface RetentionOptions extends Pick<GatewayOptions, 'config' | 'clock' | 'log'> {
  readonly store: Store;
  readonly jobs: Pick<Jobs, 'add'>;
  readonly repository: Pick<Repository, 'find'>;
}

/**
 * Handlers that remove what is past the age that `server.retention` gives, by kind of job; without
 * an age none. Results are not among it: the store drops each when its own time is up.
 */
export async function openRetention(
  options: RetentionOptions,
): Promise<ReadonlyMap<string, JobHandler>> {
  const { config, clock, log, store, jobs } = options;
  const { events, records, runs } = config.retention;
  const kinds: readonly (readonly [kind: string, olderThanMs: number | null, sweep: Sweep])[] = [
    ['events', events, createEventSweep(options)],
    ['records', records, createRequestSweep(store)],
    ['runs', runs, createRunSweep(options)],
  ];
  const counted = config.metrics.listen ? await createRemovalCounter() : () => undefined;
  const handlers = new Map<string, JobHandler>();
  for (const [kind, olderThanMs, sweep] of kinds) {
    if (olderThanMs === null) continue;
    const job = sweepJob(`retention-${kind}`);
    const count = (removed: number): void => counted(kind, removed);
    const tell = (removed: number): void => log.info('removed by retention', { kind, removed });
    handlers.set(job.kind, createSweepJob({ clock, olderThanMs, sweep, count, tell }));
    // The job may be of the last start: then it goes on where it was.
    await jobs.add(job, SWEEP_SOON);
  }
  return handlers;
}
