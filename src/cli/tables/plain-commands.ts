import type { KindWith } from '../../core/kinds.ts';
import type { CommandSpec } from '../command.ts';
import type { ListedKind } from '../resources/columns.ts';
import type { ChangeVerb } from '../resources/plain-commands.ts';

type Load = NonNullable<CommandSpec['load']>;

/** Loads the command that lists a kind. */
export function loadList(kind: ListedKind): Load {
  return async () => {
    const { listCommand } = await import('../resources/list-resources.ts');
    return { run: listCommand(kind) };
  };
}

/** Loads the command that shows one of a kind. */
export function loadGet(kind: KindWith<'get'>): Load {
  return async () => {
    const { getCommand } = await import('../resources/plain-commands.ts');
    return { run: getCommand(kind) };
  };
}

/** Loads the command that changes or ends one of a kind. */
export function loadChange<V extends ChangeVerb>(kind: KindWith<V>, verb: V): Load {
  return async () => {
    const { changeCommand } = await import('../resources/plain-commands.ts');
    return { run: changeCommand(kind, verb) };
  };
}
