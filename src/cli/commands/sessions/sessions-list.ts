import { collect } from '../../../client/http/pages.ts';
import type { SessionView } from '../../../client/sessions.ts';
import { sessionCost } from '../../details/session-cost.ts';
import { renderTable } from '../../output/table.ts';
import type { Column } from '../../output/table.ts';
import type { RunOf } from '../../commands.ts';

const COLUMNS: readonly Column<SessionView>[] = [
  { title: 'TITLE', value: ({ title }) => title },
  { title: 'STATUS', value: ({ status }) => status },
  { title: 'AGENT', value: ({ agent }) => agent.name },
  { title: 'TURNS', value: ({ stats }) => stats?.turns },
  { title: 'COST USD', value: sessionCost },
  { title: 'LAST ACTIVITY', value: ({ updated_at }) => updated_at },
  { title: 'ID', value: ({ id }) => id },
];

export const run: RunOf<'sessions list'> = async ({ flags, context }) => {
  const max = flags.limit ?? Infinity;
  const client = await context.connect();
  const filters = {
    limit: Math.min(max, 100),
    statuses: flags.status,
    agent_id: flags.agent,
    endpoint_id: flags.service,
    include_archived: flags.archived ? 'true' : undefined,
  };
  const rows = await collect(client.sessions.list(filters, context.signal), max);
  return {
    data: rows,
    text: (style) =>
      context.output.quiet
        ? rows.map(({ id }) => id).join('\n')
        : renderTable(rows, COLUMNS, { style, empty: 'no sessions' }),
  };
};
