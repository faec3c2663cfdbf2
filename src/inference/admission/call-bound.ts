import { GatewayError } from '../../core/errors.ts';
import type { TokenBound } from '../../core/errors.ts';
import type { RequestPeek } from '../../protocols/protocol.ts';
import type { Model } from '../../routing/catalog.ts';
import type { Plan } from '../../routing/plan.ts';
import { namesLimit } from '../../usage/spend/refuse.ts';
import type { Call } from '../types.ts';

/**
 * Most output tokens that are reserved for a call: no answer has more, whatever the client multiplies, and sums
 * of them stay exact.
 */
const MAX_OUTPUT = 2 ** 31;
/** Tokens that a model reads at most whose window is not known. */
const UNKNOWN_WINDOW = 1_000_000;

/**
 * The most output tokens that a request can lead to.
 *
 * @param usual output tokens of a request that names no limit, to a model without one
 */
export function outputBoundOf(peek: RequestPeek, model: Model, usual: number): number {
  const asksFor = peek.outputBound ?? (model.maxOutputTokens ?? usual) * peek.choices;
  return Math.min(asksFor, MAX_OUTPUT);
}

/** The most tokens of a prompt that a model reads; it refuses a longer one. */
export function readable(inputBound: number, { contextWindow }: Model): number {
  const window = contextWindow ?? (inputBound === Infinity ? UNKNOWN_WINDOW : Infinity);
  return Math.min(inputBound, window);
}

/** The refusal of a call with the tokens that its reservation was for; others, and those of other models, as they are. */
export function withBound(
  thrown: unknown,
  { call: { peek, model, request }, plan }: { readonly call: Call; readonly plan: Plan },
  usual: number,
): unknown {
  if (!(thrown instanceof GatewayError) || thrown.limit?.unit !== 'money') return thrown;
  // Others are priced by the piece or by their input: a client cannot lower the tokens of an answer.
  if (model.type !== 'llm') return thrown;
  const input = mostRead(peek.inputBound, plan);
  const output = outputBoundOf(peek, model, usual);
  const bound: TokenBound = { input, output, from: sourceOf(peek, model) };
  const limit = { ...thrown.limit, bound };
  return thrown.with(namesLimit(thrown.code, limit, request.principal));
}

function mostRead(inputBound: number, { candidates }: Plan): number {
  return Math.max(0, ...candidates.map(({ model }) => readable(inputBound, model)));
}

function sourceOf({ outputBound }: RequestPeek, { maxOutputTokens }: Model): TokenBound['from'] {
  if (outputBound !== undefined) return 'request';
  return maxOutputTokens === undefined ? 'default' : 'model';
}
