import { fromNanos } from '../../core/money.ts';
import type { Entry, Store } from '../../store/store.ts';
import { windowsOf } from '../spend/spend.ts';
import { OTHER } from '../sums/facet-names.ts';
import type { Days } from '../sums/day-digests.ts';
import { FOLDED, FOLDED_VALUE, PARTS, toPartPlace } from '../sums/parts.ts';
import type { Part } from '../sums/parts.ts';
import { readDaySums } from '../sums/read-day-sums.ts';
import type { DaySum } from '../sums/read-day-sums.ts';
import { readAllParts, readPartsOn, readValues } from '../sums/read-parts.ts';
import { readTotals, valueOf } from '../sums/read-totals.ts';
import { toUsageRecord } from './request-record.ts';
import type { UsageRecord } from './request-record.ts';
import { UsageGroups, withOther } from './usage-groups.ts';
import type { Members } from './usage-groups.ts';

/** Rows before the sums of the classes of use: requests, errors, estimated, cost. */
const CLASSES = 4;
/** Index of the sums in an entry of a digest. */
const ENTRY_SUMS = 2;
/** Index of the sum of the calls of unknown price, after the classes; older rows end before. */
const UNPRICED = 12;
/** Bound after all days. */
const LAST_DAY = '9999-12-31';
/** Reads that sums moved under, in a row. */
const MAX_ATTEMPTS = 10;

export const USAGE_GROUPS = [
  'organization',
  'day',
  'key',
  'model',
  'vendor',
  'agent',
  'service',
  'schedule',
  ...PARTS,
] as const;
/** A dimension: one of the list, the value of a label of keys, or of a tag of requests. */
export type UsageGroup = (typeof USAGE_GROUPS)[number] | `label:${string}` | `tag:${string}`;

export interface UsageQuery {
  /** Milliseconds since epoch; the whole UTC day counts. Default: from the beginning. */
  from?: number | undefined;
  /** Milliseconds since epoch, exclusive; the UTC day that holds the instant before it counts. Default: all. */
  to?: number | undefined;
  /** Default: one row with everything. Conversations and end users go only with day and organization. */
  groupBy?: readonly UsageGroup[] | undefined;
  organization?: string | undefined;
  /** Only the sums of these conversations. Default: of all use. */
  conversations?: readonly string[] | undefined;
  /**
   * Most rows; those that cost least are one row whose last group is `other`, or one of each day where
   * days are asked for. Default: all.
   */
  limit?: number | undefined;
}

