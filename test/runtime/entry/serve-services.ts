import { onTestFinished } from 'vitest';
import { systemClock } from '../../../src/core/time/clock.ts';
import { GatewayError } from '../../../src/core/errors.ts';
import { createSealer } from '../../../src/core/seal.ts';
import { createIdSource } from '../../../src/core/ids.ts';
import { ActiveExchanges } from '../../../src/inference/active-exchanges.ts';
import { createHostGuard } from '../../../src/server/http/host-guard.ts';
import { listen } from '../../../src/server/http/listen.ts';
import { createApp } from '../../../src/server/http/routes.ts';
import { lazyRoutes } from '../../../src/server/routes/lazy-routes.ts';
import { SERVICE_ROUTES } from '../../../src/server/routes/outlines.ts';
import { serviceHandlers } from '../../../src/server/routes/service-handlers.ts';
import type { Service } from '../../../src/runtime/entry/service-desk.ts';
import { ask } from '../../support/gateway.ts';
import type { CallOptions } from '../../support/gateway.ts';
import { roomyBudget } from '../../support/body-intake.ts';
import { AGENT, createRig } from '../../sessions/support.ts';
import type { RigOptions } from '../../sessions/support.ts';
import { principal } from '../../usage/usage-fixtures.ts';
import { RESOURCE_VALUES } from '../../support/value-bounds.ts';

const LIMITS = {
  bodyBytes: 1_000_000,
  headerBytes: 16_384,
  requestTimeoutMs: 30_000,
  maxConnections: 1_000,
} as never;

export const SERVICE: Service = {
  id: 'ep_1',
  organization: 'org_1',
  name: 'Helper',
  status: 'active',
  protocols: ['rest', 'mcp', 'acp'],
  sessionMetadata: { team: 'blue' },
};

/** A key is the name of its organization, and may end in what it is limited to. */
function scopesOf(key: string): ReadonlySet<string> | null {
  if (key.endsWith('_limited')) return new Set(['sessions']);
  return key.endsWith('_services') ? new Set(['endpoints']) : null;
}

/** The entry points alone over a real socket. */
export async function serveServices(options: RigOptions = {}) {
  const rig = createRig(options);
  const { sessions, clock, store } = rig;
  const ids = createIdSource(systemClock);
  const [active, standing] = [new ActiveExchanges(), new ActiveExchanges()];
  const services = new Map([[SERVICE.id, SERVICE]]);
  const bugs: unknown[] = [];
  const revoked = new Set<string>();
  /** Places of calls under way. */
  const places = { taken: 0 };
  const handlers = serviceHandlers({
    store,
    sessions,
    clock,
    ids,
    sealer: createSealer([Buffer.alloc(32, 7)]),
    active,
    standing,
    carriers: ['bearer'],
    maxBodyBytes: 1_000_000,
    resourceValues: RESOURCE_VALUES,
    lookup: (key) =>
      key.startsWith('org_') && !revoked.has(key)
        ? principal({
            keyId: key,
            organizationId: key.replace(/_(limited|services)$/, ''),
            scopes: scopesOf(key),
            concurrencyCap: 1,
          })
        : 'unknown',
    rates: { isPlatformFull: () => false, admitPlatform: () => true, admitKey: () => true },
    concurrency: {
      enter() {
        places.taken += 1;
        let isIn = true;
        return () => {
          if (isIn) places.taken -= 1;
          isIn = false;
        };
      },
    },
    desk: {
      async find(organization, id) {
        const service = services.get(id);
        if (service?.organization === organization) return service;
        throw new GatewayError('not_found', { message: 'endpoint not found' });
      },
      agentOf: async () => AGENT,
    },
    onBug: (thrown) => bugs.push(thrown),
  });
  const app = createApp({
    routes: lazyRoutes(SERVICE_ROUTES, async () => handlers),
    clock,
    ids,
    bodies: roomyBudget(clock),
    guard: createHostGuard({ listenHost: '127.0.0.1', allowedHosts: [], origins: [] }),
    onBug: (thrown) => bugs.push(thrown),
  });
  const listener = await listen(app, {
    host: '127.0.0.1',
    port: 0,
    limits: LIMITS,
    drainIdleMs: 50,
    ids,
  });
  onTestFinished(async () => {
    standing.shutDown();
    active.shutDown();
    listener.cut();
    await listener.drain();
  });
  const call = (method: string, below: string, { key = 'org_1', ...rest }: CallOptions = {}) =>
    ask(`${listener.url}/v1/endpoints/ep_1/${below}`, { method, key, ...rest });
  const state = { active, standing, services, bugs, revoked, places };
  return { ...rig, url: listener.url, ...state, call };
}

export type ServiceServer = Awaited<ReturnType<typeof serveServices>>;
