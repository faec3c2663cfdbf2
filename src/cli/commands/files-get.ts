import type { CommandRun } from '../command.ts';
import { findResource } from '../find-resource.ts';
import { getResource } from '../get-resource.ts';

export const run: CommandRun = (input) =>
  getResource(input, (client, signal) =>
    findResource(client.admin('files'), input.args['id'] ?? '', signal),
  );
