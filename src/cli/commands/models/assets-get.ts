import type { CommandRun } from '../../command.ts';
import { getResource } from '../../resources/get-resource.ts';

export const run: CommandRun = (input) => {
  const named = input.args['asset'] ?? '';
  return getResource(input, { kind: 'assets', named }, (client, signal) =>
    client.assets.get(named, signal),
  );
};
