import { getAudit, listAudit } from '../../audit/read-audit.ts';
import { verifyAudit } from '../../audit/verify-audit.ts';
import { allows } from '../../core/access.ts';
import type { Use } from '../../core/access.ts';
import { GatewayError } from '../../core/errors.ts';
import { createOwnRecord } from '../../core/process/runtime-file.ts';
import { systemClock } from '../../core/time/clock.ts';
import { TurnQueue } from '../../core/turns/turn-queue.ts';
import { createLimitWarnings } from '../../routing/small-limits.ts';
import type { ResourceDefinition } from '../../resources/store/define-resource.ts';
import { createResourceHandler } from '../../resources/store/handlers.ts';
import { readKey } from '../../surfaces/carriers.ts';
import { admitCall } from '../../surfaces/admit-call.ts';
import type { GateDeps, Need } from '../../surfaces/gate.ts';
import type { Handler, HttpExchange } from '../../surfaces/http-exchange.ts';
import type { Principal } from '../../usage/principal.ts';
import { getRequest, listRequests } from '../../usage/requests/request-log.ts';
import type { RequestRecord } from '../../usage/requests/request-record.ts';
import { reportBudgets } from './budget-report.ts';
import { reportSpending } from './spending-report.ts';
import type { SpendingDeps } from './spending-report.ts';
import { reportPlan } from './plan-report.ts';
import type { PlanReportDeps } from './plan-report.ts';
import { reportStatus } from './status-report.ts';
import type { StatusDeps } from './status-report.ts';
import { toAuditQuery, toRequestQuery } from './report-queries.ts';
import { answerUsage } from './usage-answer.ts';
import type { ServerConfig } from '../../config/schema/server-config.ts';
import type { ActiveExchanges } from '../../inference/active-exchanges.ts';
import type { UsageDeps } from './usage-answer.ts';
import { originOf } from '../../audit/origin-of.ts';
import { segmentsBelow, toResourceRequest } from '../http/resource-exchange.ts';
import type { ResourceBodies } from '../http/resource-exchange.ts';
import { kindUse } from './kind-handlers.ts';
import { rightsOf, useOf } from './organization-routes.ts';
import type { OrganizationNeed } from './organization-routes.ts';
import type { HandlersOf } from './lazy-routes.ts';
import { ADMIN_AUDIT_PATH, ADMIN_REQUESTS_PATH } from './outlines.ts';
import type { REPORT_ROUTES } from './outlines.ts';
import type { AuditLog } from '../../audit/audit-log.ts';
import type { Origin } from '../../audit/audit-entry.ts';

export interface AdminDeps
  extends GateDeps, PlanReportDeps, ResourceBodies, SpendingDeps, Pick<UsageDeps, 'usage'> {
  /** Exchanges of model calls, which go before changes. */
  readonly active: Pick<ActiveExchanges, 'begun'>;
  readonly config: StatusDeps['config'] & {
    readonly limits: Pick<ServerConfig['limits'], 'outputTokensBound'>;
  };
  /** Makes this process serve every change that was committed before, or rejects. */
  catchUp(): Promise<void>;
}

/** Handlers of the resources of every organization and of the platform, by kind. */
export function adminKindHandlers(deps: AdminDeps): Readonly<Record<string, Handler>> {
  const { repository, spools, maxBodyBytes, resourceValues } = deps;
  const bodies = { spools, maxBodyBytes, resourceValues };
  // Ticks of the event loop take real time, whatever clock the gateway goes by.
  const writes = new TurnQueue({ clock: systemClock, others: () => deps.active.begun });
  const warningsOf = createLimitWarnings(deps.catalog, deps.config.limits.outputTokensBound);
  const toHandler = (definition: ResourceDefinition): Handler => {
    const handle = createResourceHandler(definition, repository);
    const use = (exchange: HttpExchange): Use => kindUse(definition, definition.path, exchange);
    return asAdmin(use, deps, async (exchange, principal) => {
      const { organizationId: organization, keyId: holder } = principal;
      const api = { path: definition.path, fromForm: definition.api?.fromForm };
      const request = toResourceRequest(api, exchange, { holder, ...bodies });
      const isWrite = exchange.request.method !== 'GET';
      // An apply sends many writes at once; inference must not wait for all of them.
      if (isWrite) await writes.enter();
      const by = originOf(exchange, principal);
      const rights = rightsOf(principal);
      const reply = await handle({ ...request, organization, platform: true, by, rights });
      // A call right after the change must meet it. The write itself has succeeded whatever comes here.
      if (isWrite) await deps.catchUp().catch(() => undefined);
      const warnings = isWrite ? warningsOf(definition.collection, reply.body) : [];
      if (reply.body && warnings.length > 0) Object.assign(reply.body, { warnings });
      return { ...reply };
    });
  };
  return Object.fromEntries(
    repository.definitions.map((definition) => [definition.kind, toHandler(definition)]),
  );
}

