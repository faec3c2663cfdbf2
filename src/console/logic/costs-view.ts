import type { Usage } from '../api/views.ts';
import type { UsageSum } from './cost-series.ts';

export interface Dimension {
  readonly id: string;
  readonly title: string;
  /** Group of the report that it is made of. */
  readonly group: string;
  readonly isAdmin?: boolean;
  /** The part of the group's value that counts; the whole without it. */
  readonly part?: (value: string) => string;
  /** Field of the Requests page that shows the requests of one value. */
  readonly field?: string;
}

export const DIMENSIONS: readonly [Dimension, ...Dimension[]] = [
  { id: 'model', title: 'Model', group: 'model', field: 'model' },
  {
    id: 'vendor',
    title: 'Vendor',
    group: 'model',
    part: (model) => model.split('/')[0] ?? model,
    field: 'model',
  },
  { id: 'key', title: 'Key', group: 'key', field: 'key' },
  { id: 'organization', title: 'Organization', group: 'organization', isAdmin: true },
];

export const PERIODS = [
  ['month', 'this month'],
  ['30d', 'last 30 days'],
  ['90d', 'last 90 days'],
] as const;

/** State of the Costs page, which is its address. */
export interface CostsView {
  readonly by: string;
  readonly period: string;
  /** Days of the chart. */
  readonly chartFirst: string;
  readonly chartLast: string;
  /** Days of the table: those of the chart, or what is selected in it. */
  readonly first: string;
  readonly last: string;
}

export interface UsageReportRow {
  day: string;
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
  const by = query.get('by') ?? '';
  const period = query.get('period') ?? '';
  const known = PERIODS.some(([id]) => id === period) ? period : 'month';
  const [chartFirst, chartLast] = rangeOf(known, today);
  const [from, to] = [query.get('from'), query.get('to')];
  return {
    by: DIMENSIONS.some(({ id }) => id === by) ? by : 'model',
    period: known,
    chartFirst,
    chartLast,
    first: isDay(from) ? from : chartFirst,
    last: isDay(to) ? to : chartLast,
  };
}

export function writeCosts(view: CostsView, today: string): string {
  const query = new URLSearchParams({ by: view.by, period: view.period });
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

export function toSum(
  row: UsageReportRow,
  by: Dimension,
  nameOf: ReadonlyMap<string, string>,
): UsageSum {
  const found = row[by.group];
  const value = typeof found === 'string' ? found : '';
  const { usage } = row;
  return {
    day: row.day,
    name: by.part ? by.part(value) : (nameOf.get(value) ?? value),
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
