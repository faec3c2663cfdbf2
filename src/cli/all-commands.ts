import { findCommand, type CommandSpec } from './command.ts';
import { COMMANDS } from './commands.ts';
import { withFlagsFor } from './grammar/load-flags.ts';
import type { CliIo } from './io.ts';
import { findPluginsFolder } from './plugins/plugins-folder.ts';

/** Words that ask about commands, whichever these are. */
const ABOUT_COMMANDS = new Set(['help', 'complete-words']);

/**
 * The commands that a command line may mean. Those of plugins are looked up only when it calls none of
 * the binary, or asks which there are, so a built-in command costs nothing more.
 */
export async function commandsFor({
  argv,
  env,
}: Pick<CliIo, 'argv' | 'env'>): Promise<readonly CommandSpec[]> {
  const end = argv.indexOf('--');
  const own = end === -1 ? argv : argv.slice(0, end);
  const command = findCommand(
    COMMANDS,
    own.filter((word) => !word.startsWith('-')),
  )?.command;
  const isBuiltin = command?.load !== undefined && !ABOUT_COMMANDS.has(command.name);
  return withFlagsFor(isBuiltin ? COMMANDS : await allCommands(env), argv);
}

/** The commands of the binary and of every plugin. */
export async function allCommands(env: CliIo['env']): Promise<readonly CommandSpec[]> {
  const folder = findPluginsFolder(env);
  if (folder === undefined) return COMMANDS;
  const { withPluginCommands } = await import('./plugins/plugin-commands.ts');
  return withPluginCommands(COMMANDS, folder);
}
