import type { JoinedRun } from '../../../client/deployment-runs.ts';
import type { Client } from '../../../client/create-client.ts';
import type { ListFilters } from '../../../client/admin.ts';
import { isFailure } from '../../../client/run-outcome.ts';
import { collect } from '../../../client/http/pages.ts';
import { addNamesToAll, nameMember } from '../../details/references.ts';
import { readRange } from '../../input/read-time.ts';
import { runFilters } from '../../input/run-filters.ts';
import { outcomeCell } from '../../output/run-line.ts';
import { renderTable } from '../../output/table.ts';
import type { Column } from '../../output/table.ts';
import type { RunOf } from '../../commands.ts';

const NAME = nameMember('deployment_id');
/** Most runs of a page. */
const PAGE = 100;

const COLUMNS: readonly Column<JoinedRun>[] = [
  { title: 'CREATED', value: ({ created_at }) => created_at },
  { title: 'SCHEDULE', value: (run) => run[NAME] ?? run.deployment_id },
  { title: 'TRIGGER', value: ({ trigger_context: { type } }) => type },
  { title: 'SESSION', value: ({ outcome }) => outcomeCell(outcome), isCut: true, weight: 3 },
  { title: 'ID', value: ({ id }) => id, weight: 2 },
  { title: 'DUE', value: ({ trigger_context: { scheduled_at: due } }) => due, weight: 0 },
  { title: 'SESSION ID', value: ({ session_id: session }) => session, weight: 0 },
];

export const run: RunOf<'runs list'> = async ({ flags, context }) => {
  const { signal } = context;
  const { limit, failed } = flags;
  const range = readRange(flags, context.clock.now());
  const client = await context.connect();
  const filters = {
    ...(await runFilters(client, flags, signal)),
    limit: failed ? PAGE : Math.min(limit, PAGE),
    status: flags.status,
    'created_at[gte]': range.from,
    'created_at[lte]': range.to,
  };
  const rows = await collect(joinedRuns(client, filters, { limit, failed, signal }), limit);
  if (context.output.quiet) return { data: rows, text: rows.map(({ id }) => id).join('\n') };
  const named = await addNamesToAll(client, rows, signal);
  return {
    data: named,
    text: (style) => renderTable(named, COLUMNS, { style, empty: 'no runs' }),
  };
};

interface Wanted {
  readonly limit: number;
  /** True: no others than those that failed. */
  readonly failed: boolean;
  readonly signal: AbortSignal;
}

/** Runs with their outcomes, which are asked for by the page. */
async function* joinedRuns(
  { deploymentRuns }: Client,
  filters: ListFilters,
  { limit, failed, signal }: Wanted,
): AsyncGenerator<JoinedRun, void, undefined> {
  const runs = deploymentRuns.list(filters, signal);
  for (let left = limit; left > 0;) {
    const page = await collectNext(runs, failed ? PAGE : Math.min(left, PAGE));
    const joined = await deploymentRuns.withOutcomes(page, signal);
    const wanted = failed ? joined.filter(({ outcome }) => isFailure(outcome)) : joined;
    yield* wanted;
    left -= wanted.length;
    if (page.length < PAGE) return;
  }
}

/** The next items, at most so many; fewer at the end. */
async function collectNext<T>(items: AsyncIterator<T>, most: number): Promise<T[]> {
  const found: T[] = [];
  while (found.length < most) {
    const { value, done } = await items.next();
    if (done === true) break;
    found.push(value);
  }
  return found;
}
