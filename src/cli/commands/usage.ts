import { isRecord } from '../../client/guards.ts';
import type { AdminKind, Client } from '../../client/create-client.ts';
import type { UsageRow } from '../../client/usage.ts';
import type { CommandRun } from '../command.ts';
import { namesById, toId } from '../resource-ids.ts';
import { renderTable, type Column } from '../table.ts';

export const run: CommandRun = async ({ flags, context }) => {
  const { signal } = context;
  const chosen = flags.list('by');
  const groupBy = chosen.length === 0 ? ['model'] : [...new Set(chosen)];
  const client = await context.connect();
  const rows = await client.usage.report(
    {
      groupBy,
      from: flags.text('from'),
      to: flags.text('to'),
      organization: await toId(client, {
        kind: 'organizations',
        given: flags.text('organization'),
        signal,
      }),
    },
    signal,
  );
  return {
    data: rows,
    text: async (style) => {
      const groups = await Promise.all(groupBy.map((name) => groupColumn(client, name, signal)));
      return renderTable(rows, [...groups, ...SUMS], { style, empty: 'no usage in this time' });
    },
  };
};

const CACHED = ['cache_read_tokens', 'cache_write_5m_tokens', 'cache_write_1h_tokens'];

const SUMS: readonly Column<UsageRow>[] = [
  { title: 'REQUESTS', value: ({ requests }) => requests },
  { title: 'ERRORS', value: ({ errors }) => errors },
  { title: 'INPUT', value: (row) => count(row, ['input_tokens']) },
  { title: 'CACHED', value: (row) => count(row, CACHED) },
  { title: 'OUTPUT', value: (row) => count(row, ['output_tokens']) },
  { title: 'COST USD', value: ({ cost }) => cost },
];

function count({ usage }: UsageRow, names: readonly string[]): number | undefined {
  if (!isRecord(usage)) return undefined;
  return names.reduce((sum, name) => sum + Number(usage[name] ?? 0), 0);
}

/** Groups that the server tells by id; people know their names. */
const NAMED: Readonly<Record<string, AdminKind>> = { key: 'keys', organization: 'organizations' };

async function groupColumn(
  client: Client,
  group: string,
  signal: AbortSignal,
): Promise<Column<UsageRow>> {
  const kind = NAMED[group];
  const names = kind && (await namesById(client, kind, signal));
  const nameOf = (id: unknown): unknown => names?.get(String(id)) ?? id;
  return { title: group.toUpperCase(), value: (row) => nameOf(row[group]) };
}
