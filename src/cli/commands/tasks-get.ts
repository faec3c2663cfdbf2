import type { CommandRun } from '../command.ts';
import { getResource } from '../get-resource.ts';

export const run: CommandRun = (input) =>
  getResource(input, (client, signal) => client.tasks.get(input.args['task'] ?? '', signal));
