import { PRICED_TOOLS } from '../../core/usage.ts';
import type { AskedService, MediaClass, ToolUses, Usage } from '../../core/usage.ts';
import { isPriced } from '../usage.ts';
import type { Pricing, ServiceTier, TokenPrices } from '../usage.ts';

const CHARS_PER_TOKEN = 4;
/** Most that a call is taken to cost, in nano-dollars: about 70,000 dollars. Sums of many stay exact. */
const MAX_BOUND = 2 ** 46;
const NO_TIERS: NonNullable<Pricing['tiers']> = [];
/** Way of service that a provider may choose where the client leaves the choice to it. */
const CHOSEN = ['priority'];

const INPUT_MEDIA = ['inputAudio', 'inputImage', 'inputVideo'] as const;
const CACHED_MEDIA = ['cacheReadAudio', 'cacheReadImage'] as const;
const OUTPUT_MEDIA = ['outputAudio', 'outputImage', 'outputVideo'] as const;

export interface Charge {
  /** Nano-dollars; of unpriced calls the part that is known, and tokens at the usual prices. */
  readonly cost: number;
  /** True: the price of something that the call used is unknown. */
  readonly unpriced: boolean;
}

/** The price of usage, and whether it is all of it. */
export function priceOf(usage: Usage, pricing: Pricing): Charge {
  const { isKnown } = servedPrices(usage, pricing);
  const unpriced = !isPriced(pricing) || !isKnown || toolCost(usage.tools, pricing) === undefined;
  return { cost: costOf(usage, pricing), unpriced };
}

/** The price of usage, in whole nano-dollars; rounded half up once, at the end. */
export function costOf(usage: Usage, pricing: Pricing): number {
  const { prices, times } = servedPrices(usage, pricing);
  const total =
    tokenCost(usage, prices) * times +
    usage.images * (pricing.perImage ?? 0) +
    usage.seconds * (pricing.perSecond ?? 0) +
    (pricing.perCall ?? 0) +
    knownToolCost(usage.tools, pricing);
  return Math.floor(total + 0.5);
}

function tokenCost(usage: Usage, prices: TokenPrices): number {
  const { media } = usage;
  const input = prices.input ?? 0;
  const output = prices.output ?? 0;
  const cacheWrite5m = prices.cacheWrite5m ?? input;
  const reasoning = Math.min(usage.reasoning, usage.output);
  const ofClass = (names: readonly MediaClass[], tokens: number, usual: number): number => {
    let rest = tokens;
    let cost = 0;
    for (const name of names) {
      const part = Math.min(media?.[name] ?? 0, rest);
      rest -= part;
      cost += part * (prices[name] ?? usual);
    }
    return cost + rest * usual;
  };
  // Where the provider counts no kinds apart, the pictures of a model that makes them count in its output.
  const untold = media ? output : Math.max(output, prices.outputImage ?? 0);
  return (
    ofClass(INPUT_MEDIA, usage.input, input) +
    ofClass(CACHED_MEDIA, usage.cacheRead, prices.cacheRead ?? input) +
    usage.cacheWrite5m * cacheWrite5m +
    usage.cacheWrite1h * (prices.cacheWrite1h ?? cacheWrite5m) +
    ofClass(OUTPUT_MEDIA, usage.output - reasoning, untold) +
    reasoning * (prices.reasoning ?? output)
  );
}

function totalInput({ input, cacheRead, cacheWrite5m, cacheWrite1h }: Usage): number {
  return input + cacheRead + cacheWrite5m + cacheWrite1h;
}

interface ServedPrices {
  readonly prices: TokenPrices;
  readonly times: number;
  /** False where a way of service has no known price. */
  readonly isKnown: boolean;
}

function servedPrices(usage: Usage, pricing: Pricing): ServedPrices {
  let base: TokenPrices & Pick<Pricing, 'tiers'> = pricing;
  let times = 1;
  let isKnown = true;
  // Without prices of tokens every way of service costs the same.
  for (const name of hasTokenPrices(pricing) ? (usage.service ?? []) : []) {
    const tier = serviceTier(pricing, name);
    isKnown &&= tier !== undefined;
    if (tier && hasTokenPrices(tier)) base = tier;
    times *= tier?.times ?? 1;
  }
  return { prices: reachedTier(base, totalInput(usage)), times, isKnown };
}

function serviceTier({ serviceTiers }: Pricing, name: string): ServiceTier | undefined {
  return serviceTiers && Object.hasOwn(serviceTiers, name) ? serviceTiers[name] : undefined;
}

function hasTokenPrices({ input, output }: TokenPrices): boolean {
  return input !== undefined || output !== undefined;
}

