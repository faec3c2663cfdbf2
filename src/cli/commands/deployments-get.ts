import type { CommandRun } from '../command.ts';
import { getResource } from '../get-resource.ts';

export const run: CommandRun = (input) =>
  getResource(input, async (client, signal) => {
    const { id } = await client.deployments.find(input.args['deployment'] ?? '', signal);
    return client.deployments.get(id, signal);
  });
