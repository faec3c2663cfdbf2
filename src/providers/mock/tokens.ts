import type { Turn } from './conversation.ts';

/** A quarter of the characters, rounded up. */
export function countTokens(text: string): number {
  return Math.ceil(text.length / 4);
}

export function countTurns(turns: readonly Turn[]): number {
  return turns.reduce((sum, { text }) => sum + countTokens(text), 0);
}

/** One input of an embedding; a list of token numbers counts as it is. */
export function countInput(input: string | readonly number[]): number {
  return typeof input === 'string' ? countTokens(input) : input.length;
}
