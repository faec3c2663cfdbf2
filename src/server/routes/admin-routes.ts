import { GatewayError } from '../../core/errors.ts';
import { TurnQueue } from '../../core/turn-queue.ts';
import { createResourceHandler } from '../../resources/store/handlers.ts';
import { readKey } from '../../surfaces/carriers.ts';
import { admit } from '../../surfaces/gate.ts';
import type { GateDeps } from '../../surfaces/gate.ts';
import type { Handler, HttpExchange } from '../../surfaces/http-exchange.ts';
import type { Principal } from '../../usage/principal.ts';
import { getRequest, listRequests } from '../../usage/requests/request-log.ts';
import { usageReport } from '../../usage/requests/usage-report.ts';
import { reportSpending } from './spending-report.ts';
import type { SpendingDeps } from './spending-report.ts';
import { reportPlan } from './plan-report.ts';
import type { PlanReportDeps } from './plan-report.ts';
import { toRequestQuery, toUsageQuery } from './report-queries.ts';
import { segmentsBelow, toResourceRequest } from '../http/resource-exchange.ts';
import type { ResourceBodies } from '../http/resource-exchange.ts';
import type { Method, RouteSpec } from '../http/routes.ts';

export interface AdminDeps extends GateDeps, PlanReportDeps, ResourceBodies, SpendingDeps {
  /** Makes this process serve every change that was committed before, or rejects. */
  catchUp(): Promise<void>;
}

const METHODS: readonly Method[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** Everything under `/admin/v1`, for keys with the scope `admin` (requirement keys.admin.separate-surface). */
export function adminRoutes(deps: AdminDeps): RouteSpec[] {
  const { store, repository, spools, maxBodyBytes, resourceValues } = deps;
  const bodies = { spools, maxBodyBytes, resourceValues };
  const writes = new TurnQueue();
  const kinds = repository.definitions.flatMap((definition): RouteSpec[] => {
    const handle = createResourceHandler(definition, repository);
    const handler = asAdmin(
      deps,
      async (exchange, { organizationId: organization, keyId: holder }) => {
        const api = { path: definition.path, fromForm: definition.api?.fromForm };
        const request = toResourceRequest(api, exchange, { ...bodies, holder });
        const isWrite = exchange.request.method !== 'GET';
        // Many writes arrive together when somebody applies; inference must not wait for all of them.
        if (isWrite) await writes.enter();
        const reply = await handle({ ...request, organization, platform: true });
        // Whoever changes something and calls at once meets the change. What was written is written.
        if (isWrite) await deps.catchUp().catch(() => undefined);
        return { ...reply };
      },
    );
    const methods = Object.fromEntries(METHODS.map((method) => [method, handler]));
    return [definition.path, `${definition.path}/**`].map((path) => ({
      path,
      envelope: 'resource',
      methods,
    }));
  });
  return [
    ...kinds,
    report('/admin/v1/usage', deps, async ({ search }) => ({
      data: await usageReport({ store }, toUsageQuery(search)),
      next_page: null,
    })),
    report('/admin/v1/routing', deps, async ({ search }) => reportPlan(search, deps)),
    report('/admin/v1/spending', deps, ({ search }) => reportSpending(search, deps)),
    report('/admin/v1/requests', deps, ({ search }) =>
      listRequests({ store }, toRequestQuery(search)),
    ),
    report('/admin/v1/requests/:id', deps, async ({ path }) => {
      const [id = ''] = segmentsBelow('/admin/v1/requests', path);
      const record = await getRequest({ store }, id);
      if (!record) throw new GatewayError('not_found', { message: `no request ${id}` });
      return record;
    }),
  ];
}

function report(
  path: string,
  deps: AdminDeps,
  answer: (exchange: HttpExchange) => Promise<object>,
): RouteSpec {
  const handler = asAdmin(deps, async (exchange) => ({
    status: 200,
    body: await answer(exchange),
  }));
  return { path, envelope: 'resource', methods: { GET: handler } };
}

function asAdmin(
  deps: AdminDeps,
  handle: (exchange: HttpExchange, principal: Principal) => ReturnType<Handler>,
): Handler {
  return async (exchange) => {
    const key = readKey(['bearer'], exchange.request.headers, exchange.search);
    const { principal, leave } = await admit(key, 'admin', deps);
    try {
      return await handle(exchange, principal);
    } finally {
      leave();
    }
  };
}
