import { fromNanos } from '../../core/money.ts';
import type { Store } from '../../store/store.ts';
import { USAGE } from '../ledger/ledger-keys.ts';
import { readRows } from '../ledger/read-rows.ts';
import { windowsOf } from '../spend/spend.ts';
import { OTHER } from '../sums/facet-names.ts';
import { FACETS } from '../sums/facets.ts';
import type { Facets } from '../sums/facets.ts';
import { FOLDED, FOLDED_VALUE, PARTS, toPartPlace, USAGE_BY } from '../sums/parts.ts';
import type { Part } from '../sums/parts.ts';
import { toTotalsPlace } from '../sums/totals.ts';
import { toUsageRecord } from './request-record.ts';
import type { UsageRecord } from './request-record.ts';

/** Rows before the sums of the classes of use: requests, errors, estimated, cost. */
const CLASSES = 4;
/** Place of the cost in the sums. */
const COST = 3;
/** Place of the sum of the calls of unknown price, behind the classes; older rows end before. */
const UNPRICED = 12;
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
  /** Default: one row with everything. A conversation or an end user goes with the day and the organization alone. */
  groupBy?: readonly UsageGroup[] | undefined;
  organization?: string | undefined;
  /** The sums of one conversation alone. */
  conversation?: string | undefined;
  /**
   * Most rows; those that cost least are one row whose last group is `other`, or one of each day where
   * days are asked for. Default: all.
   */
  limit?: number | undefined;
}

/** Sums of one group; the members that were grouped by stand beside them, null for none. */
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

type Members = Record<string, string | null>;

interface Group {
  readonly members: Members;
  readonly sums: number[];
}

/** Sums by the JSON text of their members. */
class Groups {
  readonly #groups = new Map<string, Group>();

  add(members: Members, amounts: readonly number[]): void {
    const name = JSON.stringify(members);
    let group = this.#groups.get(name);
    if (!group) this.#groups.set(name, (group = { members, sums: [] }));
    const { sums } = group;
    for (const [index, amount] of amounts.entries()) sums[index] = (sums[index] ?? 0) + amount;
  }