/** Prices of the highest tier that the input reaches; prices that it leaves out are as usual. */
function reachedTier(pricing: TokenPrices & Pick<Pricing, 'tiers'>, input: number): TokenPrices {
  let reached: TokenPrices = pricing;
  let highest = -1;
  for (const tier of pricing.tiers ?? NO_TIERS) {
    if (input <= tier.above || tier.above <= highest) continue;
    reached = { ...pricing, ...tier };
    highest = tier.above;
  }
  return reached;
}

/** Undefined where a tool that was used has no known price. Free calls use tools for nothing. */
function toolCost(uses: ToolUses | undefined, pricing: Pricing): number | undefined {
  if (!uses) return 0;
  const { tools = {} } = pricing;
  // Some charge an answer that searched, however often it did.
  const isByAnswer = tools.grounded_answer !== undefined && (uses.web_search ?? 0) > 0;
  let cost = 0;
  for (const name of PRICED_TOOLS) {
    const count = uses[name] ?? 0;
    if (count === 0) continue;
    const each = name === 'web_search' && isByAnswer ? 0 : tools[name];
    if (each === undefined && hasTokenPrices(pricing)) return undefined;
    cost += count * (each ?? 0);
  }
  return isByAnswer ? cost + (tools.grounded_answer ?? 0) : cost;
}

/** Cost of the tools whose price is known. */
function knownToolCost(uses: ToolUses | undefined, pricing: Pricing): number {
  if (!uses) return 0;
  const all = toolCost(uses, pricing);
  if (all !== undefined) return all;
  const known = PRICED_TOOLS.filter((name) => pricing.tools?.[name] !== undefined);
  const priced = Object.fromEntries(known.map((name) => [name, uses[name] ?? 0]));
  return toolCost(priced, pricing) ?? 0;
}

/** True where everything that a request asks for by name has a known price. */
export function pricesAsked(pricing: Pricing, { service = [], tools }: AskedService): boolean {
  if (!isPriced(pricing)) return false;
  const isServed =
    !hasTokenPrices(pricing) || service.every((name) => serviceTier(pricing, name) !== undefined);
  return isServed && toolCost(tools, pricing) !== undefined;
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
  /** Default: the standard service without tools. */
  asks?: AskedService | undefined;
  pricing: Pricing;
}

/**
 * The most that a call can cost, in whole nano-dollars: every token at the dearest class and way of service
 * that it could be billed as. Rounded up, so that {@link costOf} within the bounds never exceeds it, up to
 * {@link MAX_BOUND}.
 */
export function boundOf({
  inputBound,
  outputBound,
  images = 0,
  seconds = 0,
  asks = {},
  pricing,
}: CostBound): number {
  const bounds = { inputBound, outputBound };
  let tokens = dearestOf(pricing, bounds);
  let times = 1;
  for (const name of [...(asks.service ?? []), ...(asks.anyService ? CHOSEN : [])]) {
    const tier = serviceTier(pricing, name);
    if (tier && hasTokenPrices(tier)) tokens = Math.max(tokens, dearestOf(tier, bounds));
    times *= Math.max(1, tier?.times ?? 1);
  }
  const cost =
    tokens * times +
    images * (pricing.perImage ?? 0) +
    seconds * (pricing.perSecond ?? 0) +
    (pricing.perCall ?? 0) +
    knownToolCost(asks.tools, pricing);
  return Math.min(Math.ceil(cost), MAX_BOUND);
}

type TokenBounds = Pick<CostBound, 'inputBound' | 'outputBound'>;

function dearestOf(pricing: TokenPrices & Pick<Pricing, 'tiers'>, bounds: TokenBounds): number {
  let tokens = dearestTokens(pricing, bounds);
  for (const tier of pricing.tiers ?? NO_TIERS)
    if (bounds.inputBound > tier.above)
      tokens = Math.max(tokens, dearestTokens({ ...pricing, ...tier }, bounds));
  return tokens;
}

function dearestTokens(prices: TokenPrices, { inputBound, outputBound }: TokenBounds): number {
  const input = prices.input ?? 0;
  const output = prices.output ?? 0;
  const cacheRead = prices.cacheRead ?? input;
  const cacheWrite5m = prices.cacheWrite5m ?? input;
  const cacheWrite1h = prices.cacheWrite1h ?? cacheWrite5m;
  const dearest = (names: readonly MediaClass[]): number =>
    Math.max(0, ...names.map((name) => prices[name] ?? 0));
  return (
    inputBound *
      Math.max(
        input,
        cacheRead,
        cacheWrite5m,
        cacheWrite1h,
        dearest(INPUT_MEDIA),
        dearest(CACHED_MEDIA),
      ) +
    outputBound * Math.max(output, prices.reasoning ?? output, dearest(OUTPUT_MEDIA))
  );
}

/** A guess at the tokens of a text, for calls whose provider reported no usage. */
export function estimateTokens(chars: number): number {
  return Math.ceil(chars / CHARS_PER_TOKEN);
}
