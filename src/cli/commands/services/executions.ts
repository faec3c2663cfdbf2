import type { ExecutionView } from '../../../client/account.ts';
import { collect } from '../../../client/http/pages.ts';
import { readRange } from '../../input/read-time.ts';
import { renderTable } from '../../output/table.ts';
import type { Column } from '../../output/table.ts';
import type { RunOf } from '../../commands.ts';

const COLUMNS: readonly Column<ExecutionView>[] = [
  { title: 'TIME', value: ({ created_at }) => created_at },
  { title: 'MODEL', value: ({ model }) => model },
  { title: 'API', value: ({ surface }) => surface },
  { title: 'STATUS', value: ({ status }) => status },
  { title: 'RESULT', value: ({ result }) => result },
  { title: 'MS', value: ({ total_ms }) => total_ms },
  { title: 'COST USD', value: ({ cost }) => cost ?? 'unpriced' },
  { title: 'REQUEST', value: ({ id }) => id, weight: 2 },
];

export const run: RunOf<'executions'> = async ({ flags, context }) => {
  const limit = flags.limit;
  const range = readRange(flags, context.clock.now());
  const client = await context.connect();
  const query = {
    limit: Math.min(limit, 100),
    model: flags.model,
    status: flags.status,
    ...range,
  };
  const rows = await collect(client.account.executions(query, context.signal), limit);
  return {
    data: rows,
    text: (style) =>
      context.output.quiet
        ? rows.map(({ id }) => id).join('\n')
        : renderTable(rows, COLUMNS, { style, empty: 'no calls' }),
  };
};
