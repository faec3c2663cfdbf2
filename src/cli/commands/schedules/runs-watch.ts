import { statusOf } from '../../../client/deployment-runs.ts';
import type { JoinedRun, RunWatchOptions } from '../../../client/deployment-runs.ts';
import { isFailure } from '../../../client/run-outcome.ts';
import type { Client } from '../../../client/create-client.ts';
import { addNames } from '../../details/references.ts';
import { readBeginning } from '../../input/read-time.ts';
import { runFilters } from '../../input/run-filters.ts';
import { runLine } from '../../output/run-line.ts';
import { showEvents } from '../../waiting/show-events.ts';
import type { RunOf } from '../../commands.ts';

export const run: RunOf<'runs watch'> = async ({ flags, context }) => {
  const { output, signal } = context;
  const client = await context.connect();
  const options = {
    filters: await runFilters(client, flags, signal),
    from: readBeginning(flags, context.clock.now()),
    intervalMs: flags.interval,
    onTrouble: (error: Error) => output.note(`${error.message}; retrying`),
    signal,
  };
  const { status, failed } = flags;
  const runs = wantedRuns(client, options, { status, failed });
  return showEvents(runs, { output, textOf: (one) => `${runLine(one)}\n`, isAwaited: false });
};

/**
 * Runs with the names of their Schedules. A run is of another state later, so all are looked at and those
 * that are not wanted left out.
 */
async function* wantedRuns(
  client: Client,
  options: RunWatchOptions & { readonly signal: AbortSignal },
  { status: statuses, failed }: { readonly status: readonly string[]; readonly failed: boolean },
): AsyncGenerator<JoinedRun, never, undefined> {
  const runs = client.deploymentRuns.watch(options);
  const names = new Map<string, object>();
  for (;;) {
    const { value } = await runs.next();
    if (statuses.length > 0 && !statuses.includes(statusOf(value))) continue;
    if (failed && !isFailure(value.outcome)) continue;
    const { deployment_id } = value;
    const name =
      names.get(deployment_id) ?? (await addNames(client, { deployment_id }, options.signal));
    names.set(deployment_id, name);
    yield { ...value, ...name };
  }
}
