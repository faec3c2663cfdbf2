import type { CommandRun } from '../../command.ts';
import { getResource } from '../../resources/get-resource.ts';

export const run: CommandRun = (input) => {
  const named = input.args['task'] ?? '';
  return getResource(input, { kind: 'tasks', named }, (client, signal) =>
    client.tasks.get(named, signal),
  );
};
