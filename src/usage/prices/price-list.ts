import { isPriced } from '../usage.ts';
import { servicePrices } from './service-prices.ts';
import type { PriceTier, Pricing, TokenPrices } from '../usage.ts';
import { inForce, matchesName } from './vendor-prices.ts';
import type { ModelPrice, Vendor, VendorModel } from './vendor-prices.ts';

/** Prices and sizes of one upstream model, as its vendor publishes them. */
export interface ListedModel {
  readonly pricing: Pricing;
  readonly contextWindow: number | undefined;
  readonly description: string | undefined;
}

/** Published prices of vendors. */
export interface PriceList {
  /**
   * The model of a vendor, by the `type` of the provider and the upstream name; undefined for one that
   * is not listed, and for every type that is no vendor with one price list.
   */
  find(type: string, upstreamModel: string, at: number): ListedModel | undefined;
}

/** Types of providers that have a price list, with the names that the lists give them. */
const VENDORS: ReadonlyMap<string, string> = new Map([
  ['anthropic', 'anthropic'],
  ['azure-openai', 'azure'],
  ['cohere', 'cohere'],
  ['deepseek', 'deepseek'],
  ['fireworks', 'fireworks'],
  ['google', 'google'],
  ['groq', 'groq'],
  ['mistral', 'mistral'],
  ['openai', 'openai'],
  ['openrouter', 'openrouter'],
  ['together', 'together'],
  ['xai', 'x-ai'],
]);

/** True for a type of provider whose prices are published. */
export function isListed(type: string): boolean {
  return VENDORS.has(type);
}

/** Vendors, by their names in lists, whose prices are used. */
export const USED_VENDORS: readonly string[] = [...VENDORS.values()];

/** Nano-dollars per token in a dollar per million tokens. */
const NANOS_PER_DOLLAR = 1000;

const TOKEN_CLASSES = {
  input: ['input_mtok'],
  output: ['output_mtok'],
  cacheRead: ['cache_read_mtok'],
  cacheWrite5m: ['cache_write_mtok'],
  cacheWrite1h: ['cache_write_1h_mtok'],
  reasoning: ['output_reasoning_mtok'],
  inputAudio: ['input_audio_mtok'],
  inputImage: ['input_image_mtok'],
  inputVideo: ['input_video_mtok'],
  cacheReadAudio: ['cache_audio_read_mtok'],
  cacheReadImage: ['cache_image_read_mtok'],
  outputAudio: ['output_audio_mtok'],
  outputImage: ['output_image_mtok'],
  outputVideo: ['output_video_mtok'],
} as const satisfies Record<keyof TokenPrices, readonly string[]>;

/** Uses of tools, in thousands. */
const TOOLS = {
  web_search: 'web_searches_kcount',
  file_search: 'storage_searches_kcount',
} as const;
/** Nano-dollars of one use in a dollar per thousand. */
const NANOS_PER_USE = 1_000_000;

const CLASSES = Object.keys(TOKEN_CLASSES) as (keyof TokenPrices)[];
/** What calls are charged by; a model with another dimension, such as hours of audio, has no known price. */
const CHARGED: ReadonlySet<string> = new Set([
  ...Object.values(TOKEN_CLASSES).flat(),
  ...Object.values(TOOLS),
]);

/** Reads a price list; `vendorOf` gives the vendor of a name in it. */
export function createPriceList(vendorOf: (id: string) => Vendor | undefined): PriceList {
  return {
    find(type, upstreamModel, at) {
      const id = VENDORS.get(type);
      if (id === undefined) return undefined;
      const vendor = vendorOf(id);
      const model = vendor && findModel(vendor, upstreamModel, vendorOf);
      if (!model) return undefined;
      return {
        pricing: withService(toPricing(inForce(model, at)), servicePrices(id, upstreamModel)),
        contextWindow: model.context_window,
        description: model.description,
      };
    },
  };
}

function findModel(
  vendor: Vendor,
  name: string,
  vendorOf: (id: string) => Vendor | undefined,
): VendorModel | undefined {
  const lists = [vendor, ...(vendor.fallback_model_providers ?? []).map(vendorOf)];
  for (const list of lists) {
    const found = list?.models.find(({ match }) => matchesName(match, name.trim().toLowerCase()));
    if (found) return found;
  }
  return undefined;
}

/** Prices of a model with those that the list has no member for. */
function withService(
  { tools, ...pricing }: Pricing,
  { serviceTiers, tools: further }: Pick<Pricing, 'serviceTiers' | 'tools'>,
): Pricing {
  if (!isPriced(pricing)) return pricing;
  const all = { ...further, ...tools };
  return {
    ...pricing,
    ...(serviceTiers && { serviceTiers }),
    ...(Object.keys(all).length > 0 && { tools: all }),
  };
}

/** The dearest of the prices, class by class: which one a call falls under is known afterwards only. */
function toPricing(prices: readonly ModelPrice[]): Pricing {
  const starts = new Set(prices.flatMap(startsOf));
  const base = tokenPrices(prices, 0);
  const isCharged = prices.flatMap(Object.keys).every((name) => CHARGED.has(name));
  if (!isCharged || !isPriced(base)) return {};
  const tiers = [...starts]
    .sort((a, b) => a - b)
    .map((above): PriceTier => {
      return { above, ...tokenPrices(prices, above + 1) };
    });
  const tools = toolPrices(prices);
  return { ...base, ...(tiers.length > 0 && { tiers }), ...(tools && { tools }) };
}

function toolPrices(prices: readonly ModelPrice[]): Pricing['tools'] {
  const found = Object.entries(TOOLS).flatMap(([tool, name]) => {
    const values = prices.flatMap((price) => priceAt(price[name], 0) ?? []);
    return values.length > 0 ? [[tool, Math.max(...values) * NANOS_PER_USE] as const] : [];
  });
  return found.length > 0 ? Object.fromEntries(found) : undefined;
}

function startsOf(price: ModelPrice): number[] {
  const names: readonly string[] = Object.values(TOKEN_CLASSES).flat();
  return names.flatMap((name) => {
    const value = price[name];
    return typeof value === 'object' ? value.tiers.map(({ start }) => start) : [];
  });
}

function tokenPrices(prices: readonly ModelPrice[], input: number): TokenPrices {
  const found: { -readonly [K in keyof TokenPrices]: number } = {};
  for (const name of CLASSES) {
    const values = prices.flatMap((price) =>
      TOKEN_CLASSES[name].flatMap((member) => priceAt(price[member], input) ?? []),
    );
    if (values.length > 0) found[name] = Math.max(...values) * NANOS_PER_DOLLAR;
  }
  return found;
}

function priceAt(value: ModelPrice[string], input: number): number | undefined {
  if (typeof value !== 'object') return value;
  let price = value.base;
  let highest = -1;
  for (const tier of value.tiers) {
    if (input <= tier.start || tier.start <= highest) continue;
    ({ price, start: highest } = tier);
  }
  return price;
}
