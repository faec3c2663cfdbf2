import type { UsageRow } from '../../client/usage.ts';
import { isRecord } from '../../client/guards.ts';
import type { CommandRun } from '../command.ts';
import { renderTable } from '../table.ts';

export const run: CommandRun = async ({ flags, context }) => {
  const chosen = flags.list('by');
  const groupBy = chosen.length === 0 ? ['model'] : [...new Set(chosen)];
  const client = await context.connect();
  const rows = await client.usage.report(
    {
      groupBy,
      from: flags.text('from'),
      to: flags.text('to'),
      organization: flags.text('organization'),
    },
    context.signal,
  );
  const count = (name: string) => (row: UsageRow) =>
    row[name] ?? (isRecord(row['usage']) ? row['usage'][name] : undefined);
  return {
    data: rows,
    text: (style) =>
      renderTable(
        rows,
        [
          ...groupBy.map((name) => ({
            title: name.toUpperCase(),
            value: (row: UsageRow) => nameOf(row[name]),
          })),
          { title: 'REQUESTS', value: ({ requests }) => requests },
          { title: 'ERRORS', value: ({ errors }) => errors },
          { title: 'INPUT', value: count('input') },
          { title: 'CACHED', value: count('cache_read') },
          { title: 'OUTPUT', value: count('output') },
          { title: 'COST USD', value: ({ cost }) => cost },
        ],
        { style, empty: 'no usage in this time' },
      ),
  };
};

/** A group is named by a string, or by an object that carries its name. */
function nameOf(group: unknown): unknown {
  return isRecord(group) ? (group['name'] ?? group['id']) : group;
}
