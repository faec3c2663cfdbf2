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

/** Prices in nano-dollars: per token for the token classes, else per unit. Absent: free or inherited. */
export interface Pricing {
  readonly input?: number;
  readonly output?: number;
  /** Default: `input`. */
  readonly cacheRead?: number;
  /** Default: `input`. */
  readonly cacheWrite5m?: number;
  /** Default: `cacheWrite5m`. */
  readonly cacheWrite1h?: number;
  /** Default: `output`. */
  readonly reasoning?: number;
  readonly perCall?: number;
  readonly perImage?: number;
  readonly perSecond?: number;
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
