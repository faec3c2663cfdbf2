import type { DeploymentView } from '../../../client/deployments.ts';
import { oneLine } from '../../../core/printable.ts';
import { isRecord } from '../../../client/http/guards.ts';
import { collect } from '../../../client/http/pages.ts';
import { localTime } from '../../output/local-time.ts';
import { renderTable } from '../../output/table.ts';
import type { Column } from '../../output/table.ts';
import type { RunOf } from '../../commands.ts';

const COLUMNS: readonly Column<DeploymentView>[] = [
  { title: 'NAME', value: ({ name }) => name },
  { title: 'STATUS', value: ({ status }) => status },
  { title: 'SCHEDULE', value: ({ schedule }) => whenOf(schedule) },
  { title: 'NEXT', value: ({ schedule }) => nextThere(schedule) },
  { title: 'ID', value: ({ id }) => id },
  { title: 'NEXT (UTC)', value: ({ schedule }) => nextOf(schedule), weight: 0 },
];

export const run: RunOf<'deployments list'> = async ({ flags, context }) => {
  const client = await context.connect();
  const filters = {
    status: flags.status,
    agent_id: flags.agent,
    include_archived: flags.archived ? 'true' : undefined,
  };
  const rows = await collect(client.deployments.list(filters, context.signal));
  return {
    data: rows,
    text: (style) =>
      context.output.quiet
        ? rows.map(({ name }) => oneLine(name)).join('\n')
        : renderTable(rows, COLUMNS, { style, empty: 'no schedules' }),
  };
};

function whenOf(schedule: unknown): string {
  if (!isRecord(schedule)) return 'by hand';
  return `${String(schedule['expression'])} ${String(schedule['timezone'])}`;
}

/** On the clocks of the Schedule's own zone, which its expression is read in. */
function nextThere(schedule: unknown): string | undefined {
  const next = nextOf(schedule);
  if (next === undefined || !isRecord(schedule)) return undefined;
  return localTime(Date.parse(next), String(schedule['timezone']));
}

function nextOf(schedule: unknown): string | undefined {
  const upcoming = isRecord(schedule) ? schedule['upcoming_runs_at'] : undefined;
  const [next] = Array.isArray(upcoming) ? upcoming : [];
  return typeof next === 'string' ? next : undefined;
}
