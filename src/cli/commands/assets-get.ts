import type { CommandRun } from '../command.ts';
import { getResource } from '../get-resource.ts';

export const run: CommandRun = (input) =>
  getResource(input, (client, signal) => client.assets.get(input.args['asset'] ?? '', signal));
