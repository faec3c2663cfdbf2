import { fromNanos } from '../core/money.ts';
import type { MediaClass, PricedTool } from '../core/usage.ts';

/**
 * Prices in nano-dollars: per token for the token classes, else per unit. Absent members cost nothing
 * or as much as another class; without any member the price is unknown.
 */
export interface Pricing extends TokenPrices {
  readonly perCall?: number;
  readonly perImage?: number;
  readonly perSecond?: number;
  /** Prices of calls with much input, in place of those above. */
  readonly tiers?: readonly PriceTier[];
  /** Prices of other ways of service by the name that an answer gives them, in lower case. */
  readonly serviceTiers?: Readonly<Record<string, ServiceTier>>;
  /** Prices of one use of a provider's tool. */
  readonly tools?: Readonly<Partial<Record<PricedTool, number>>>;
}

/** With token prices of its own it has no other; else it has the usual ones, times `times`. */
export interface ServiceTier extends TokenPrices {
  /** Default 1. */
  readonly times?: number;
  readonly tiers?: readonly PriceTier[];
}

/** Token prices of calls whose whole input, cached parts included, is more than `above` tokens. */
export interface PriceTier extends TokenPrices {
  readonly above: number;
}

export interface TokenPrices extends Readonly<Partial<Record<MediaClass, number>>> {
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
}

/** Pricing of calls that are known to be free. */
export const FREE: Pricing = Object.freeze({ perCall: 0 });

/** Nano-dollars that are known of a cost; null where nothing is. */
export function knownCost({
  cost,
  unpriced,
}: {
  readonly cost: number;
  readonly unpriced?: boolean | undefined;
}): number | null {
  return unpriced && cost === 0 ? null : cost;
}

/** Dollars as they are shown; null stays unknown. */
export function toShownCost(cost: number | null): string | null {
  return cost === null ? null : fromNanos(cost);
}

/** False where the price of every call is unknown. */
export function isPriced({ serviceTiers: _tiers, tools: _tools, ...usual }: Pricing): boolean {
  return Object.values(usual).some((price) => price !== undefined);
}
