import { findCommand, type CommandSpec } from '../command.ts';

/**
 * The commands, those that the words may call with the flags that they load; the others load none. Words
 * may precede the command, as the values of global flags do.
 */
export async function withFlagsFor(
  commands: readonly CommandSpec[],
  words: readonly string[],
): Promise<readonly CommandSpec[]> {
  const plain = words.filter((word) => !word.startsWith('-'));
  const called = new Set(
    plain.map((_word, index) => findCommand(commands, plain.slice(index))?.command),
  );
  return withFlags(commands, (command) => called.has(command));
}

/** The commands with the flags that they load. */
export async function withFlags(
  commands: readonly CommandSpec[],
  isChosen: (command: CommandSpec) => boolean = () => true,
): Promise<readonly CommandSpec[]> {
  if (!commands.some((one) => one.loadFlags !== undefined && isChosen(one))) return commands;
  return Promise.all(commands.map(async (one) => (isChosen(one) ? complete(one) : one)));
}

async function complete(command: CommandSpec): Promise<CommandSpec> {
  const { loadFlags, ...rest } = command;
  if (loadFlags === undefined) return command;
  return { ...rest, flags: [...(rest.flags ?? []), ...(await loadFlags())] };
}
