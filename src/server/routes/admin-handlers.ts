import { getAudit, listAudit } from '../../audit/read-audit.ts';
import { verifyAudit } from '../../audit/verify-audit.ts';
import { GatewayError } from '../../core/errors.ts';
import { TurnQueue } from '../../core/turn-queue.ts';
import type { ResourceDefinition } from '../../resources/store/define-resource.ts';
import { createResourceHandler } from '../../resources/store/handlers.ts';
import { readKey } from '../../surfaces/carriers.ts';
import { admit } from '../../surfaces/gate.ts';
import type { GateDeps } from '../../surfaces/gate.ts';
import type { Handler, HttpExchange } from '../../surfaces/http-exchange.ts';
import type { Principal } from '../../usage/principal.ts';
import { getRequest, listRequests } from '../../usage/requests/request-log.ts';
import { auditReads } from './audit-reads.ts';
import { reportBudgets } from './budget-report.ts';
import { reportSpending } from './spending-report.ts';
import type { SpendingDeps } from './spending-report.ts';
import { reportPlan } from './plan-report.ts';
import type { PlanReportDeps } from './plan-report.ts';
import { reportStatus } from './status-report.ts';
import { toAuditQuery, toRequestQuery } from './report-queries.ts';
import { answerUsage } from './usage-answer.ts';
import type { UsageDeps } from './usage-answer.ts';
import { originOf } from '../http/origin-of.ts';
import { segmentsBelow, toResourceRequest } from '../http/resource-exchange.ts';
import type { ResourceBodies } from '../http/resource-exchange.ts';
import type { HandlersOf } from './lazy-routes.ts';
import { ADMIN_AUDIT_PATH, ADMIN_REQUESTS_PATH } from './outlines.ts';
import type { REPORT_ROUTES } from './outlines.ts';

export interface AdminDeps
  extends GateDeps, PlanReportDeps, ResourceBodies, SpendingDeps, Pick<UsageDeps, 'usage'> {
  /** Makes this process serve every change that was committed before, or rejects. */
  catchUp(): Promise<void>;
}

/** Handlers of the resources of every organization and of the platform, by kind. */
export function adminKindHandlers(deps: AdminDeps): Readonly<Record<string, Handler>> {
  const { repository, spools, maxBodyBytes, resourceValues } = deps;
  const bodies = { spools, maxBodyBytes, resourceValues };
  const writes = new TurnQueue();
  const toHandler = (definition: ResourceDefinition): Handler => {
    const handle = createResourceHandler(definition, repository);
    return asAdmin(deps, async (exchange, principal) => {
      const { organizationId: organization, keyId: holder } = principal;
      const api = { path: definition.path, fromForm: definition.api?.fromForm };
      const request = toResourceRequest(api, exchange, { ...bodies, holder });
      const isWrite = exchange.request.method !== 'GET';
      // Many writes arrive together when somebody applies; inference must not wait for all of them.
      if (isWrite) await writes.enter();
      const by = originOf(exchange, principal);
      const reply = await handle({ ...request, organization, platform: true, by });
      // Whoever changes something and calls at once meets the change. What was written is written.
      if (isWrite) await deps.catchUp().catch(() => undefined);
      return { ...reply };
    });
  };
  return Object.fromEntries(
    repository.definitions.map((definition) => [definition.kind, toHandler(definition)]),
  );
}

/** Handlers of the reports under `/admin/v1`. */
export function reportHandlers(deps: AdminDeps): HandlersOf<typeof REPORT_ROUTES> {
  const { store } = deps;
  const to = (answer: (exchange: HttpExchange, principal: Principal) => Promise<object>): Handler =>
    asAdmin(deps, async (exchange, principal) => ({
      status: 200,
      body: await answer(exchange, principal),
    }));
  const { audit } = deps.repository;
  return {
    usage: to(({ search }) => answerUsage(search, deps)),
    routing: to(async ({ search }) => reportPlan(search, deps)),
    budgets: to(() => reportBudgets(null, deps)),
    spending: to(({ search }) => reportSpending(search, deps)),
    status: to(() => reportStatus(deps)),
    requests: to(async (exchange, principal) => {
      const page = await listRequests({ store }, toRequestQuery(exchange.search));
      await auditReads(page.data, { audit, origin: originOf(exchange, principal) });
      return page;
    }),
    request: to(async (exchange, principal) => {
      const [id = ''] = segmentsBelow(ADMIN_REQUESTS_PATH, exchange.path);
      const record = await getRequest({ store }, id);
      if (!record) throw new GatewayError('not_found', { message: `no request ${id}` });
      await auditReads([record], { audit, origin: originOf(exchange, principal) });
      return record;
    }),
    audit: to(({ search }) => listAudit(store, toAuditQuery(search))),
    verifyAudit: to(() => verifyAudit(store)),
    auditEntry: to(async ({ path }) => {
      const [id = ''] = segmentsBelow(ADMIN_AUDIT_PATH, path);
      const entry = await getAudit(store, id);
      if (!entry) throw new GatewayError('not_found', { message: `no audit entry ${id}` });
      return entry;
    }),
  };
}

/** Runs `handle` for an admitted key with the scope `admin`. */
export function asAdmin(
  deps: GateDeps,
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
