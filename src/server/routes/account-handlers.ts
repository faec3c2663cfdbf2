import type { Use } from '../../core/access.ts';
import type { Clock } from '../../core/time/clock.ts';
import { GatewayError } from '../../core/errors.ts';
import { fromNanos, toNanos } from '../../core/money.ts';
import { organization } from '../../resources/kinds/organization.ts';
import type { Store } from '../../store/store.ts';
import type { Handler, HttpExchange } from '../../surfaces/http-exchange.ts';
import { readSpend } from '../../usage/spend/read-spend.ts';
import { getRequest, listRequests } from '../../usage/requests/request-log.ts';
import type { RequestRecord } from '../../usage/requests/request-record.ts';
import { reportBudgets } from './budget-report.ts';
import { forOrganization } from './organization-routes.ts';
import type { OrganizationDeps } from './organization-routes.ts';
import { toRequestQuery } from './report-queries.ts';
import { answerUsage } from './usage-answer.ts';
import type { UsageDeps } from './usage-answer.ts';
import { segmentsBelow } from '../http/resource-exchange.ts';
import type { HandlersOf } from './lazy-routes.ts';
import { EXECUTIONS_PATH } from './outlines.ts';
import type { ACCOUNT_ROUTES } from './outlines.ts';

export interface AccountRoutesDeps extends OrganizationDeps, Pick<UsageDeps, 'usage'> {
  readonly store: Store;
  readonly clock: Clock;
}

/** Money of an organization; decimal strings of `currency`, UTC windows. */
export interface BalanceView {
  readonly currency: 'USD';
  /** `credit` less `spent`; below zero is use without prepayment. */
  readonly balance: string;
  /** Amount that was paid or granted in advance. */
  readonly credit: string;
  /** The longest window that is limited (lifetime, month, day); null without a limit. */
  readonly spending_limit: string | null;
  /** Ever, and settled. */
  readonly spent: string;
  /** Amount that calls under way may still cost. */
  readonly reserved: string;
  /** Spending in the windows that limits can have, and those limits. */
  readonly windows: Readonly<Record<WindowName, { limit: string | null; spent: string }>>;
}

const MAX_PAGE = 100;
const WINDOWS = ['lifetime', 'month', 'day'] as const;
type WindowName = (typeof WINDOWS)[number];

/** Handlers of what keys with the scope `account` see of their organization's account. */
export function accountHandlers(deps: AccountRoutesDeps): HandlersOf<typeof ACCOUNT_ROUTES> {
  const to = (
    use: Use,
    answer: (exchange: HttpExchange, owner: string) => Promise<object>,
  ): Handler =>
    forOrganization({ scope: 'account', use }, deps, async (exchange, { organizationId }) => ({
      status: 200,
      body: await answer(exchange, organizationId),
    }));
  const { store } = deps;
  return {
    balance: to('costs', (_exchange, owner) => balanceOf(owner, deps)),
    usage: to('costs', ({ search }, owner) => answerUsage(search, deps, owner)),
    budgets: to('costs', (_exchange, owner) => reportBudgets(owner, deps)),
    list: to('read', async ({ search }, owner) => {
      // Which provider had a part in a call is not shown here.
      const { provider: _provider, ...query } = toRequestQuery(search);
      const limit = query.limit && Math.min(query.limit, MAX_PAGE);
      const page = await listRequests({ store }, { ...query, limit, organization: owner });
      return { ...page, data: page.data.map(toExecution) };
    }),
    get: to('read', async ({ path }, owner) => {
      const [id = ''] = segmentsBelow(EXECUTIONS_PATH, path);
      const record = await getRequest({ store }, id);
      if (record?.organization === owner) return toExecution(record);
      throw new GatewayError('not_found', { message: 'execution not found' });
    }),
  };
}

async function balanceOf(
  id: string,
  { repository, store, clock }: AccountRoutesDeps,
): Promise<BalanceView> {
  const { spec } = await repository.get(organization, id, { organization: null });
  const limits = (spec['spending_limit'] ?? {}) as Partial<Record<WindowName, string>>;
  const credit = (spec['credit'] as string | null) ?? fromNanos(0);
  const spend = await readSpend({ store }, { kind: 'organization', id }, clock.now());
  const { settled, reserved } = spend.lifetime;
  const windows = WINDOWS.map((name) => [
    name,
    { limit: limits[name] ?? null, spent: fromNanos(spend[name].settled) },
  ]);
  return {
    currency: 'USD',
    balance: fromNanos(toNanos(credit) - settled),
    credit,
    spending_limit: limits.lifetime ?? limits.month ?? limits.day ?? null,
    spent: fromNanos(settled),
    reserved: fromNanos(reserved),
    windows: Object.fromEntries(windows) as BalanceView['windows'],
  };
}

/** A request as its own organization sees it: neither content nor how it was routed. */
export type ExecutionView = Omit<
  RequestRecord,
  'content' | 'organization' | 'answered_by' | 'attempts' | 'losses' | 'overhead_us'
> & { readonly type: 'execution' };

/** Named one by one: a member that records gain later is not shown by accident. */
export function toExecution(record: RequestRecord): ExecutionView {
  return {
    id: record.id,
    type: 'execution',
    created_at: record.created_at,
    key: record.key,
    surface: record.surface,
    model: record.model,
    alias: record.alias,
    stream: record.stream,
    conversation: record.conversation,
    end_user: record.end_user,
    tags: record.tags,
    status: record.status,
    result: record.result,
    error_code: record.error_code,
    ...(record.refused_by && { refused_by: record.refused_by }),
    usage: record.usage,
    estimated: record.estimated,
    ...(record.reserved !== undefined && { reserved: record.reserved }),
    cost: record.cost,
    first_content_ms: record.first_content_ms,
    total_ms: record.total_ms,
  };
}
