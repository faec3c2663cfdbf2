import { lazy } from '../../core/lazy.ts';
import type { Lazy } from '../../core/lazy.ts';
import type { JobHandler } from '../../jobs/jobs.ts';
import { PURGE_JOB, TURN_JOB } from '../../sessions/log/job-kinds.ts';
import type { RouteSpec } from '../http/routes.ts';
import { lazyRoutes } from '../routes/lazy-routes.ts';
import { SERVICE_ROUTES, SESSION_ROUTES } from '../routes/outlines.ts';
import type { AgentsOptions, AgentsParts } from './late/agents.ts';
import { lazyHandlers } from './late/lazy-handlers.ts';

/** The ways to Sessions and Services, and their durable work. */
export interface OpenedAgents {
  /** Agents and their durable work, loaded at the first use. */
  readonly agents: Lazy<AgentsParts>;
  readonly routes: readonly RouteSpec[];
  /** Handlers of their durable work, by kind of job. */
  readonly handlers: ReadonlyMap<string, JobHandler>;
  /** Ends every process that turns run in; called after the jobs are closed. */
  close(): Promise<void>;
}

export function openAgents(options: AgentsOptions): OpenedAgents {
  const agents = lazy('Sessions and Services', async () => {
    const { createAgents } = await import('./late/agents.ts');
    return createAgents(options);
  });
  return {
    agents,
    routes: [
      ...lazyRoutes(SESSION_ROUTES, async () => (await agents()).sessionHandlers),
      ...lazyRoutes(SERVICE_ROUTES, async () => (await agents()).serviceHandlers),
    ],
    handlers: lazyHandlers([TURN_JOB, PURGE_JOB], agents),
    close: async () => (await agents.begun())?.close(),
  };
}
