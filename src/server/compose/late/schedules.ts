import type { Lazy } from '../../../core/lazy.ts';
import type { JobHandler, Jobs } from '../../../jobs/jobs.ts';
import { CHAT_WEBHOOK } from '../../../resources/kinds/deployment.ts';
import { createScheduler } from '../../../scheduler/create-scheduler.ts';
import { createScheduleFinder } from '../../../scheduler/notify/notified-schedule.ts';
import { NOTIFY_JOB } from '../../../scheduler/job-kinds.ts';
import { createNotifier } from '../../../scheduler/notify/notifier.ts';
import { createMessageSender } from '../../../scheduler/notify/send-message.ts';
import { ifGone } from '../../../scheduler/timeout-job.ts';
import { createRunStore } from '../../../scheduler/runs.ts';
import type { Scheduler } from '../../../scheduler/scheduler.ts';
import { outcomeOf } from '../../../sessions/outcome.ts';
import type { Store } from '../../../store/store.ts';
import { deploymentHandlers } from '../../routes/deployment-handlers.ts';
import type { HandlersOf } from '../../routes/lazy-routes.ts';
import type { DEPLOYMENT_ROUTES } from '../../routes/outlines.ts';
import type { AlertParts } from './alerts.ts';
import type { GatewayOptions } from '../gateway-options.ts';
import type { OrganizationDeps } from '../../routes/organization-routes.ts';
import type { AgentsParts } from './agents.ts';

export interface SchedulesOptions
  extends
    Pick<GatewayOptions, 'proxies' | 'config' | 'clock' | 'ids' | 'log' | 'random'>,
    OrganizationDeps {
  readonly store: Store;
  readonly jobs: Jobs;
  readonly alerts: Pick<AlertParts, 'ofRun'>;
  /** Runs begin Sessions. */
  readonly agents: Lazy<AgentsParts>;
}

/** Parts that fire Schedules and announce it, loaded when there is one. */
export interface SchedulesParts {
  readonly deploymentHandlers: HandlersOf<typeof DEPLOYMENT_ROUTES>;
  /** Handlers of their durable work, by kind of job. */
  readonly handlers: ReadonlyMap<string, JobHandler>;
  /** Fires due Schedules; is closed before the jobs are. */
  readonly firing: Pick<Scheduler, 'start' | 'close'>;
  /** Runs after the jobs are closed. */
  close(): Promise<void>;
}

export async function createSchedules(options: SchedulesOptions): Promise<SchedulesParts> {
  const { sessions, admit } = await options.agents();
  const { config, repository, store } = options;
  const { webhooks } = config.notifications;
  const sender = createMessageSender({
    own: webhooks,
    allow: config.outbound.allow,
    proxies: options.proxies,
  });
  const notifier = createNotifier({
    ...options,
    runs: createRunStore(store),
    sender,
    findSchedule: createScheduleFinder(repository),
    async findOutcome(organization, id) {
      const session = await sessions.get(organization, id).catch(ifGone);
      return session ? outcomeOf(session) : null;
    },
  });
  const { scheduler, handlers } = createScheduler({
    ...options,
    sessions,
    admit,
    announce: (run, { sealed }) => [
      ...(CHAT_WEBHOOK in sealed ? notifier.announce(run) : []),
      ...options.alerts.ofRun(run),
    ],
  });
  return {
    deploymentHandlers: deploymentHandlers({ ...options, scheduler, notifier }),
    handlers: new Map([...handlers, [NOTIFY_JOB, notifier.handler]]),
    firing: scheduler,
    close: () => sender.close(),
  };
}
