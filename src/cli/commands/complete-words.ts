import type { CommandResult, CommandRun } from '../command.ts';
import { COMMANDS } from '../commands.ts';
import { completeWords } from '../complete.ts';

export const run: CommandRun = async ({ rest }) => answer(rest);

export function answer(words: readonly string[]): CommandResult {
  const candidates = completeWords(COMMANDS, words[0] === '--' ? words.slice(1) : words);
  return { data: candidates, text: candidates.join('\n') };
}
