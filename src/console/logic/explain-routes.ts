import type { ModelPricing, PlanLine } from '../../client/models.ts';

/** A route in the order in which routes would be tried, with what a failing provider would change. */
export interface TriedRoute {
  readonly line: PlanLine;
  /** Position in the order, from 1; undefined for a route that is taken away. */
  readonly place: number | undefined;
}

/** The order of routes if some providers failed. */
export function orderWithout(lines: readonly PlanLine[], without: readonly string[]): TriedRoute[] {
  let place = 0;
  return lines.map((line) => ({
    line,
    place: without.includes(line.provider) ? undefined : ++place,
  }));
}

/** Members of prices that are none by themselves. */
const NO_PRICES = new Set(['currency', 'tiers']);

/**
 * Dollars of a class of tokens: nothing where a price is known and the class is not in it, as of free ones;
 * null where no price is known.
 */
export function priceOf(prices: ModelPricing | undefined, name: string): string | null | undefined {
  if (prices === undefined) return undefined;
  const isKnown = Object.entries(prices).some(
    ([member, price]) => !NO_PRICES.has(member) && price !== null,
  );
  return isKnown ? (prices[name] ?? '0') : null;
}