/** Notes the reading of kept content, or leaves it out for a role that may not read it. */
type ShowRecords = (
  records: readonly RequestRecord[],
  exchange: HttpExchange,
  principal: Principal,
) => Promise<readonly RequestRecord[]>;

/** Handlers of the reports under `/admin/v1`. */
export function reportHandlers(deps: AdminDeps): HandlersOf<typeof REPORT_ROUTES> {
  const { store } = deps;
  const to = (
    use: Use,
    answer: (exchange: HttpExchange, principal: Principal) => Promise<object>,
  ): Handler =>
    asAdmin(use, deps, async (exchange, principal) => ({
      status: 200,
      body: await answer(exchange, principal),
    }));
  const { audit } = deps.repository;
  // Where the system has no /proc, `ps` is asked for the start of a process: once.
  const ownRecord = createOwnRecord();
  const shown: ShowRecords = async (records, exchange, principal) => {
    if (!allows(principal.role, 'content'))
      return records.map(({ content: _content, ...record }) => record);
    await auditReads(records, { audit, origin: originOf(exchange, principal) });
    return records;
  };
  return {
    usage: to('costs', ({ search }) => answerUsage(search, deps)),
    routing: to('read', async ({ search }) => reportPlan(search, deps)),
    budgets: to('costs', () => reportBudgets(null, deps)),
    spending: to('costs', ({ search }) => reportSpending(search, deps)),
    status: to('read', () => reportStatus({ ...deps, ownRecord })),
    requests: to('read', async (exchange, principal) => {
      const page = await listRequests({ store }, toRequestQuery(exchange.search));
      const data = await shown(page.data, exchange, principal);
      return { ...page, data };
    }),
    request: to('read', async (exchange, principal) => {
      const [id = ''] = segmentsBelow(ADMIN_REQUESTS_PATH, exchange.path);
      const record = await getRequest({ store }, id);
      if (!record) throw new GatewayError('not_found', { message: `no request ${id}` });
      const [view = record] = await shown([record], exchange, principal);
      return view;
    }),
    audit: to('read', ({ search }) => listAudit(store, toAuditQuery(search))),
    verifyAudit: to('read', () => verifyAudit(store)),
    auditEntry: to('read', async ({ path }) => {
      const [id = ''] = segmentsBelow(ADMIN_AUDIT_PATH, path);
      const entry = await getAudit(store, id);
      if (!entry) throw new GatewayError('not_found', { message: `no audit entry ${id}` });
      return entry;
    }),
  };
}

/** Runs `handle` for an admitted key with the scope `admin` and a role that allows the use. */
export function asAdmin(
  use: OrganizationNeed['use'],
  deps: GateDeps,
  handle: (exchange: HttpExchange, principal: Principal) => ReturnType<Handler>,
): Handler {
  return async (exchange) => {
    const key = readKey(['bearer'], exchange.request.headers, exchange.search);
    const need: Need = { scope: 'admin', use: useOf(use, exchange) };
    const { principal, leave } = await admitCall(exchange, { key, need }, deps);
    try {
      return await handle(exchange, principal);
    } finally {
      leave();
    }
  };
}

/**
 * Notes before they are shown which records with kept content are read. Those of one organization share
 * an entry. Rejects with `StoreError`.
 */
async function auditReads(
  records: readonly RequestRecord[],
  { audit, origin }: { audit: Pick<AuditLog, 'record'>; origin: Origin },
): Promise<void> {
  const read = new Map<string, RequestRecord[]>();
  for (const record of records) {
    if (!record.content) continue;
    read.set(record.organization, [...(read.get(record.organization) ?? []), record]);
  }
  for (const [organization, found] of read) {
    const [first, ...others] = found;
    if (!first) continue;
    const ids = others.map(({ id }) => id);
    await audit.record({
      origin,
      action: 'read',
      object: { kind: 'request', id: first.id, name: null },
      organization,
      changes: ids.length === 0 ? [] : [{ path: 'also_read', old: null, new: ids }],
    });
  }
}
