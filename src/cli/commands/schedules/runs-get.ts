import type { CommandRun } from '../../command.ts';
import { getResource } from '../../resources/get-resource.ts';

export const run: CommandRun = (input) => {
  const named = input.args['run'] ?? '';
  return getResource(input, { kind: 'runs', named }, (client, signal) =>
    client.deploymentRuns.get(named, signal),
  );
};
