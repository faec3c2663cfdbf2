import { getResource } from '../../resources/get-resource.ts';
import type { RunOf } from '../../commands.ts';

export const run: RunOf<'runs get'> = (input) => {
  const named = input.args.run;
  return getResource(input, { kind: 'runs', named }, (client, signal) =>
    client.deploymentRuns.get(named, signal),
  );
};
