import { usageError } from '../cli-error.ts';
import type { CommandContext } from '../context.ts';

/**
 * Reads the prompt: the argument, or stdin without one or for `-`; exit 64 when there is nothing.
 *
 * @param usage of the command with a prompt, for the hint
 */
export async function readPrompt(
  given: string | undefined,
  context: CommandContext,
  usage: string,
): Promise<string> {
  const empty = () => usageError('the prompt is empty', `${usage}, or pipe it in`);
  if (given?.trim() === '') throw empty();
  if (given !== undefined && given !== '-') return given;
  if (given === undefined && context.io.stdin.isTTY)
    throw usageError('the prompt is missing', `${usage}, or pipe it in`);
  const prompt = (await context.readStdin()).trimEnd();
  if (prompt === '') throw empty();
  return prompt;
}
