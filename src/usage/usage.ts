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
