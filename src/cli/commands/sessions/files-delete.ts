import { changeResource } from '../../resources/change-resource.ts';
import type { CommandRun } from '../../command.ts';

export const run: CommandRun = (input) =>
  changeResource(input, {
    kind: 'files',
    ask: 'Delete',
    done: 'deleted',
    act: (admin, { id }, signal) => admin.delete(id, signal),
  });
