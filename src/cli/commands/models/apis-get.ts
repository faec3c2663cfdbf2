import type { CommandRun } from '../../command.ts';
import { getResource } from '../../resources/get-resource.ts';

export const run: CommandRun = (input) => {
  const sought = { kind: 'apis', named: input.args['id'] ?? '' } as const;
  return getResource(input, sought, (client, signal) =>
    client.admin(sought.kind).get(sought.named, signal),
  );
};
