import type { CommandRun } from '../../command.ts';
import { getResource } from '../../resources/get-resource.ts';

export const run: CommandRun = (input) => {
  const named = input.args['task'] ?? '';
  const toRows = (task: Readonly<Record<string, unknown>>) => ({
    ...task,
    cost: task['cost'] ?? 'unpriced',
  });
  return getResource(input, { kind: 'tasks', named, toRows }, (client, signal) =>
    client.tasks.get(named, signal),
  );
};
