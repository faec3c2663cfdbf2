import { idTime } from '../core/ids.ts';
import { jobKey } from '../jobs/job-rows.ts';
import type { Sweep } from '../jobs/sweep-job.ts';
import { deployment } from '../resources/kinds/deployment.ts';
import type { Repository } from '../resources/store/repository.ts';
import type { Entry, Op, Store } from '../store/store.ts';
import { NOTIFY_JOB } from './job-kinds.ts';
import { runIndexKeys, runIndexPrefix, runKey, RUNS, slotKey, statusOf } from './run-row.ts';
import type { RunRow } from './run-row.ts';

/** Each takes up to four operations. */
const MAX_RUNS = 200;

export interface RunSweepDeps {
  readonly store: Store;
  readonly repository: Pick<Repository, 'find'>;
}

/**
 * Removes runs that are decided and announced, the oldest first, each with its claim on its instant: a Schedule
 * continues from its last instant, and one so long ago never fires. Its newest run stays.
 */
export function createRunSweep(deps: RunSweepDeps): Sweep {
  const { store } = deps;
  return async ({ before, cursor, limit: asked }) => {
    const limit = Math.min(asked, MAX_RUNS);
    const page = await store.list<RunRow>({
      prefix: RUNS,
      limit,
      ...(typeof cursor === 'string' && { after: runKey(cursor) }),
    });
    const old = page.filter((entry) => timeOf(entry) < before).map(({ value }) => value);
    const kept = await newestOf(deps, old);
    const isNeeded = await Promise.all(
      old.map(async ({ id }) => (await store.get(jobKey(NOTIFY_JOB, id))) !== undefined),
    );
    const over = old.filter(
      (run, index) => statusOf(run) !== 'pending' && !kept.has(run.id) && !isNeeded[index],
    );
    if (over.length > 0) await store.commit(over.flatMap(removalOf));
    const last = old.length === limit ? old.at(-1)?.id : undefined;
    return { removed: over.length, ...(last !== undefined && { cursor: last }) };
  };
}

/** Ids of the runs that the Schedules of these runs were fired with last, if there still are any. */
async function newestOf(
  { store, repository }: RunSweepDeps,
  runs: readonly RunRow[],
): Promise<Set<string>> {
  const schedules = new Map(runs.map((run) => [run.deploymentId, run.organization]));
  const newest = Array.from(schedules, async ([deploymentId, organization]) => {
    if (!(await repository.find(deployment, deploymentId, { organization }))) return [];
    const prefix = runIndexPrefix(organization, 'deployment', deploymentId);
    const [entry] = await store.list({ prefix, limit: 1, reverse: true });
    return entry ? [String(entry.key.at(-1))] : [];
  });
  return new Set((await Promise.all(newest)).flat());
}

function removalOf(run: RunRow): Op[] {
  const { deploymentId, trigger } = run;
  const keys = [runKey(run.id), ...runIndexKeys(run)];
  if (trigger.type === 'schedule') keys.push(slotKey(deploymentId, trigger.scheduledAt));
  return keys.map((key): Op => ({ type: 'delete', key }));
}

function timeOf({ value: { id, createdAt } }: Entry<RunRow>): number {
  return idTime(id) ?? Date.parse(createdAt);
}
