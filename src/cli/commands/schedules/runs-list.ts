import { statusOf } from '../../../client/deployment-runs.ts';
import type { DeploymentRunView } from '../../../client/deployment-runs.ts';
import { collect } from '../../../client/http/pages.ts';
import { addNamesToAll, referenceText } from '../../details/references.ts';
import { readRange } from '../../input/read-time.ts';
import { runFilters } from '../../input/run-filters.ts';
import { outcomeOf, triggerOf } from '../../output/run-line.ts';
import { renderTable } from '../../output/table.ts';
import type { Column } from '../../output/table.ts';
import type { RunOf } from '../../commands.ts';

const COLUMNS: readonly Column<DeploymentRunView>[] = [
  { title: 'CREATED', value: ({ created_at }) => created_at },
  { title: 'STATUS', value: (run) => statusOf(run) },
  { title: 'TRIGGER', value: (run) => triggerOf(run) },
  { title: 'SCHEDULE', value: (run) => referenceText(run, 'deployment_id') },
  { title: 'SESSION OR ERROR', value: (run) => outcomeOf(run) },
  { title: 'ID', value: ({ id }) => id },
];

export const run: RunOf<'runs list'> = async ({ flags, context }) => {
  const { signal } = context;
  const limit = flags.limit;
  const range = readRange(flags, context.clock.now());
  const client = await context.connect();
  const filters = {
    ...(await runFilters(client, flags, signal)),
    limit: Math.min(limit, 100),
    status: flags.status,
    'created_at[gte]': range.from,
    'created_at[lte]': range.to,
  };
  const rows = await collect(client.deploymentRuns.list(filters, signal), limit);
  if (context.output.quiet) return { data: rows, text: rows.map(({ id }) => id).join('\n') };
  const named = await addNamesToAll(client, rows, signal);
  return {
    data: named,
    text: (style) => renderTable(named, COLUMNS, { style, empty: 'no runs' }),
  };
};
