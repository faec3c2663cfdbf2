import type { Job, JobHandler, Jobs } from '../../jobs/jobs.ts';
import { createSweepJob, SWEEP_SOON, sweepJob } from '../../jobs/sweep-job.ts';
import type { Sweep } from '../../jobs/sweep-job.ts';
import type { Repository } from '../../resources/store/repository.ts';
import { lazy } from '../../core/lazy.ts';
import type { Store } from '../../store/store.ts';
import { createRequestSweep } from '../../usage/requests/request-sweep.ts';
import { windowsOf } from '../../usage/spend/spend.ts';
import type { GatewayOptions } from './gateway-options.ts';

/** Time after which a day counts as over. */
const REST_MS = 3_600_000;

export interface RetentionOptions extends Pick<GatewayOptions, 'config' | 'clock' | 'log'> {
  readonly store: Store;
  readonly jobs: Pick<Jobs, 'add'>;
  readonly repository: Pick<Repository, 'find'>;
}

/**
 * Handlers that remove rows past the age that `server.retention` gives, by kind of job; without
 * an age none, and that which folds sums of use, always. Results are not among it: the store drops each
 * when its own time is up.
 */
export async function openRetention(
  options: RetentionOptions,
): Promise<ReadonlyMap<string, JobHandler>> {
  const { config, clock, log, store, jobs } = options;
  const { events, records, runs, audit } = config.retention;
  const kinds: readonly (readonly [string, number | null, () => Promise<Sweep>])[] = [
    ['events', events, async () => (await eventSweep()).createEventSweep(options)],
    ['records', records, async () => createRequestSweep(store)],
    ['runs', runs, async () => (await runSweep()).createRunSweep(options)],
    ['audit', audit, async () => (await auditSweep()).createAuditSweep(store)],
  ];
  const counted = config.metrics.listen
    ? await (await import('../process/metrics.ts')).createRemovalCounter()
    : () => undefined;
  const handlers = new Map<string, JobHandler>();
  for (const [kind, olderThanMs, load] of kinds) {
    if (olderThanMs === null) continue;
    const loaded = lazy(`the removal of ${kind}`, load);
    const sweep: Sweep = async (step) => (await loaded())(step);
    const job = sweepJob(`retention-${kind}`);
    const count = (removed: number): void => counted(kind, removed);
    const tell = (removed: number): void => log.info('removed by retention', { kind, removed });
    handlers.set(job.kind, createSweepJob({ clock, olderThanMs, sweep, count, tell }));
    // The job may be left from the last start: then it continues at its cursor.
    await jobs.add(job, SWEEP_SOON);
  }
  const [folding, handler] = foldingOf(options);
  await jobs.add(folding, SWEEP_SOON);
  return handlers.set(folding.kind, handler);
}

/** Bounds the sums of conversations and end users, of whatever age, and sums the days that are over. */
function foldingOf({ clock, log, store }: RetentionOptions): [Job, JobHandler] {
  const load = lazy('the folding of sums', async () => {
    const { foldParts } = await import('../../usage/sums/fold-parts.ts');
    const { digestDays } = await import('../../usage/sums/digest-days.ts');
    return { foldParts, digestDays };
  });
  const sweep: Sweep = async () => {
    const { foldParts, digestDays } = await load();
    // Calls of a day may be counted a while after it.
    await digestDays(store, windowsOf(clock.now() - REST_MS).day);
    return { removed: await foldParts(store) };
  };
  const tell = (values: number): void => log.info('sums of use folded', { values });
  return [sweepJob('usage-fold'), createSweepJob({ clock, olderThanMs: 0, sweep, tell })];
}

const auditSweep = () => import('../../audit/audit-sweep.ts');
const eventSweep = () => import('../../sessions/log/event-sweep.ts');
const runSweep = () => import('../../scheduler/run-sweep.ts');