  /** Groups in the order of their members; none where nothing is left. */
  list(): Group[] {
    return Array.from(this.#groups, ([name, group]) => ({ name, group }))
      .filter(({ group: { sums } }) => sums.some((amount) => amount !== 0))
      .sort((a, b) => (a.name < b.name ? -1 : 1))
      .map(({ group }) => group);
  }
}

/**
 * Reports usage and costs by dimension, from sums alone; the rows add up to the total. A request counts
 * on the UTC day that it began. Rejects with `StoreError`.
 */
export async function usageReport(
  { store }: { store: Store },
  query: UsageQuery,
): Promise<UsageReportRow[]> {
  const { groupBy = [], conversation, limit } = query;
  const part =
    conversation === undefined ? PARTS.find((one) => groupBy.includes(one)) : 'conversation';
  const groups = part ? await partGroups(store, query, part) : await totalGroups(store, query);
  const listed = groups.list();
  const told = limit === undefined ? listed : withOther(listed, groupBy.at(-1), limit);
  return told.map(({ members, sums }) => toReportRow(members, sums));
}

/** Days that a query is about. */
function daysOf({ from, to }: UsageQuery): (day: string) => boolean {
  const first = from === undefined ? '' : windowsOf(from).day;
  const last = to === undefined ? '9999-12-31' : windowsOf(to - 1).day;
  return (day) => day >= first && day <= last;
}

async function totalGroups(store: Store, query: UsageQuery): Promise<Groups> {
  const { groupBy = [], organization } = query;
  const isAsked = daysOf(query);
  const facets = await readFacets(store, groupBy);
  const groups = new Groups();
  const prefix = organization === undefined ? USAGE : [...USAGE, organization];
  for await (const { key, value } of readRows<number[]>(store, prefix)) {
    const { digest, ...place } = toTotalsPlace(key);
    if (!isAsked(place.day)) continue;
    const own = digest === undefined ? undefined : facets.get(digest);
    const row: Members = { ...place };
    groups.add(
      Object.fromEntries(groupBy.map((group) => [group, row[group] ?? facetIn(own, group)])),
      value,
    );
  }
  return groups;
}

const PLACE_GROUPS: ReadonlySet<string> = new Set(['organization', 'day', 'key', 'model']);

/** Read only where a dimension needs them. */
async function readFacets(
  store: Store,
  groupBy: readonly UsageGroup[],
): Promise<ReadonlyMap<string, Facets>> {
  const facets = new Map<string, Facets>();
  if (groupBy.every((group) => PLACE_GROUPS.has(group))) return facets;
  for await (const { key, value } of readRows<Facets>(store, FACETS))
    facets.set(String(key[1]), value);
  return facets;
}

function facetIn(facets: Facets | undefined, group: UsageGroup): string | null {
  if (!facets) return null;
  const [kind, name] = split(group);
  if (kind === 'label') return facets.labels?.[name] ?? null;
  if (kind === 'tag') return facets.tags?.[name] ?? null;
  const value = facets[group as 'vendor' | 'agent' | 'service' | 'schedule'];
  return value ?? null;
}

function split(group: string): [kind: string, name: string] {
  const at = group.indexOf(':');
  return at < 0 ? [group, ''] : [group.slice(0, at), group.slice(at + 1)];
}

/** The sums by value of a dimension, and the rest of the total: that of requests without a value. */
async function partGroups(store: Store, query: UsageQuery, part: Part): Promise<Groups> {
  for (let attempt = 1; ; attempt++) {
    const before = await store.get(FOLDED);
    const groups = await readParts(store, query, part);
    const after = await store.get(FOLDED);
    // Sums that moved from row to row meanwhile may be missing, or in there twice.
    if (before?.version === after?.version || attempt === MAX_ATTEMPTS) return groups;
  }
}

async function readParts(store: Store, query: UsageQuery, part: Part): Promise<Groups> {
  const { groupBy = [], organization, conversation } = query;
  const isAsked = daysOf(query);
  const groups = new Groups();
  const prefix = [
    ...USAGE_BY,
    part,
    ...(organization === undefined ? [] : [organization]),
    ...(organization === undefined || conversation === undefined ? [] : [conversation]),
  ];
  const byGroup = (row: Members): Members =>
    Object.fromEntries(groupBy.map((group) => [group, row[group] ?? null]));
  for await (const { key, value } of readRows<number[]>(store, prefix)) {
    const place = toPartPlace(key);
    if (!isAsked(place.day)) continue;
    if (conversation !== undefined && place.value !== conversation) continue;
    const shown = place.value === FOLDED_VALUE ? OTHER : place.value;
    const row = { organization: place.organization, day: place.day, [part]: shown };
    const members = byGroup(row);
    groups.add(members, value);
    if (conversation !== undefined) continue;
    groups.add(
      { ...members, [part]: null },
      value.map((amount) => -amount),
    );
  }
  if (conversation !== undefined) return groups;
  // Read last: what is counted meanwhile is in the total at least.
  const rest = groupBy.filter((group) => group !== part);
  for (const { members, sums } of (await totalGroups(store, { ...query, groupBy: rest })).list())
    groups.add(byGroup({ ...members, [part]: null }), sums);
  return groups;
}

/** The rows that cost most, and one for the rest, or for the rest of each day. */
function withOther(
  listed: readonly Group[],
  group: UsageGroup | undefined,
  limit: number,
): Group[] {
  if (listed.length <= limit || group === undefined) return [...listed];
  const ranked = listed.toSorted(({ sums: a }, { sums: b }) => (b[COST] ?? 0) - (a[COST] ?? 0));
  const kept = new Set(ranked.slice(0, Math.max(0, limit - 1)));
  const rest = new Groups();
  const toRest = ([name, value]: [string, string | null]): [string, string | null] =>
    name === group ? [name, OTHER] : [name, name === 'day' ? value : null];
  for (const { members, sums } of listed.filter((one) => !kept.has(one)))
    rest.add(Object.fromEntries(Object.entries(members).map(toRest)), sums);
  return [...listed.filter((one) => kept.has(one)), ...rest.list()];
}

function toReportRow(members: Members, sums: readonly number[]): UsageReportRow {
  const [requests = 0, errors = 0, estimated = 0, cost = 0] = sums;
  const usage = toUsageRecord(sums.slice(CLASSES));
  const unpriced = sums[UNPRICED] ?? 0;
  const told = unpriced > 0 && cost === 0 ? null : fromNanos(cost);
  return { ...members, requests, errors, estimated, unpriced, usage, cost: told };
}
