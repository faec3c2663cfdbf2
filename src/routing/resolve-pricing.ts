import { fromNanos, perMillionToNanos, toNanos } from '../core/money.ts';
import type { Dollars } from '../core/money.ts';
import { FREE } from '../usage/usage.ts';
import { PRICED_TOOLS } from '../core/usage.ts';
import type { PricedTool } from '../core/usage.ts';
import type { Pricing, ServiceTier, TokenPrices } from '../usage/usage.ts';

type Price = Dollars | null | undefined;

type TokenPricesRecord = { [K in keyof typeof TOKEN_CLASSES | keyof typeof MEDIA_CLASSES]?: Price };

type TiersRecord = readonly (TokenPricesRecord & { above: number })[] | undefined;

type ServiceTierRecord = TokenPricesRecord & { times?: number | undefined; tiers?: TiersRecord };

interface PricesRecord extends TokenPricesRecord {
  per_call?: Price;
  per_image?: Price;
  per_second?: Price;
  tiers?: TiersRecord;
  service_tiers?: Readonly<Record<string, ServiceTierRecord>> | undefined;
  tools?: { [K in PricedTool]?: Price } | undefined;
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
} as const satisfies Record<string, keyof TokenPrices>;

/** Classes that few models have; shown where they are priced. */
const MEDIA_CLASSES = {
  input_audio: 'inputAudio',
  input_image: 'inputImage',
  input_video: 'inputVideo',
  cache_read_audio: 'cacheReadAudio',
  cache_read_image: 'cacheReadImage',
  output_audio: 'outputAudio',
  output_image: 'outputImage',
  output_video: 'outputVideo',
} as const satisfies Record<string, keyof TokenPrices>;

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

type ShownPrice = Exclude<keyof Pricing, 'tiers' | 'serviceTiers' | 'tools'>;
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
  const { service_tiers: services, tools } = record;
  return {
    ...toTokenPrices(record),
    ...units,
    ...toTiers(record.tiers),
    ...(services && { serviceTiers: toServiceTiers(services) }),
    ...(tools && { tools: toTools(tools) }),
  };
}

function toTiers(records: TiersRecord): Pick<Pricing, 'tiers'> {
  const tiers = (records ?? []).map(({ above, ...prices }) => {
    return { above, ...toTokenPrices(prices) };
  });
  return tiers.length > 0 ? { tiers } : {};
}

/** Names as answers give them, in lower case. */
function toServiceTiers(
  records: Readonly<Record<string, ServiceTierRecord>>,
): Record<string, ServiceTier> {
  const entries = Object.entries(records).map(([name, { times, tiers, ...prices }]) => {
    const own = { ...toTokenPrices(prices), ...toTiers(tiers) };
    return [name.toLowerCase(), times === undefined ? own : { ...own, times }] as const;
  });
  return Object.fromEntries(entries);
}

function toTools(record: NonNullable<PricesRecord['tools']>): NonNullable<Pricing['tools']> {
  const found: { [K in PricedTool]?: number } = {};
  for (const name of PRICED_TOOLS) {
    const price = record[name];
    if (price !== null && price !== undefined) found[name] = toNanos(price);
  }
  return found;
}

/**
 * Pricing of a route: its own members, then those of the model. Token prices of its own put the tiers of
 * the model aside, those by service too.
 */
export function mergePricing(
  model: PricingRecord | null | undefined,
  route: PricingRecord | null | undefined,
): Pricing {
  if (route === 'free') return FREE;
  const own = toPricing(route);
  const { tiers, serviceTiers, ...shared } = toPricing(model);
  const isOverridden = Object.values(TOKEN_CLASSES).some((name) => own[name] !== undefined);
  if (isOverridden) return { ...shared, ...own };
  return { ...shared, ...(tiers && { tiers }), ...(serviceTiers && { serviceTiers }), ...own };
}

function toTokenPrices(record: TokenPricesRecord): TokenPrices {
  const found: { -readonly [K in keyof TokenPrices]: number } = {};
  const all = { ...TOKEN_CLASSES, ...MEDIA_CLASSES };
  for (const [name, target] of Object.entries(all) as Entries<typeof all>) {
    const price = record[name];
    if (price !== null && price !== undefined) found[target] = perMillionToNanos(price);
  }
  return found;
}

/** Shows a price; members without a value are null, and without any the price is unknown. */
export function toPricingView(pricing: Pricing): PricingView {
  const shown = (names: Readonly<Record<string, ShownPrice>>, times: number) =>
    Object.entries(names).map(([name, member]) => {
      const price = pricing[member];
      return [name, price === undefined ? null : fromNanos(Math.round(price * times))];
    });
  const media = shown(MEDIA_CLASSES, PER_MILLION).filter(([, price]) => price !== null);
  const prices = Object.fromEntries([
    ...shown(TOKEN_CLASSES, PER_MILLION),
    ...shown(UNITS, 1),
    ...media,
  ]);
  return { currency: 'USD', ...prices } as PricingView;
}
