import { hasStrings, isPageOf } from './guards.ts';
import type { Http } from './http.ts';

/** Counts of one group; the members that were grouped by stand beside these. Money in decimal USD. */
export interface UsageRow {
  requests: number;
  errors: number;
  cost: string;
  [field: string]: unknown;
}

export interface UsageQuery {
  /** Any of `key`, `model`, `day`, `organization`. */
  groupBy: readonly string[];
  /** RFC 3339 or a date; inclusive. */
  from?: string | undefined;
  to?: string | undefined;
  organization?: string | undefined;
}

export interface UsageClient {
  report(query: UsageQuery, signal?: AbortSignal): Promise<UsageRow[]>;
}

const isRow = hasStrings<UsageRow>('cost');

export function createUsageClient(http: Http): UsageClient {
  return {
    async report({ groupBy, ...rest }, signal) {
      const query = { group_by: groupBy.join(','), ...rest };
      const call = { method: 'GET', path: '/admin/v1/usage', query, signal };
      return (await http.json(call, isPageOf(isRow))).body.data;
    },
  };
}
