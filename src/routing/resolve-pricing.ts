import { fromNanos, perMillionToNanos, toNanos } from '../core/money.ts';
import type { Dollars } from '../core/money.ts';
import { FREE } from '../usage/usage.ts';
import type { Pricing, TokenPrices } from '../usage/usage.ts';

type Price = Dollars | null | undefined;

interface TokenPricesRecord {
  input?: Price;
  output?: Price;
  cache_read?: Price;
  cache_write_5m?: Price;
  cache_write_1h?: Price;
  reasoning?: Price;
}

interface PricesRecord extends TokenPricesRecord {
  per_call?: Price;
  per_image?: Price;
  per_second?: Price;
  tiers?: readonly (TokenPricesRecord & { above: number })[] | undefined;
}

/** Pricing as resources carry it, in decimal USD. */
export type PricingRecord = 'free' | PricesRecord;

const TOKEN_CLASSES = {
  input: 'input',
  output: 'output',
  cache_read: 'cacheRead',
  cache_write_5m: 'cacheWrite5m',
  cache_write_1h: 'cacheWrite1h',
  reasoning: 'reasoning',
} as const satisfies Record<keyof TokenPricesRecord, keyof TokenPrices>;

const UNITS = {
  per_call: 'perCall',
  per_image: 'perImage',
  per_second: 'perSecond',
} as const satisfies Partial<Record<keyof PricesRecord, keyof Pricing>>;

const PER_MILLION = 1_000_000;

/** Prices as they are shown, in decimal USD: token classes per million tokens, the rest per unit. */
export type PricingView = { readonly currency: 'USD' } & Readonly<
  Record<keyof typeof TOKEN_CLASSES | keyof typeof UNITS, string | null>
>;

type Entries<T> = [keyof T, T[keyof T]][];

/** Pricing without a member where nothing is said. */
export function toPricing(record: PricingRecord | null | undefined): Pricing {
  if (record === 'free') return FREE;
  if (!record) return {};
  const units: { -readonly [K in (typeof UNITS)[keyof typeof UNITS]]?: number } = {};
  for (const [name, target] of Object.entries(UNITS) as Entries<typeof UNITS>) {
    const price = record[name];
    if (price !== null && price !== undefined) units[target] = toNanos(price);
  }
  const tiers = (record.tiers ?? []).map(({ above, ...prices }) => {
    return { above, ...toTokenPrices(prices) };
  });
  return { ...toTokenPrices(record), ...units, ...(tiers.length > 0 && { tiers }) };
}

/**
 * Pricing of a route: its own members, then those of the model. Token prices of its own put the tiers of
 * the model aside.
 */
export function mergePricing(
  model: PricingRecord | null | undefined,
  route: PricingRecord | null | undefined,
): Pricing {
  if (route === 'free') return FREE;
  const own = toPricing(route);
  const { tiers, ...shared } = toPricing(model);
  const isOverridden = Object.values(TOKEN_CLASSES).some((name) => own[name] !== undefined);
  return { ...shared, ...(tiers && !isOverridden && { tiers }), ...own };
}

function toTokenPrices(record: TokenPricesRecord): TokenPrices {
  const found: { -readonly [K in keyof TokenPrices]: number } = {};
  for (const [name, target] of Object.entries(TOKEN_CLASSES) as Entries<typeof TOKEN_CLASSES>) {
    const price = record[name];
    if (price !== null && price !== undefined) found[target] = perMillionToNanos(price);
  }
  return found;
}

/** Shows a price; members without a value are null, and without any the price is unknown. */
export function toPricingView(pricing: Pricing): PricingView {
  const shown = (names: Readonly<Record<string, Exclude<keyof Pricing, 'tiers'>>>, times: number) =>
    Object.entries(names).map(([name, member]) => {
      const price = pricing[member];
      return [name, price === undefined ? null : fromNanos(Math.round(price * times))];
    });
  const prices = Object.fromEntries([...shown(TOKEN_CLASSES, PER_MILLION), ...shown(UNITS, 1)]);
  return { currency: 'USD', ...prices } as PricingView;
}
