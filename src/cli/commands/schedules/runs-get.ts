import type { JoinedRun } from '../../../client/deployment-runs.ts';
import { getResource } from '../../resources/get-resource.ts';
import { outcomeText } from '../../output/run-line.ts';
import { runFailure } from '../../waiting/run-failure.ts';
import type { RunOf } from '../../commands.ts';

export const run: RunOf<'runs get'> = (input) => {
  const named = input.args.run;
  let next: string | undefined;
  const toRows = (view: Readonly<Record<string, unknown>>) => ({
    ...view,
    outcome: outcomeText((view as JoinedRun).outcome),
    ...(next !== undefined && { next: next.replaceAll(/\n */g, '\n') }),
  });
  return getResource(input, { kind: 'runs', named, toRows }, async (client, signal) => {
    const found = await client.deploymentRuns.get(named, signal);
    const joined = await client.deploymentRuns.withOutcome(found, signal);
    next = (await runFailure(client, joined, signal))?.hint;
    return joined;
  });
};
