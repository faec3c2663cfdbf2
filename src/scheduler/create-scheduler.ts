import { reasonOf } from '../core/errors.ts';
import type { Clock } from '../core/time/clock.ts';
import type { IdSource } from '../core/ids.ts';
import type { Log } from '../core/log.ts';
import type { JobHandler, Jobs } from '../jobs/jobs.ts';
import { isStoreTrouble } from '../store/is-store-trouble.ts';
import type { Store } from '../store/store.ts';
import { claimDue } from './claim-due.ts';
import { realign } from './realign.ts';
import { TIMEOUT_JOB, TRIGGER_JOB } from './job-kinds.ts';
import { createRunStore } from './runs.ts';
import { Scanner } from './scanner.ts';
import type { Scheduler } from './scheduler.ts';
import { createTimeoutJob } from './timeout-job.ts';
import { triggerByHand, untilDecided } from './trigger-by-hand.ts';
import { createTriggerJob } from './trigger-job.ts';
import type { TriggerJobDeps } from './trigger-job.ts';
import type { Sessions } from '../sessions/sessions.ts';

export interface SchedulerOptions extends Omit<TriggerJobDeps, 'store' | 'sessions' | 'jobs'> {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly log: Pick<Log, 'warn'>;
  readonly jobs: Jobs;
  readonly sessions: Pick<Sessions, 'create' | 'get' | 'terminate'>;
  /** Uniform in [0, 1). */
  random(): number;
}

/**
 * Parts that fire Schedules in this process, and the handlers of their durable work, by kind of
 * job.
 */
export interface SchedulerParts {
  readonly scheduler: Scheduler;
  readonly handlers: ReadonlyMap<string, JobHandler>;
}

/** Any number of processes on one store may each have one (design: Schedules). */
export function createScheduler(options: SchedulerOptions): SchedulerParts {
  const { store, clock, log } = options;
  const closing = new AbortController();
  let scanner: Scanner | undefined;
  const scheduler: Scheduler = {
    runs: createRunStore(store),
    async trigger(input) {
      return untilDecided(options, await triggerByHand(options, input), closing.signal);
    },
    start() {
      scanner ??= new Scanner({
        ...options,
        realign: () => realign(options),
        claim: (due) => claimDue(options, due),
        report(error, due) {
          // The opener of the store reports that, once.
          if (isStoreTrouble(error)) return;
          log.warn('a Schedule that is due could not be claimed', {
            deployment: due?.deploymentId,
            reason: reasonOf(error),
          });
        },
      });
    },
    async close() {
      closing.abort();
      await scanner?.close();
    },
  };
  return {
    scheduler,
    handlers: new Map([
      [TRIGGER_JOB, createTriggerJob(options)],
      [TIMEOUT_JOB, createTimeoutJob({ ...options, clock })],
    ]),
  };
}
