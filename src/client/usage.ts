import { hasStrings, isPageOf, isRecord } from './http/guards.ts';
import type { Http } from './http/http.ts';

/** Counts of one group; the members that were grouped by come in addition to these. Money in decimal USD. */
export interface UsageRow {
  requests: number;
  errors: number;
  /** Requests whose price is unknown; absent from older gateways. */
  unpriced?: number;
  /** Null where nothing is known of it. */
  cost: string | null;
  [field: string]: unknown;
}

export interface UsageQuery {
  /** Dimensions: `key`, `model`, `day`, `conversation`, `label:NAME` … */
  groupBy: readonly string[];
  /** `2026-11`, in place of `from` and `to`. */
  month?: string | undefined;
  /** RFC 3339 or a date; inclusive. */
  from?: string | undefined;
  to?: string | undefined;
  organization?: string | undefined;
  /** Only the use of one conversation. */
  conversation?: string | undefined;
  /** Most rows; the others are one row, `other`. */
  limit?: number | undefined;
}

/** Cost of the running month in decimal USD: so far, and as it will be at its end; null: unknown. */
export interface UsageForecast {
  month: string;
  spent: string | null;
  cost: string | null;
  /** Calls without a known price, which are in neither; absent from older gateways. */
  unpriced?: number;
}

export interface UsageReport {
  rows: UsageRow[];
  /** Null unless the running month was asked for; absent from older gateways. */
  forecast: UsageForecast | null;
}

/** Spending of one key or organization in decimal USD, and its last use. */
export interface SpendingView {
  spent: { lifetime: string; month: string; day: string };
  reserved: string;
  /** Beginning of the last request, RFC 3339; null when its record is gone. */
  last_used_at: string | null;
  /** UTC day of the last request; null for none. */
  last_used_on: string | null;
}

/** A budget and its running window; newer servers may add fields. */
export interface BudgetSpendingView {
  id: string;
  name: string;
  organization?: string | null;
  organization_name?: string | null;
  enabled: boolean;
  per: string;
  /** RFC 3339; null for a lifetime. */
  resets_at: string | null;
  amount: string;
  spent: string;
  reserved: string;
  left: string;
  [field: string]: unknown;
}

export interface UsageClient {
  /** Budgets of all organizations with their rest. */
  budgets(signal?: AbortSignal): Promise<BudgetSpendingView[]>;
  /** Spending of the key or the organization with this id. */
  spending(
    of: { key: string } | { organization: string },
    signal?: AbortSignal,
  ): Promise<SpendingView>;
  report(query: UsageQuery, signal?: AbortSignal): Promise<UsageReport>;
}

function isRow(value: unknown): value is UsageRow {
  return isRecord(value) && (value['cost'] === null || typeof value['cost'] === 'string');
}

function isSpending(value: unknown): value is SpendingView & Record<string, unknown> {
  return isRecord(value) && isRecord(value['spent']);
}

export const isBudgetPage = isPageOf(
  hasStrings<BudgetSpendingView>('id', 'name', 'per', 'amount', 'spent', 'left'),
);

export function createUsageClient(http: Http): UsageClient {
  return {
    async budgets(signal) {
      const call = { method: 'GET', path: '/admin/v1/spending/budgets', signal };
      return (await http.json(call, isBudgetPage)).body.data;
    },
    async spending(of, signal) {
      const call = { method: 'GET', path: '/admin/v1/spending', query: { ...of }, signal };
      const { spent, reserved, last_used_at, last_used_on } = (await http.json(call, isSpending))
        .body;
      return { spent, reserved, last_used_at, last_used_on };
    },
    async report({ groupBy, ...rest }, signal) {
      const query = { group_by: groupBy.join(','), ...rest };
      const call = { method: 'GET', path: '/admin/v1/usage', query, signal };
      return toReport((await http.json(call, isUsagePage)).body);
    },
  };
}

export const isUsagePage = isPageOf(isRow);

/** Reads the answer of either path of use. */
export function toReport(body: { data: UsageRow[]; forecast?: UsageForecast | null }): UsageReport {
  return { rows: body.data, forecast: body.forecast ?? null };
}
