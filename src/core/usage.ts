/**
 * Tokens by the class they are priced in. `input` excludes cached tokens (`cacheRead`, `cacheWrite*`),
 * `output` includes `reasoning`; so the billed total is input + cacheRead + cacheWrite* + output.
 */
export interface Usage {
  input: number;
  cacheRead: number;
  cacheWrite5m: number;
  cacheWrite1h: number;
  output: number;
  /** The part of `output` that was reasoning. */
  reasoning: number;
  images: number;
  seconds: number;
  /** The provider's own usage object, as parsed. */
  raw?: unknown;
}

/** Sum of both, without `raw`. */
export function addUsage(one: Usage, other: Usage): Usage {
  return {
    input: one.input + other.input,
    cacheRead: one.cacheRead + other.cacheRead,
    cacheWrite5m: one.cacheWrite5m + other.cacheWrite5m,
    cacheWrite1h: one.cacheWrite1h + other.cacheWrite1h,
    output: one.output + other.output,
    reasoning: one.reasoning + other.reasoning,
    images: one.images + other.images,
    seconds: one.seconds + other.seconds,
  };
}

export const NO_USAGE: Usage = Object.freeze({
  input: 0,
  cacheRead: 0,
  cacheWrite5m: 0,
  cacheWrite1h: 0,
  output: 0,
  reasoning: 0,
  images: 0,
  seconds: 0,
});
