import { lazy } from '../../core/lazy.ts';
import type { JobHandler } from '../../jobs/jobs.ts';
import { RUN_JOB } from '../../tasks/runs/run-record.ts';
import { WEBHOOK_JOB } from '../../webhooks/delivery.ts';
import type { RouteSpec } from '../http/routes.ts';
import { lazyRoutes } from '../routes/lazy-routes.ts';
import { RUN_ROUTES, WEBHOOK_ROUTES } from '../routes/outlines.ts';
import { lazyHandlers } from './late/lazy-handlers.ts';
import type { RunsOptions } from './late/runs.ts';

/** The routes of runs and webhooks, and their durable work; parts are loaded at the first use. */
export interface OpenedRuns {
  readonly routes: readonly RouteSpec[];
  /** Handlers of their durable work, by kind of job. */
  readonly handlers: ReadonlyMap<string, JobHandler>;
  /** Runs after the jobs are closed. */
  close(): Promise<void>;
}

export function openRuns(options: RunsOptions): OpenedRuns {
  const runs = lazy('runs', async () => {
    const { createRuns } = await import('./late/runs.ts');
    return createRuns(options);
  });
  return {
    routes: [
      ...lazyRoutes(RUN_ROUTES, async () => (await runs()).runHandlers),
      ...lazyRoutes(WEBHOOK_ROUTES, async () => (await runs()).webhookHandlers),
    ],
    handlers: lazyHandlers([RUN_JOB, WEBHOOK_JOB], runs),
    close: async () => (await runs.begun())?.close(),
  };
}
