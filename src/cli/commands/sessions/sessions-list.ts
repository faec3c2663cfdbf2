import { collect } from '../../../client/http/pages.ts';
import type { SessionView } from '../../../client/sessions.ts';
import { sessionCost } from '../../details/session-cost.ts';
import { waitingTools } from '../../waiting/waiting-words.ts';
import { renderTable } from '../../output/table.ts';
import type { Column } from '../../output/table.ts';
import type { RunOf } from '../../commands.ts';

const COLUMNS: readonly Column<SessionView>[] = [
  { title: 'TITLE', value: ({ title }) => title },
  {
    title: 'STATUS',
    value: ({ status, outcome }) => (outcome?.type === 'failed' ? `${status}, failed` : status),
  },
  {
    title: 'WAITS FOR',
    value: ({ waiting }) => waiting && waitingTools(waiting),
    isCut: true,
    weight: 2,
  },
  { title: 'SINCE', value: ({ waiting }) => waiting?.since, weight: 2 },
  { title: 'AGENT', value: ({ agent }) => agent.name },
  { title: 'TURNS', value: ({ stats }) => stats?.turns },
  { title: 'COST USD', value: sessionCost },
  { title: 'LAST ACTIVITY', value: ({ updated_at }) => updated_at },
  { title: 'ID', value: ({ id }) => id, weight: 2 },
];

export const run: RunOf<'sessions list'> = async ({ flags, context }) => {
  const max = flags.limit ?? Infinity;
  const client = await context.connect();
  const filters = {
    limit: flags.waiting ? 100 : Math.min(max, 100),
    statuses: flags.waiting ? ['idle'] : flags.status,
    agent_id: flags.agent,
    endpoint_id: flags.service,
    include_archived: flags.archived ? 'true' : undefined,
  };
  const listed = client.sessions.list(filters, context.signal);
  const rows = await collect(flags.waiting ? waitingOnes(listed) : listed, max);
  return {
    data: rows,
    text: (style) =>
      context.output.quiet
        ? rows.map(({ id }) => id).join('\n')
        : renderTable(rows, COLUMNS, { style, empty: 'no sessions' }),
  };
};

async function* waitingOnes(
  all: AsyncGenerator<SessionView, void, undefined>,
): AsyncGenerator<SessionView, void, undefined> {
  for await (const session of all) if (session.waiting) yield session;
}
