import { findCommand, type CommandResult, type CommandRun } from '../command.ts';
import { COMMANDS } from '../commands.ts';
import { renderHelp } from '../help.ts';

export const run: CommandRun = async ({ rest }) => {
  const found = answer(rest);
  if (found !== undefined) return found;
  const { helpTopic } = await import('../help-topics.ts');
  return helpTopic(rest.join(' '));
};

/** Undefined: no command is called so. */
export function answer(words: readonly string[]): CommandResult | undefined {
  const found = findCommand(COMMANDS, words);
  if (words.length > 0 && found?.used !== words.length) return undefined;
  return {
    data: found?.command ?? COMMANDS.filter(({ hidden }) => !hidden),
    text: (style) => renderHelp(COMMANDS, found?.command, style),
  };
}
