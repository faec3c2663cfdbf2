import type { Usage } from '../../core/usage.ts';
import type { Pricing } from '../usage.ts';

const CHARS_PER_TOKEN = 4;

/** The price of what was used, in whole nano-dollars; rounded half up once, at the end. */
export function costOf(usage: Usage, pricing: Pricing): number {
  const input = pricing.input ?? 0;
  const output = pricing.output ?? 0;
  const cacheWrite5m = pricing.cacheWrite5m ?? input;
  const reasoning = Math.min(usage.reasoning, usage.output);
  const total =
    usage.input * input +
    usage.cacheRead * (pricing.cacheRead ?? input) +
    usage.cacheWrite5m * cacheWrite5m +
    usage.cacheWrite1h * (pricing.cacheWrite1h ?? cacheWrite5m) +
    (usage.output - reasoning) * output +
    reasoning * (pricing.reasoning ?? output) +
    usage.images * (pricing.perImage ?? 0) +
    usage.seconds * (pricing.perSecond ?? 0) +
    (pricing.perCall ?? 0);
  return Math.floor(total + 0.5);
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
 * could be billed as. Rounded up, so that {@link costOf} within the bounds never exceeds it.
 */
export function boundOf({
  inputBound,
  outputBound,
  images = 0,
  seconds = 0,
  pricing,
}: CostBound): number {
  const input = pricing.input ?? 0;
  const output = pricing.output ?? 0;
  const cacheWrite5m = pricing.cacheWrite5m ?? input;
  const cacheWrite1h = pricing.cacheWrite1h ?? cacheWrite5m;
  return Math.ceil(
    inputBound * Math.max(input, pricing.cacheRead ?? input, cacheWrite5m, cacheWrite1h) +
      outputBound * Math.max(output, pricing.reasoning ?? output) +
      images * (pricing.perImage ?? 0) +
      seconds * (pricing.perSecond ?? 0) +
      (pricing.perCall ?? 0),
  );
}

/** A guess at the tokens of a text, for calls whose provider reported no usage. */
export function estimateTokens(chars: number): number {
  return Math.ceil(chars / CHARS_PER_TOKEN);
}
