import { fromNanos } from '../../core/money.ts';
import type { Store } from '../../store/store.ts';
import { USAGE } from '../ledger/ledger-keys.ts';
import { readRows } from '../ledger/read-rows.ts';
import { toUsageRecord } from './request-record.ts';
import type { UsageRecord } from './request-record.ts';
import { windowsOf } from '../spend/spend.ts';

/** Rows before the sums of the classes of use: requests, errors, estimated, cost. */
const CLASSES = 4;
/** Place of the sum of the calls of unknown price, behind the classes; older rows end before. */
const UNPRICED = 12;

export const USAGE_GROUPS = ['organization', 'day', 'key', 'model'] as const;
export type UsageGroup = (typeof USAGE_GROUPS)[number];

export interface UsageQuery {
  /** Milliseconds since epoch; the whole UTC day counts. Default: from the beginning. */
  from?: number | undefined;
  /** Milliseconds since epoch, exclusive; the UTC day that holds the instant before it counts. Default: all. */
  to?: number | undefined;
  /** Default: one row with everything. */
  groupBy?: readonly UsageGroup[] | undefined;
  organization?: string | undefined;
}

/** Sums of one group; the members that were grouped by stand beside them. */
export interface UsageReportRow extends Partial<Record<UsageGroup, string>> {
  requests: number;
  errors: number;
  /** Requests whose usage is the gateway's estimate. */
  estimated: number;
  usage: UsageRecord;
  /** Requests whose price is unknown; their cost is in no sum. */
  unpriced: number;
  /** Decimal dollars; null where nothing is known of the cost. */
  cost: string | null;
}

/**
 * Reports usage and costs, by UTC day, key, model or organization, in that order of keys. A request
 * counts on the day that it began. Rejects with `StoreError`.
 */
export async function usageReport(
  { store }: { store: Store },
  { from, to, groupBy = [], organization }: UsageQuery,
): Promise<UsageReportRow[]> {
  const first = from === undefined ? '' : windowsOf(from).day;
  const last = to === undefined ? '9999-12-31' : windowsOf(to - 1).day;
  const groups = new Map<string, { members: Record<string, string>; sums: number[] }>();
  const prefix = organization === undefined ? USAGE : [...USAGE, organization];
  for await (const { key, value } of readRows<number[]>(store, prefix)) {
    const [, org, day, keyId, model] = key.map(String);
    const row: Record<string, string> = {
      organization: org ?? '',
      day: day ?? '',
      key: keyId ?? '',
      model: model ?? '',
    };
    if (day === undefined || day < first || day > last) continue;
    const members = Object.fromEntries(groupBy.map((group) => [group, row[group] ?? '']));
    const name = JSON.stringify(members);
    const group = groups.get(name) ?? { members, sums: [] };
    groups.set(name, group);
    value.forEach((amount, index) => (group.sums[index] = (group.sums[index] ?? 0) + amount));
  }
  return Array.from(groups, ([name, group]) => ({ name, ...group }))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ members, sums }) => toReportRow(members, sums));
}

function toReportRow(members: Record<string, string>, sums: readonly number[]): UsageReportRow {
  const [requests = 0, errors = 0, estimated = 0, cost = 0] = sums;
  const usage = toUsageRecord(sums.slice(CLASSES));
  const unpriced = sums[UNPRICED] ?? 0;
  const told = unpriced > 0 && cost === 0 ? null : fromNanos(cost);
  return { ...members, requests, errors, estimated, unpriced, usage, cost: told };
}