/** Sums of one group; the members that were grouped by are added, null for none. */
export interface UsageReportRow extends Partial<Record<UsageGroup, string | null>> {
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
 * Reports usage and costs by dimension, only from sums; the rows add up to the total. A request counts on the
 * UTC day that it began. Rejects with `StoreError`.
 */
export async function usageReport(
  { store }: { store: Store },
  query: UsageQuery,
): Promise<UsageReportRow[]> {
  const { groupBy = [], conversations, limit } = query;
  const part =
    conversations === undefined ? PARTS.find((one) => groupBy.includes(one)) : 'conversation';
  const groups = part ? await partGroups(store, query, part) : await totalGroups(store, query);
  const told = withOther(groups.list(), groupBy, limit);
  return told.map(({ members, sums }) => toReportRow(members, sums));
}

/** Days that a query is about. */
function daysOf({ from, to }: UsageQuery): Days {
  return {
    first: from === undefined ? '' : windowsOf(from).day,
    last: to === undefined ? LAST_DAY : windowsOf(to - 1).day,
  };
}

async function totalGroups(store: Store, query: UsageQuery): Promise<UsageGroups> {
  const { groupBy = [], organization } = query;
  const dimensions = groupBy.filter((group) => group !== 'organization' && group !== 'day');
  const [dimension] = dimensions;
  const days = daysOf(query);
  const groups = new UsageGroups(groupBy);
  let counted: readonly Days[] = [days];
  if (dimensions.length <= 1) {
    const digested = await readDaySums(store, { ...days, dimension });
    counted = digested.rest;
    for (const day of digested.days) addEntries(groups, day, { organization, dimension });
  }
  const withFacets = dimensions.some((group) => group !== 'key' && group !== 'model');
  for (const part of counted)
    for (const total of await readTotals(store, { ...part, organization, withFacets })) {
      const { organization: owner, day, sums } = total;
      const values = dimensions.map((group) => [group, valueOf(total, group) ?? null]);
      groups.add({ organization: owner, day, ...Object.fromEntries(values) }, sums);
    }
  return groups;
}

/** The sums by value of a dimension, and the rest of the total: that of requests without a value. */
async function partGroups(store: Store, query: UsageQuery, part: Part): Promise<UsageGroups> {
  for (let attempt = 1; ; attempt++) {
    const before = await store.get(FOLDED);
    const groups = await readParts(store, query, part);
    const after = await store.get(FOLDED);
    // Sums that moved from row to row meanwhile may be missing, or in there twice.
    if (before?.version === after?.version || attempt === MAX_ATTEMPTS) return groups;
  }
}

async function readParts(store: Store, query: UsageQuery, part: Part): Promise<UsageGroups> {
  const { groupBy = [], organization, conversations } = query;
  const days = daysOf(query);
  const groups = new UsageGroups(groupBy);
  const add = (row: Members, sums: readonly number[]): void => {
    if (organization === undefined || row['organization'] === organization) groups.add(row, sums);
  };
  const addRows = (rows: readonly Entry<number[]>[], isApart: boolean): void => {
    for (const { key, value } of rows) {
      const { organization: owner, day, value: name } = toPartPlace(key);
      const row = { organization: owner, day, [part]: toShown(name) };
      if (day < days.first || day > days.last) continue;
      add(row, value);
      if (!isApart) continue;
      add(
        { ...row, [part]: null },
        value.map((amount) => -amount),
      );
    }
  };
  if (conversations !== undefined) {
    addRows(await readValues(store, part, { organization, values: conversations }), false);
    return groups;
  }
  const digested = await readDaySums(store, { ...days, dimension: part });
  for (const day of digested.days) addEntries(groups, day, { organization, dimension: part });
  for (const range of digested.rest) {
    const some = { ...range, organization };
    addRows(
      digested.isEntered ? await readPartsOn(store, part, some) : await readAllParts(store, part),
      true,
    );
    // The total is read last: it includes calls counted meanwhile.
    for (const total of await readTotals(store, { ...some, withFacets: false }))
      add({ organization: total.organization, day: total.day, [part]: null }, total.sums);
  }
  return groups;
}

const toShown = (value: string): string => (value === FOLDED_VALUE ? OTHER : value);

/** Adds the entries of a day that is over. */
function addEntries(
  groups: UsageGroups,
  { day, entries, isParted }: DaySum,
  { organization, dimension }: Pick<UsageQuery, 'organization'> & { dimension: string | undefined },
): void {
  const isOfParts = PARTS.some((part) => part === dimension);
  const row: Members = { day };
  for (const entry of entries) {
    const [owner, value] = [entry[0], isParted ? entry[1] : null];
    if (organization !== undefined && owner !== organization) continue;
    row['organization'] = owner;
    if (dimension !== undefined)
      row[dimension] = isOfParts && value !== null ? toShown(value) : value;
    groups.add(row, entry, ENTRY_SUMS);
  }
}

function toReportRow(members: Members, sums: readonly number[]): UsageReportRow {
  const [requests = 0, errors = 0, estimated = 0, cost = 0] = sums;
  const usage = toUsageRecord(sums.slice(CLASSES));
  const unpriced = sums[UNPRICED] ?? 0;
  const told = unpriced > 0 && cost === 0 ? null : fromNanos(cost);
  return { ...members, requests, errors, estimated, unpriced, usage, cost: told };
}
