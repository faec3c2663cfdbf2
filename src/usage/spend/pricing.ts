import type { Usage } from '../../core/usage.ts';
import type { Pricing, TokenPrices } from '../usage.ts';

const CHARS_PER_TOKEN = 4;
/** Most that a call is taken to cost, in nano-dollars: about 70,000 dollars. Sums of many stay exact. */
const MAX_BOUND = 2 ** 46;
const NO_TIERS: NonNullable<Pricing['tiers']> = [];

/** The price of usage, in whole nano-dollars; rounded half up once, at the end. */
export function costOf(usage: Usage, pricing: Pricing): number {
  const prices = reachedTier(pricing, totalInput(usage));
  const input = prices.input ?? 0;
  const output = prices.output ?? 0;
  const cacheWrite5m = prices.cacheWrite5m ?? input;
  const reasoning = Math.min(usage.reasoning, usage.output);
  const total =
    usage.input * input +
    usage.cacheRead * (prices.cacheRead ?? input) +
    usage.cacheWrite5m * cacheWrite5m +
    usage.cacheWrite1h * (prices.cacheWrite1h ?? cacheWrite5m) +
    (usage.output - reasoning) * output +
    reasoning * (prices.reasoning ?? output) +
    usage.images * (pricing.perImage ?? 0) +
    usage.seconds * (pricing.perSecond ?? 0) +
    (pricing.perCall ?? 0);
  return Math.floor(total + 0.5);
}

function totalInput({ input, cacheRead, cacheWrite5m, cacheWrite1h }: Usage): number {
  return input + cacheRead + cacheWrite5m + cacheWrite1h;
}

/** Prices of the highest tier that the input reaches; prices that it leaves out are as usual. */
function reachedTier(pricing: Pricing, input: number): TokenPrices {
  let reached: TokenPrices = pricing;
  let highest = -1;
  for (const tier of pricing.tiers ?? NO_TIERS) {
    if (input <= tier.above || tier.above <= highest) continue;
    reached = { ...pricing, ...tier };
    highest = tier.above;
  }
  return reached;
}

export interface CostBound {
  /** The most tokens that the request can be read as. */
  inputBound: number;
  /** The most tokens that can be produced. */
  outputBound: number;
  /** Default 0. */
  images?: number;
  /** Default 0. */
  seconds?: number;
  pricing: Pricing;
}

/**
 * The most that a call can cost, in whole nano-dollars: every token at the dearest class that it
 * could be billed as. Rounded up, so that {@link costOf} within the bounds never exceeds it, up to
 * {@link MAX_BOUND}.
 */
export function boundOf({
  inputBound,
  outputBound,
  images = 0,
  seconds = 0,
  pricing,
}: CostBound): number {
  const bounds = { inputBound, outputBound };
  let tokens = dearestTokens(pricing, bounds);
  for (const tier of pricing.tiers ?? NO_TIERS)
    if (inputBound > tier.above)
      tokens = Math.max(tokens, dearestTokens({ ...pricing, ...tier }, bounds));
  const cost =
    tokens +
    images * (pricing.perImage ?? 0) +
    seconds * (pricing.perSecond ?? 0) +
    (pricing.perCall ?? 0);
  return Math.min(Math.ceil(cost), MAX_BOUND);
}

function dearestTokens(
  prices: TokenPrices,
  { inputBound, outputBound }: Pick<CostBound, 'inputBound' | 'outputBound'>,
): number {
  const input = prices.input ?? 0;
  const output = prices.output ?? 0;
  const cacheWrite5m = prices.cacheWrite5m ?? input;
  const cacheWrite1h = prices.cacheWrite1h ?? cacheWrite5m;
  return (
    inputBound * Math.max(input, prices.cacheRead ?? input, cacheWrite5m, cacheWrite1h) +
    outputBound * Math.max(output, prices.reasoning ?? output)
  );
}

/** A guess at the tokens of a text, for calls whose provider reported no usage. */
export function estimateTokens(chars: number): number {
  return Math.ceil(chars / CHARS_PER_TOKEN);
}
