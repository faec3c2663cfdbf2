import { allCommands } from '../../all-commands.ts';
import type { CommandResult, CommandSpec } from '../../command.ts';
import { completeWords } from '../../grammar/complete.ts';
import { withFlagsFor } from '../../grammar/load-flags.ts';
import type { RunOf } from '../../commands.ts';

export const run: RunOf<'complete-words'> = async ({ rest, context }) => {
  const commands = await withFlagsFor(await allCommands(context.io.env), rest);
  const found = completeWords(commands, rest);
  const { completeNames } = await import('../../grammar/complete-names.ts');
  const names = await completeNames(found, rest.at(-1) ?? '', context);
  const candidates = [...found.words, ...names];
  const isAsked = (['output', 'json'] as const).some(
    (name) => context.globals.origin(name)?.layer === 'flag',
  );
  if (isAsked) return { data: candidates, text: candidates.join('\n') };
  // The shell reads lines, whatever form the user likes to read.
  await context.output.print(candidates.join('\n'));
  return { data: candidates, streamed: true };
};

/** Undefined: only the gateway or the user's files know. */
export function answer(
  words: readonly string[],
  commands: readonly CommandSpec[],
): CommandResult | undefined {
  const found = completeWords(commands, words[0] === '--' ? words.slice(1) : words);
  if (found.names !== undefined) return undefined;
  return { data: found.words, text: found.words.join('\n') };
}
