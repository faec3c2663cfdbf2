import type { FunctionTool, Part } from '../../protocols/canonical/canonical.ts';
import { estimateTokens } from '../../usage/spend/pricing.ts';
import type { AnswerPart, Entry } from './conversation.ts';
import type { TurnState } from './turn-state.ts';

export interface ContextRoom {
  /** Tokens of a request; a guess where nobody said how much the model reads. */
  readonly tokens: number;
  readonly instructions: string;
  readonly tools: readonly FunctionTool[];
}

/** Share of the room that is kept, so that not every request leaves out some more. */
const KEPT_SHARE = 0.5;
/** Tokens of an image, however many bytes it has. */
const IMAGE_TOKENS = 1_600;

/** Note for the model, in front of a conversation that does not begin with its beginning. */
export const LEFT_OUT_NOTE =
  'The conversation is longer than you can read, so its older part is left out. Say so where you need it.';

/**
 * Number of entries that the next request must leave out, the oldest first: none while all fit. The
 * input of the turn stays whatever its size, and so does the last answer with its results.
 */
export function toLeaveOut(state: TurnState, { tokens, instructions, tools }: ContextRoom): number {
  const fixed = estimateTokens(instructions.length + JSON.stringify(tools).length);
  const { entries, sizes: known, isTooLong: isTold } = state;
  let rest = fixed;
  for (const [index, entry] of entries.entries()) {
    let size = known.get(entry);
    if (size === undefined) {
      size = sizeOf(entry);
      // The conversation grows, and most of it is as it was.
      if (index < entries.length - 1 && isWhole(entry)) known.set(entry, size);
    }
    rest += size;
  }
  if (rest <= tokens && !isTold) return 0;
  const sizes = state.dispensable.map((entry) => known.get(entry) ?? sizeOf(entry));
  // The estimate is too low where the provider says that the conversation is too long.
  let excess = rest - KEPT_SHARE * (isTold ? Math.min(rest, tokens) : tokens);
  let count = 0;
  while (excess > 0 && count < sizes.length) excess -= sizes[count++] ?? 0;
  // The rest begins with a question of somebody, as providers want it.
  while (count > 0 && count < state.turnStart && state.entries[count]?.type === 'answer') count++;
  return count;
}

/** Nothing is added to it any more, unless it is the last. */
function isWhole(entry: Entry): boolean {
  return (
    entry.type === 'input' || entry.parts.every((part) => part.type !== 'use' || part.use.result)
  );
}

function sizeOf(entry: Entry): number {
  if (entry.type === 'answer') return entry.parts.reduce((sum, part) => sum + sizeOfPart(part), 0);
  return estimateTokens(withoutData(entry.event['content']).length);
}

function sizeOfPart(part: AnswerPart | Part): number {
  if (part.type !== 'use') return estimateTokens(withoutData(part).length);
  const { name, input, result } = part.use;
  return estimateTokens(withoutData([name, input, result?.content]).length);
}

/** JSON of a value, with an image as long as the tokens that it counts for. */
function withoutData(value: unknown): string {
  const seen = (_name: string, one: unknown): unknown =>
    isImage(one) ? 'x'.repeat(4 * IMAGE_TOKENS) : one;
  return JSON.stringify(value, seen) ?? '';
}

function isImage(value: unknown): boolean {
  return (value as { type?: unknown } | null)?.type === 'image';
}
