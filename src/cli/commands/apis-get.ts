import type { CommandRun } from '../command.ts';
import { getResource } from '../get-resource.ts';

export const run: CommandRun = (input) =>
  getResource(input, (client, signal) => client.admin('apis').get(input.args['id'] ?? '', signal));
