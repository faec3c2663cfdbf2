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
  /** Parts of the classes that are no text. Absent: the provider counts no kind apart. */
  media?: MediaTokens | undefined;
  /** Uses of the provider's own tools that are charged by the use. Default: none. */
  tools?: ToolUses | undefined;
  /** Ways of service that have prices of their own, as the answer names them. Default: the standard one. */
  service?: readonly string[] | undefined;
  /** The provider's own usage object, as parsed. */
  raw?: unknown;
}

/** Tokens of `input`, `cacheRead` and `output` by kind; the rest is text. */
export type MediaTokens = Readonly<Partial<Record<MediaClass, number>>>;

export type MediaClass =
  | 'inputAudio'
  | 'inputImage'
  | 'inputVideo'
  | 'cacheReadAudio'
  | 'cacheReadImage'
  | 'outputAudio'
  | 'outputImage'
  | 'outputVideo';

/** Tools of providers that are charged by the use, by the names that `pricing.tools` gives them. */
export const PRICED_TOOLS = [
  'web_search',
  'grounded_answer',
  'x_search',
  'maps_search',
  'file_search',
  'code_execution',
  'image_generation',
] as const;

export type PricedTool = (typeof PRICED_TOOLS)[number];

export type ToolUses = Readonly<Partial<Record<PricedTool, number>>>;

/** What a request asks for that is priced apart from its tokens of text. */
export interface AskedService {
  /** Ways of service by name, any of which may answer, as may the standard one. */
  readonly service?: readonly string[] | undefined;
  /** True: the client left the way of service to the provider. */
  readonly anyService?: boolean | undefined;
  /** Most uses of tools. */
  readonly tools?: ToolUses | undefined;
}

const STANDARD = new Set([
  '',
  'auto',
  'default',
  'standard',
  'standard_only',
  'on_demand',
  'global',
]);

/**
 * Ways of service that a provider or client names, in lower case, without those that mean the standard one.
 * Undefined where none is left.
 */
export function serviceOf(...named: readonly unknown[]): string[] | undefined {
  const found = named
    .filter((one) => typeof one === 'string')
    .map((one) => one.trim().toLowerCase())
    .filter((one) => !STANDARD.has(one) && !/^(?:not_available|.*unspecified)$/.test(one));
  return found.length === 0 ? undefined : [...new Set(found)];
}

/** Sum of the counts that records keep. */
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
