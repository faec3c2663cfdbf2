import type { JobHandler, Jobs } from '../../jobs/jobs.ts';
import { CHAT_WEBHOOK } from '../../resources/kinds/deployment.ts';
import { createScheduler } from '../../scheduler/create-scheduler.ts';
import { createScheduleFinder } from '../../scheduler/notify/notified-schedule.ts';
import { createNotifier, NOTIFY_JOB } from '../../scheduler/notify/notifier.ts';
import { createMessageSender } from '../../scheduler/notify/send-message.ts';
import { createRunStore } from '../../scheduler/runs.ts';
import type { Scheduler } from '../../scheduler/scheduler.ts';
import type { TriggerJobDeps } from '../../scheduler/trigger-job.ts';
import type { Sessions } from '../../sessions/sessions.ts';
import type { Store } from '../../store/store.ts';
import { deploymentRoutes } from '../routes/deployment-routes.ts';
import type { GatewayOptions } from './open-gateway.ts';
import type { OrganizationDeps } from '../routes/organization-routes.ts';
import type { RouteSpec } from '../http/routes.ts';

export interface SchedulesOptions
  extends Pick<GatewayOptions, 'config' | 'clock' | 'ids' | 'log' | 'random'>, OrganizationDeps {
  readonly store: Store;
  readonly jobs: Jobs;
  readonly sessions: Sessions;
  readonly admit: TriggerJobDeps['admit'];
}

/** Parts that fire Schedules and announce it, and the ways to ask for it. */
export interface SchedulesParts {
  readonly routes: readonly RouteSpec[];
  /** Handlers of their durable work, by kind of job. */
  readonly handlers: ReadonlyMap<string, JobHandler>;
  /** Fires what is due; is closed before the jobs are. */
  readonly firing: Pick<Scheduler, 'start' | 'close'>;
  /** After the jobs are closed. */
  close(): Promise<void>;
}

export function openSchedules(options: SchedulesOptions): SchedulesParts {
  const { config, repository, store } = options;
  const { webhooks } = config.notifications;
  const sender = createMessageSender({ own: webhooks, allow: config.outbound.allow });
  const notifier = createNotifier({
    ...options,
    runs: createRunStore(store),
    sender,
    findSchedule: createScheduleFinder(repository),
  });
  const { scheduler, handlers } = createScheduler({
    ...options,
    announce: (run, { sealed }) => (CHAT_WEBHOOK in sealed ? notifier.announce(run) : []),
  });
  return {
    routes: deploymentRoutes({ ...options, scheduler, notifier }),
    handlers: new Map([...handlers, [NOTIFY_JOB, notifier.handler]]),
    firing: scheduler,
    close: () => sender.close(),
  };
}
