import type { CommandRun } from '../command.ts';
import { getResource } from '../get-resource.ts';

export const run: CommandRun = (input) => {
  const named = input.args['id'] ?? '';
  return getResource(input, { kind: 'sessions', named }, (client, signal) =>
    client.sessions.get(named, signal),
  );
};
