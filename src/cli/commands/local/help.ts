import { allCommands } from '../../all-commands.ts';
import { findCommand, type LightAnswer } from '../../command.ts';
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

/** Undefined: no command is called so. */
export const answer: LightAnswer = (words, commands) => {
  const found = findCommand(commands, words);
  if (words.length > 0 && found?.used !== words.length) return undefined;
  return {
    data: found?.command ?? commands.filter(({ hidden }) => !hidden),
    text: (style) => renderHelp(commands, found?.command, style),
  };
};
