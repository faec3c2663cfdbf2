import { counted } from '../../../core/counted.ts';
import { isRecord } from '../../../client/http/guards.ts';
import type { Client } from '../../../client/create-client.ts';
import type { UsageForecast, UsageQuery, UsageRow } from '../../../client/usage.ts';
import { usageError } from '../../cli-error.ts';
import { renderBars } from '../../output/bar-chart.ts';
import type { Bar } from '../../output/bar-chart.ts';
import { readRange } from '../../input/read-time.ts';
import { toId } from '../../resources/resource-ids.ts';
import { toCsv } from '../../output/csv.ts';
import { renderTable, type Column } from '../../output/table.ts';
import type { InputOf, RunOf } from '../../commands.ts';

export const run: RunOf<'usage'> = async ({ flags, context }) => {
  const { signal } = context;
  const chosen = flags.by;
  const groupBy = chosen.length === 0 ? ['model'] : [...new Set(chosen)];
  const range = readPeriod(flags, context.clock.now());
  const client = await context.connect();
  const ownerOf = (from: Client): Promise<string | undefined> =>
    toId(from, { kind: 'organizations', given: flags.organization, signal });
  const isOwn = flags.own;
  const query = { groupBy, ...range, limit: flags.limit };
  const { rows, forecast } = isOwn
    ? await client.account.usage(query, signal)
    : await client.usage.report({ ...query, organization: await ownerOf(client) }, signal);
  const groups = groupBy.map(groupColumn);
  return {
    data: rows,
    text: async (style) => {
      if (context.format === 'csv') return renderCsv(rows, groupBy);
      if (flags.chart && rows.length > 0) return renderBars(toBars(rows, groups), style);
      const table = await renderTable(rows, [...groups, ...SUMS], {
        style,
        empty: 'no usage in this time',
      });
      return forecast ? `${table}\n\n${forecastText(forecast)}` : table;
    },
  };
};

function readPeriod(
  flags: InputOf<'usage'>['flags'],
  now: number,
): Pick<UsageQuery, 'month' | 'from' | 'to'> {
  const month = flags.month;
  if (month === undefined) return readRange(flags, now);
  if (!/^\d{4}-(0[1-9]|1[0-2])$/.test(month))
    throw usageError(`--month is not a month: ${month}`, 'write it like 2026-11');
  return { month };
}

function forecastText({ month, spent, cost, unpriced = 0 }: UsageForecast): string {
  if (spent === null) return `${month}: unpriced so far; gateway models list names the routes`;
  const rest = unpriced > 0 ? `, and ${unpriced} unpriced calls` : '';
  return `${month}: ${spent} USD so far, ${cost} USD by the end of the month at this pace${rest}`;
}

/** Members as the API has them; each id is followed by its name. */
function renderCsv(rows: readonly UsageRow[], groupBy: readonly string[]): string {
  const groups = groupBy.flatMap((group) => [
    group,
    ...(NAMED.has(group) ? [`${group}_name`] : []),
  ]);
  const plain = ['requests', 'errors', 'estimated', 'unpriced'];
  const classes = [
    ...new Set(rows.flatMap(({ usage }) => (isRecord(usage) ? Object.keys(usage) : []))),
  ];
  const cells = (row: UsageRow): unknown[] => {
    const usage = isRecord(row['usage']) ? row['usage'] : {};
    return [
      ...[...groups, ...plain].map((name) => row[name]),
      ...classes.map((name) => usage[name]),
      row.cost,
    ];
  };
  return toCsv([...groups, ...plain, ...classes, 'cost_usd'], rows.map(cells));
}

/** Money where any was spent, else how often was asked. */
function toBars(rows: readonly UsageRow[], groups: readonly Column<UsageRow>[]): Bar[] {
  const isPaid = rows.some(({ cost }) => Number(cost) > 0);
  return rows.map((row) => ({
    label: groups.map(({ value }) => String(value(row))).join('  '),
    value: isPaid ? Number(row.cost) : row.requests,
    text: isPaid ? costText(row, ' USD') : counted(row.requests, 'request'),
  }));
}

const CACHED = ['cache_read_tokens', 'cache_write_5m_tokens', 'cache_write_1h_tokens'];

const SUMS: readonly Column<UsageRow>[] = [
  { title: 'REQUESTS', value: ({ requests }) => requests },
  { title: 'ERRORS', value: ({ errors }) => errors },
  { title: 'INPUT', value: (row) => count(row, ['input_tokens']) },
  { title: 'CACHED', value: (row) => count(row, CACHED) },
  { title: 'OUTPUT', value: (row) => count(row, ['output_tokens']) },
  { title: 'COST USD', value: (row) => costText(row) },
];

/** `1.20 + 3 unpriced`; `unpriced` where nothing is known of the cost. */
function costText({ cost, unpriced = 0 }: UsageRow, unit = ''): string {
  if (cost === null) return 'unpriced';
  return unpriced > 0 ? `${cost}${unit} + ${unpriced} unpriced` : `${cost}${unit}`;
}

function count({ usage }: UsageRow, names: readonly string[]): number | undefined {
  if (!isRecord(usage)) return undefined;
  return names.reduce((sum, name) => sum + Number(usage[name] ?? 0), 0);
}

/** Groups that are ids; people know the names. */
const NAMED: ReadonlySet<string> = new Set(['organization', 'key', 'agent', 'service', 'schedule']);

function groupColumn(group: string): Column<UsageRow> {
  const valueOf = (row: UsageRow): unknown => row[`${group}_name`] ?? row[group];
  return { title: group.toUpperCase(), value: valueOf };
}
