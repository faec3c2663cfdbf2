import { lazy } from '../../core/lazy.ts';
import type { JobHandler } from '../../jobs/jobs.ts';
import { NOTIFY_JOB, TIMEOUT_JOB, TRIGGER_JOB } from '../../scheduler/job-kinds.ts';
import type { RouteSpec } from '../http/routes.ts';
import { lazyRoutes } from '../routes/lazy-routes.ts';
import { DEPLOYMENT_ROUTES } from '../routes/outlines.ts';
import { DueWatch } from './due-watch.ts';
import { lazyHandlers } from './late/lazy-handlers.ts';
import type { SchedulesOptions } from './late/schedules.ts';
import { tellFailure } from './report-store.ts';

/** The routes of Schedules, and their durable work; parts are loaded when there is a Schedule. */
export interface OpenedSchedules {
  readonly routes: readonly RouteSpec[];
  /** Handlers of their durable work, by kind of job. */
  readonly handlers: ReadonlyMap<string, JobHandler>;
  /** Fires due Schedules; is closed before the jobs are. */
  readonly firing: { start(): void; close(): Promise<void> };
  /** Runs after the jobs are closed. */
  close(): Promise<void>;
}

export function openSchedules(options: SchedulesOptions): OpenedSchedules {
  const { store, clock, log } = options;
  const schedules = lazy('Schedules', async () => {
    const { createSchedules } = await import('./late/schedules.ts');
    return createSchedules(options);
  });
  let watch: DueWatch | undefined;
  return {
    routes: lazyRoutes(DEPLOYMENT_ROUTES, async () => (await schedules()).deploymentHandlers),
    handlers: lazyHandlers([TRIGGER_JOB, TIMEOUT_JOB, NOTIFY_JOB], schedules),
    firing: {
      start() {
        watch ??= new DueWatch({
          store,
          clock,
          begin: async () => (await schedules()).firing.start(),
          report: (error) => tellFailure(log, 'Schedules cannot be fired', { error }),
        });
      },
      async close() {
        await watch?.close();
        await (await schedules.begun())?.firing.close();
      },
    },
    close: async () => (await schedules.begun())?.close(),
  };
}
