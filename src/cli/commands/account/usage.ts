import { isRecord } from '../../../client/http/guards.ts';
import type { AdminKind, Client } from '../../../client/create-client.ts';
import type { UsageRow } from '../../../client/usage.ts';
import type { CommandRun } from '../../command.ts';
import { usageError } from '../../cli-error.ts';
import { renderBars } from '../../output/bar-chart.ts';
import type { Bar } from '../../output/bar-chart.ts';
import { readRange } from '../../input/read-time.ts';
import { namesById, toId } from '../../resources/resource-ids.ts';
import { renderTable, type Column } from '../../output/table.ts';

export const run: CommandRun = async ({ flags, context }) => {
  const { signal } = context;
  const chosen = flags.list('by');
  const groupBy = chosen.length === 0 ? ['model'] : [...new Set(chosen)];
  const range = readRange(flags, context.clock.now());
  const client = await context.connect();
  const ownerOf = (from: Client): Promise<string | undefined> =>
    toId(from, { kind: 'organizations', given: flags.text('organization'), signal });
  const isOwn = flags.on('own');
  if (isOwn && flags.text('organization') !== undefined)
    throw usageError('--own and --organization cannot be combined');
  const query = { groupBy, ...range };
  const rows = isOwn
    ? await client.account.usage(query, signal)
    : await client.usage.report({ ...query, organization: await ownerOf(client) }, signal);
  return {
    data: rows,
    text: async (style) => {
      const groups = await Promise.all(
        groupBy.map((name) => groupColumn(client, name, { signal, isOwn })),
      );
      if (flags.on('chart') && rows.length > 0) return renderBars(toBars(rows, groups), style);
      return renderTable(rows, [...groups, ...SUMS], { style, empty: 'no usage in this time' });
    },
  };
};

/** Money where any was spent, else how often was asked. */
function toBars(rows: readonly UsageRow[], groups: readonly Column<UsageRow>[]): Bar[] {
  const isPaid = rows.some(({ cost }) => Number(cost) > 0);
  return rows.map((row) => ({
    label: groups.map(({ value }) => String(value(row))).join('  '),
    value: isPaid ? Number(row.cost) : row.requests,
    text: isPaid ? costText(row, ' USD') : `${row.requests} requests`,
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

/** Groups that the server tells by id; people know their names. */
const NAMED: Readonly<Record<string, AdminKind>> = { key: 'keys', organization: 'organizations' };

async function groupColumn(
  client: Client,
  group: string,
  { signal, isOwn }: { signal: AbortSignal; isOwn: boolean },
): Promise<Column<UsageRow>> {
  // Names are the administrators' to look up.
  const kind = isOwn ? undefined : NAMED[group];
  const names = kind && (await namesById(client, kind, signal));
  const nameOf = (id: unknown): unknown => names?.get(String(id)) ?? id;
  return { title: group.toUpperCase(), value: (row) => nameOf(row[group]) };
}
