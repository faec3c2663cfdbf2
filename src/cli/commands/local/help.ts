import { allCommands } from '../../all-commands.ts';
import { findCommand, type CommandSpec, type LightAnswer } from '../../command.ts';
import { withFlagsFor } from '../../grammar/load-flags.ts';
import { renderHelp } from '../../grammar/help.ts';
import type { RunOf } from '../../commands.ts';

export const run: RunOf<'help'> = async ({ rest, context }) => {
  const commands = await withFlagsFor(await allCommands(context.io.env), rest);
  const found = answer(rest, commands);
  if (found !== undefined) return found;
  const { helpTopic } = await import('../../grammar/help-topics.ts');
  return helpTopic(rest.join(' '));
};

/** `gateway schema output` has the rest. */
function shown({ output: _output, ...command }: CommandSpec): CommandSpec {
  return command;
}

/** Undefined: no command is called so. */
export const answer: LightAnswer = (words, commands) => {
  const found = findCommand(commands, words);
  if (words.length > 0 && found?.used !== words.length) return undefined;
  return {
    data: found ? shown(found.command) : commands.filter(({ hidden }) => !hidden).map(shown),
    text: (style) => renderHelp(commands, found?.command, style),
  };
};
