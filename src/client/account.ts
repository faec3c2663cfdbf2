import { hasStrings, isPageOf } from './http/guards.ts';
import type { Http } from './http/http.ts';
import { eachItem } from './http/pages.ts';
import { followRequests } from './request-events.ts';
import type { FollowOptions, RequestsEvent } from './request-events.ts';
import { isBudgetPage, isUsagePage, toReport } from './usage.ts';
import type { BudgetSpendingView, UsageQuery, UsageReport } from './usage.ts';

/** Money of the caller's organization, as decimal strings of `currency`. */
export interface BalanceView {
  currency: string;
  /** `credit` less `spent`. */
  balance: string;
  credit: string;
  /** Null without a limit. */
  spending_limit: string | null;
  spent: string;
  [field: string]: unknown;
}

/** One call of the caller's organization; newer servers may add fields. */
export interface ExecutionView {
  id: string;
  created_at: string;
  surface: string;
  model: string;
  status: number | null;
  result: string;
  /** Decimal USD; null where the price is unknown. */
  cost: string | null;
  total_ms: number | null;
  [field: string]: unknown;
}

export interface ExecutionsQuery {
  model?: string | undefined;
  status?: string | undefined;
  /** RFC 3339. */
  from?: string | undefined;
  to?: string | undefined;
  limit?: number | undefined;
}

/** Calls that a key of the scope `account` may make for its own organization. */
export interface AccountClient {
  balance(signal?: AbortSignal): Promise<BalanceView>;
  /** Budgets of the organization with their rest. */
  budgets(signal?: AbortSignal): Promise<BudgetSpendingView[]>;
  usage(query: Omit<UsageQuery, 'organization'>, signal?: AbortSignal): Promise<UsageReport>;
  /** Newest first, all pages followed. */
  executions(
    query?: ExecutionsQuery,
    signal?: AbortSignal,
  ): AsyncGenerator<ExecutionView, void, undefined>;
  execution(id: string, signal?: AbortSignal): Promise<ExecutionView>;
  /** Rows as calls begin and end; ends with the connection, and continues after `after`. */
  followExecutions(
    query?: ExecutionsQuery,
    options?: FollowOptions,
  ): AsyncGenerator<RequestsEvent<ExecutionView>, void, undefined>;
}

const PATH = '/v1/account';
const isBalance = hasStrings<BalanceView>('currency', 'balance', 'credit', 'spent');
const isExecution = hasStrings<ExecutionView>('id', 'created_at');

export function createAccountClient(http: Http): AccountClient {
  return {
    async budgets(signal) {
      return (await http.json({ method: 'GET', path: `${PATH}/budgets`, signal }, isBudgetPage))
        .body.data;
    },
    async balance(signal) {
      return (await http.json({ method: 'GET', path: `${PATH}/balance`, signal }, isBalance)).body;
    },
    async usage({ groupBy, ...rest }, signal) {
      const query = { group_by: groupBy.join(','), ...rest };
      const call = { method: 'GET', path: `${PATH}/usage`, query, signal };
      return toReport((await http.json(call, isUsagePage)).body);
    },
    executions: (query, signal) =>
      eachItem(async (page) => {
        const call = {
          method: 'GET',
          path: `${PATH}/executions`,
          query: { ...query, page },
          signal,
        };
        return (await http.json(call, isPageOf(isExecution))).body;
      }),
    async execution(id, signal) {
      const path = `${PATH}/executions/${encodeURIComponent(id)}`;
      return (await http.json({ method: 'GET', path, signal }, isExecution)).body;
    },
    followExecutions: (query, options = {}) =>
      followRequests(
        http,
        {
          path: `${PATH}/executions/events`,
          query: { ...query },
          isRow: hasStrings<ExecutionView>('id', 'created_at'),
        },
        options,
      ),
  };
}
