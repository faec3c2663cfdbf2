import { changeResource } from '../../resources/change-resource.ts';
import type { CommandRun } from '../../command.ts';

export const run: CommandRun = (input) =>
  changeResource(input, {
    kind: 'agents',
    ask: 'Archive',
    done: 'archived',
    act: (admin, { id }, signal) => admin.action(id, 'archive', signal),
  });
