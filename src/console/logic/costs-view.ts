import type { Usage } from '../api/views.ts';
import { toShellWord } from '../../core/shell-word.ts';
import type { UsageSum } from './cost-series.ts';

export interface Dimension {
  /** Group of the report. */
  readonly id: string;
  readonly title: string;
  readonly isAdmin?: boolean;
  /** Field of the Requests page that shows the requests of one value. */
  readonly field?: string;
  /** True: it has so many values that a chart and a table are asked for apart. */
  readonly isLong?: boolean;
  /** True: its values may have a spending limit of a month. */
  readonly isLimited?: boolean;
}

const DIMENSIONS: readonly Dimension[] = [
  { id: 'model', title: 'Model', field: 'model' },
  { id: 'vendor', title: 'Vendor' },
  { id: 'key', title: 'Key', field: 'key', isLimited: true },
  { id: 'organization', title: 'Organization', isAdmin: true, isLimited: true },
  { id: 'conversation', title: 'Conversation', field: 'conversation', isLong: true },
  { id: 'end_user', title: 'End user', isLong: true },
  { id: 'agent', title: 'Agent' },
  { id: 'service', title: 'Service' },
  { id: 'schedule', title: 'Schedule' },
];
const NAMED = { label: 'Label', tag: 'Tag' } as const;

/** Dimension of a group of the report, labels and tags (`label:team`) among them; undefined for no such one. */
export function dimensionOf(id: string): Dimension | undefined {
  const [, kind, name] = /^(label|tag):(.+)$/.exec(id) ?? [];
  if (kind) return { id, title: `${NAMED[kind as keyof typeof NAMED]} ${name}` };
  return DIMENSIONS.find((one) => one.id === id);
}

/** Dimensions of costs: the given groups of the gateway, in the order of the page. */
export function listDimensions(groups: readonly string[], isAdmin: boolean): Dimension[] {
  const named = groups.filter((group) => group.includes(':'));
  const all = [...DIMENSIONS.map(({ id }) => id), ...named].flatMap((id) => dimensionOf(id) ?? []);
  return all.filter((one) => isAdmin || !one.isAdmin);
}

export const PERIODS = [
  ['month', 'this month'],
  ['30d', 'last 30 days'],
  ['90d', 'last 90 days'],
] as const;

/** State of the Costs page, which is its address. */
export interface CostsView {
  readonly by: Dimension;
  readonly period: string;
  /** Days of the chart. */
  readonly chartFirst: string;
  readonly chartLast: string;
  /** Days of the table: those of the chart, or the selected ones. */
  readonly first: string;
  readonly last: string;
}

export interface UsageReportRow {
  /** Absent unless days were asked for. */
  day?: string;
  requests: number;
  errors: number;
  unpriced?: number;
  cost: string | null;
  usage: Usage;
  [group: string]: unknown;
}

const DAY = 86_400_000;
const isDay = (text: string | null): text is string => /^\d{4}-\d\d-\d\d$/.test(text ?? '');

export function readCosts(search: string, today: string): CostsView {
  const query = new URLSearchParams(search);
  const period = query.get('period') ?? '';
  const known = PERIODS.some(([id]) => id === period) ? period : 'month';
  const [chartFirst, chartLast] = rangeOf(known, today);
  const [from, to] = [query.get('from'), query.get('to')];
  return {
    by: dimensionOf(query.get('by') ?? '') ?? (DIMENSIONS[0] as Dimension),
    period: known,
    chartFirst,
    chartLast,
    first: isDay(from) ? from : chartFirst,
    last: isDay(to) ? to : chartLast,
  };
}

export function writeCosts(view: CostsView, today: string): string {
  const query = new URLSearchParams({ by: view.by.id, period: view.period });
  const [first, last] = rangeOf(view.period, today);
  if (view.first !== first || view.last !== last) {
    query.set('from', view.first);
    query.set('to', view.last);
  }
  return `?${query.toString()}`;
}

function rangeOf(period: string, today: string): [string, string] {
  const at = Date.parse(today);
  if (period !== 'month') {
    const days = Number.parseInt(period, 10);
    return [new Date(at - (days - 1) * DAY).toISOString().slice(0, 10), today];
  }
  const next = new Date(Date.UTC(Number(today.slice(0, 4)), Number(today.slice(5, 7)), 1) - DAY);
  return [`${today.slice(0, 7)}-01`, next.toISOString().slice(0, 10)];
}

/** Days as the report takes them, whose end is exclusive. */
export function toRange(first: string, last: string): { from: string; to: string } {
  return { from: first, to: new Date(Date.parse(last) + DAY).toISOString().slice(0, 10) };
}

/** The command line with the same result as the table. */
export function toUsageCommand({
  by,
  first,
  last,
  period,
  chartFirst,
  chartLast,
}: CostsView): string {
  const { from, to } = toRange(first, last);
  const isMonth = period === 'month' && first === chartFirst && last === chartLast;
  const range = isMonth ? `--month ${first.slice(0, 7)}` : `--from ${from} --to ${to}`;
  return `gateway usage --by ${toShellWord(by.id)} ${range}`;
}

/** Name of the requests that have no value of a dimension. */
export const NOBODY = 'none';

/** A row of the report as a sum; `day` is empty where none was asked for. */
export function toSum(row: UsageReportRow, { id }: Dimension): UsageSum {
  const [found, named] = [row[id], row[`${id}_name`]];
  const value = typeof found === 'string' ? found : '';
  const { usage } = row;
  return {
    day: row.day ?? '',
    value,
    name: typeof named === 'string' ? named : value || NOBODY,
    requests: row.requests,
    errors: row.errors,
    unpriced: row.unpriced ?? 0,
    cost: Number(row.cost ?? 0),
    input:
      usage.input_tokens +
      usage.cache_read_tokens +
      usage.cache_write_5m_tokens +
      usage.cache_write_1h_tokens,
    output: usage.output_tokens,
  };
}
