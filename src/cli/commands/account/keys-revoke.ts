import { changeResource } from '../../resources/change-resource.ts';
import type { CommandRun } from '../../command.ts';

export const run: CommandRun = (input) =>
  changeResource(input, {
    kind: 'keys',
    ask: 'Revoke',
    done: 'revoked; this cannot be undone',
    act: (keys, { id }, signal) => keys.action(id, 'revoke', signal),
  });
