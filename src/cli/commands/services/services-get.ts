import type { CommandRun } from '../../command.ts';
import { findResource } from '../../resources/find-resource.ts';
import { getResource } from '../../resources/get-resource.ts';

export const run: CommandRun = (input) => {
  const sought = { kind: 'services', named: input.args['id'] ?? '' } as const;
  return getResource(input, sought, (client, signal) => findResource(client, sought, signal));
};
