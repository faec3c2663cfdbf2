import { onTestFinished } from 'vitest';
import { AuditLog } from '../../src/audit/audit-log.ts';
import { systemClock } from '../../src/core/time/clock.ts';
import { GatewayError } from '../../src/core/errors.ts';
import { createIdSource } from '../../src/core/ids.ts';
import { ActiveExchanges } from '../../src/inference/active-exchanges.ts';
import { listen } from '../../src/server/http/listen.ts';
import { createApp } from '../../src/server/http/routes.ts';
import { lazyRoutes } from '../../src/server/routes/lazy-routes.ts';
import { SESSION_ROUTES } from '../../src/server/routes/outlines.ts';
import { sessionHandlers } from '../../src/server/routes/session-handlers.ts';
import type { ResolvedAgent } from '../../src/sessions/resolved-agent.ts';
import type { AgentReference } from '../../src/sessions/session-bodies.ts';
import { ask } from '../support/gateway.ts';
import type { Answer, CallOptions } from '../support/gateway.ts';
import { principal } from '../usage/usage-fixtures.ts';
import { roomyBudget } from '../support/body-intake.ts';
import { fakeCatalog } from '../support/catalog.ts';
import { AGENT, createRig } from './support.ts';
import type { RigOptions } from './support.ts';
import { RESOURCE_VALUES } from '../support/value-bounds.ts';

const LIMITS = {
  bodyBytes: 1_000_000,
  headerBytes: 16_384,
  requestTimeoutMs: 30_000,
  maxConnections: 1_000,
} as never;

/** The Session API alone over a real socket; the key is the name of its organization. */
export async function serveSessions(options: RigOptions = {}) {
  const rig = createRig(options);
  const { sessions, clock } = rig;
  const ids = createIdSource(systemClock);
  const active = new ActiveExchanges();
  /** What the next Sessions are made of. */
  const agents = new Map<string, ResolvedAgent>([['agent_1', AGENT]]);
  const references: AgentReference[] = [];
  const handlers = sessionHandlers({
    sessions,
    repository: { audit: new AuditLog({ store: rig.store, clock }) },
    clock,
    active,
    carriers: ['bearer'],
    maxBodyBytes: 1_000_000,
    resourceValues: RESOURCE_VALUES,
    catalog: () => fakeCatalog(),
    lookup: (key) =>
      key.startsWith('org_')
        ? principal({
            organizationId: key.replace('_limited', ''),
            scopes: key.endsWith('_limited') ? new Set(['inference']) : null,
          })
        : 'unknown',
    rates: { isPlatformFull: () => false, admitPlatform: () => true, admitKey: () => true },
    concurrency: { enter: async () => () => undefined },
    async resolveAgent(_organization, reference) {
      references.push(reference);
      const agent = agents.get(reference.agentId);
      if (!agent) throw new GatewayError('not_found', { message: 'agent not found' });
      return { ...agent, ...reference.overrides };
    },
  });
  const app = createApp({
    routes: lazyRoutes(SESSION_ROUTES, async () => handlers),
    clock,
    ids,
    bodies: roomyBudget(clock),
    guard: () => undefined,
    onBug: (thrown) => bugs.push(thrown),
  });
  const bugs: unknown[] = [];
  const listener = await listen(app, {
    host: '127.0.0.1',
    port: 0,
    limits: LIMITS,
    drainIdleMs: 50,
    ids,
  });
  onTestFinished(async () => {
    active.shutDown();
    listener.cut();
    await listener.drain();
  });
  const call = (method: string, path: string, { key = 'org_1', ...rest }: CallOptions = {}) =>
    ask(listener.url + path, { method, key, ...rest });
  return {
    ...rig,
    url: listener.url,
    active,
    agents,
    references,
    bugs,
    call,
    create: async (body: object = {}): Promise<Answer> =>
      call('POST', '/v1/sessions', { body: { agent: 'agent_1', ...body } }),
    send: (id: string, events: readonly unknown[], rest: CallOptions = {}) =>
      call('POST', `/v1/sessions/${id}/events`, { ...rest, body: { events } }),
  };
}

export type SessionServer = Awaited<ReturnType<typeof serveSessions>>;

/** Every page of a list. */
export async function pagesOf(
  { call }: Pick<SessionServer, 'call'>,
  path: string,
): Promise<any[][]> {
  const pages: any[][] = [];
  let cursor = '';
  for (;;) {
    const { status, body } = await call('GET', path + cursor);
    if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`);
    pages.push(body.data);
    if (body.next_page === null) return pages;
    cursor = `${path.includes('?') ? '&' : '?'}page=${encodeURIComponent(body.next_page)}`;
  }
}
