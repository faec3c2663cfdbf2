import { allCommands } from '../../all-commands.ts';
import { findCommand, type CommandRun, type LightAnswer } from '../../command.ts';
import { renderHelp } from '../../grammar/help.ts';

export const run: CommandRun = async ({ rest, context }) => {
  const found = answer(rest, await allCommands(context.io.env));
  if (found !== undefined) return found;
  const { helpTopic } = await import('../../grammar/help-topics.ts');
  return helpTopic(rest.join(' '));
};

/** Undefined: no command is called so. */
export const answer: LightAnswer = (words, commands) => {
  const found = findCommand(commands, words);
  if (words.length > 0 && found?.used !== words.length) return undefined;
  return {
    data: found?.command ?? commands.filter(({ hidden }) => !hidden),
    text: (style) => renderHelp(commands, found?.command, style),
  };
};
