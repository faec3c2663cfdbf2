import { allCommands } from '../all-commands.ts';
import type { CommandResult, CommandRun, CommandSpec } from '../command.ts';
import { completeWords } from '../complete.ts';

export const run: CommandRun = async ({ rest, context }) =>
  answer(rest, await allCommands(context.io.env));

export function answer(words: readonly string[], commands: readonly CommandSpec[]): CommandResult {
  const candidates = completeWords(commands, words[0] === '--' ? words.slice(1) : words);
  return { data: candidates, text: candidates.join('\n') };
}
