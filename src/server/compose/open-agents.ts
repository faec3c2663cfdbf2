import { lazy } from '../../core/lazy.ts';
import type { Lazy } from '../../core/lazy.ts';
import { ActiveExchanges } from '../../inference/active-exchanges.ts';
import type { JobHandler } from '../../jobs/jobs.ts';
import { PURGE_JOB, TURN_JOB } from '../../sessions/log/job-kinds.ts';
import type { RouteSpec } from '../http/routes.ts';
import { lazyRoutes } from '../routes/lazy-routes.ts';
import { SERVICE_ROUTES, SESSION_ROUTES } from '../routes/outlines.ts';
import type { AgentsOptions, AgentsParts } from './late/agents.ts';
import { lazyHandlers } from './late/lazy-handlers.ts';

/** The ways to Sessions and Services, and their durable work. */
export interface OpenedAgents {
  /** What is behind them, loaded when the first of them is used. */
  readonly agents: Lazy<AgentsParts>;
  readonly routes: readonly RouteSpec[];
  /** Handlers of their durable work, by kind of job. */
  readonly handlers: ReadonlyMap<string, JobHandler>;
  /** Ends the streams of Sessions, which would never end by themselves. */
  endFollowing(): void;
  /** After the jobs are closed: ends every process that turns run in. */
  close(): Promise<void>;
}

export function openAgents(options: Omit<AgentsOptions, 'followers'>): OpenedAgents {
  const followers = createFollowers();
  const agents = lazy('Sessions and Services', async () => {
    const { createAgents } = await import('./late/agents.ts');
    return createAgents({ ...options, followers });
  });
  return {
    agents,
    routes: [
      ...lazyRoutes(SESSION_ROUTES, async () => (await agents()).sessionHandlers),
      ...lazyRoutes(SERVICE_ROUTES, async () => (await agents()).serviceHandlers),
    ],
    handlers: lazyHandlers([TURN_JOB, PURGE_JOB], agents),
    endFollowing: () => followers.end(),
    close: async () => (await agents.begun())?.close(),
  };
}

/** Streams without an end of their own; once they are ended, new ones end as soon as they begin. */
function createFollowers(): AgentsOptions['followers'] & { end(): void } {
  const members = new ActiveExchanges();
  let isOver = false;
  return {
    add(member) {
      members.add(member);
      if (isOver) member.shutDown();
    },
    delete: (member) => members.delete(member),
    end() {
      isOver = true;
      members.shutDown();
    },
  };
}
