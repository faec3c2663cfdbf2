import type { CommandRun } from '../../command.ts';
import { getResource } from '../../resources/get-resource.ts';

export const run: CommandRun = (input) => {
  const named = input.args['deployment'] ?? '';
  return getResource(input, { kind: 'deployments', named }, async (client, signal) => {
    const { id } = await client.deployments.find(named, signal);
    return client.deployments.get(id, signal);
  });
};
