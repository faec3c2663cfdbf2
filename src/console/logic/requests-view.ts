import { toTerm } from './request-filter.ts';

/** State of the Requests page, which is its address and nothing else. */
export interface RequestsView {
  readonly filter: string;
  /** Span of time to look back: `15m`, `1h`, `24h`, `7d`, or empty for all. */
  readonly last: string;
  readonly columns: readonly string[];
  /** Id of the request that is open. */
  readonly open: string;
  readonly group: '' | 'conversation';
}

export const SPANS: readonly (readonly [string, string, number])[] = [
  ['15m', 'last 15 min', 900_000],
  ['1h', 'last 1 h', 3_600_000],
  ['24h', 'last 24 h', 86_400_000],
  ['7d', 'last 7 d', 604_800_000],
  ['', 'all', 0],
];

export const ALL_COLUMNS = [
  'time',
  'key',
  'model',
  'surface',
  'provider',
  'status',
  'attempts',
  'first',
  'duration',
  'tokens',
  'cost',
  'id',
] as const;
export type Column = (typeof ALL_COLUMNS)[number];

const DEFAULT_COLUMNS: readonly string[] = [
  'time',
  'key',
  'model',
  'surface',
  'provider',
  'status',
  'first',
  'duration',
  'tokens',
  'cost',
];
const DEFAULT_SPAN = '24h';

export function readView(search: string): RequestsView {
  const query = new URLSearchParams(search);
  const named = (query.get('columns') ?? '').split(',').filter((name) => isColumn(name));
  const last = query.get('last') ?? DEFAULT_SPAN;
  return {
    filter: query.get('q') ?? '',
    last: SPANS.some(([name]) => name === last) ? last : DEFAULT_SPAN,
    columns: named.length > 0 ? named : DEFAULT_COLUMNS,
    open: query.get('open') ?? '',
    group: query.get('group') === 'conversation' ? 'conversation' : '',
  };
}

/** The query of a view; defaults are left out. */
export function writeView(view: RequestsView): string {
  const query = new URLSearchParams();
  if (view.filter !== '') query.set('q', view.filter);
  if (view.last !== DEFAULT_SPAN) query.set('last', view.last);
  const columns = view.columns.join(',');
  if (columns !== DEFAULT_COLUMNS.join(',')) query.set('columns', columns);
  if (view.group !== '') query.set('group', view.group);
  if (view.open !== '') query.set('open', view.open);
  const text = query.toString().replaceAll('%2C', ',').replaceAll('%3A', ':');
  return text === '' ? '' : `?${text}`;
}

/** Address of the Requests page that shows the requests of one value, by default of all times. */
export function toRequestsOf(field: string, value: string, last = ''): string {
  return `/console/requests${writeView({ ...readView(''), last, filter: toTerm(field, value) })}`;
}

/** The columns with one put in or out, in their own order. */
export function toggleColumn(columns: readonly string[], name: string): readonly string[] {
  const next = ALL_COLUMNS.filter((one) =>
    one === name ? !columns.includes(one) : columns.includes(one),
  );
  return next.length === 0 ? columns : next;
}

function isColumn(name: string): name is Column {
  return (ALL_COLUMNS as readonly string[]).includes(name);
}
