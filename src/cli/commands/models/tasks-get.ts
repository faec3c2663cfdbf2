import { getResource } from '../../resources/get-resource.ts';
import type { RunOf } from '../../commands.ts';

export const run: RunOf<'tasks get'> = (input) => {
  const named = input.args.task;
  const toRows = (task: Readonly<Record<string, unknown>>) => ({
    ...task,
    cost: task['cost'] ?? 'unpriced',
  });
  return getResource(input, { kind: 'tasks', named, toRows }, (client, signal) =>
    client.tasks.get(named, signal),
  );
};
