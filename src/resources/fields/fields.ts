import { z } from 'zod';
import { parseDuration } from '../../core/time/duration.ts';
import { fromNanos, toNanos } from '../../core/money.ts';
import type { PricedTool } from '../../core/usage.ts';
import { suggest } from '../../core/suggest.ts';

/**
 * A value that has the right type but no meaning (contract: Errors, 422). Everything else that zod
 * finds wrong is a malformed request (400).
 */
export function meaningless(context: z.core.$RefinementCtx, message: string): never {
  context.addIssue({ code: 'custom', message, params: { unprocessable: true } });
  return z.NEVER;
}

/**
 * An object without other members. Bodies may have newer ones, which are ignored; where that would lift
 * a limit unseen, they are refused.
 */
export function exactly<T extends z.core.$ZodLooseShape>(shape: T): z.ZodObject<T, z.core.$strict> {
  return z.strictObject(shape, {
    error(issue) {
      if (issue.code !== 'unrecognized_keys') return undefined;
      const hint = suggest(String(issue.keys[0]), Object.keys(shape));
      return hint === undefined ? 'unknown field' : `unknown field; ${hint}`;
    },
  });
}

const AMOUNT = 'expected an amount in USD such as 10 or "10.50"';
const DURATION = 'expected a duration such as 500ms, 30s, 5m or 1h';

/** Unchanged when it is read again, so that stored fields can be merged with a patch and parsed again. */
export const dollars = z
  .union([z.string(), z.number()], { error: AMOUNT })
  .transform((value, context): string => {
    try {
      return fromNanos(toNanos(value));
    } catch {
      return meaningless(context, AMOUNT);
    }
  });

/** Duration as declared: `300ms`, `2s`, `5m`, `1h`, or a number of seconds. */
export const duration = z
  .union([z.string(), z.number()], { error: DURATION })
  .transform((value, context): string => {
    try {
      parseDuration(value);
      return typeof value === 'number' ? `${value}s` : value.trim();
    } catch {
      return meaningless(context, DURATION);
    }
  });

/** Most connections to a provider or an API. */
export const connections = z
  .number()
  .int()
  .min(1)
  .max(65_535)
  .nullable()
  .default(null)
  .describe(
    'Connections at once from each process; default: half of its file limit, 4,096 at most.',
  );

const timestamp = z.union([z.iso.datetime({ offset: true }), z.iso.date()]);

/** An RFC 3339 time; a date without a time is its midnight in UTC. */
export const instant = z.string().transform((value, context): string => {
  const text = value.trim();
  if (timestamp.safeParse(text).success) return new Date(text).toISOString();
  return meaningless(context, 'expected an RFC 3339 time such as 2026-12-31T00:00:00Z');
});

/** A time as views show it; null before it has come, or for ever. */
export const shownInstant = z.string().nullable();

export const labels = z
  .record(z.string().min(1).max(128), z.string().max(512))
  .refine((value) => Object.keys(value).length <= 64, 'at most 64 labels')
  .default({})
  .describe('Free names and values; names that begin with `gateway/` are kept by the gateway.');

/** Characters that no one sees make two names look like one. */
const CONTROL = /[\p{Cc}\u2028\u2029]/u;

/** Longest name, in UTF-16 units. */
export const MAX_NAME_LENGTH = 256;

export const name = z
  .string()
  .trim()
  .min(1)
  .max(MAX_NAME_LENGTH)
  .refine((value) => !CONTROL.test(value), {
    error: 'control characters are not allowed',
    params: { unprocessable: true },
  })
  .describe('Unique name.');

/** Organization that owns the resource; stored as its id. */
export const owner = z
  .string()
  .trim()
  .min(1)
  .optional()
  .describe('Owning organization; default: the caller’s.');

/** Pairs of the user's own (requirement resource.metadata.rules). */
export const metadata = z
  .record(z.string().min(1).max(64), z.string().max(512))
  .refine((value) => Object.keys(value).length <= 16, 'at most 16 pairs')
  .nullish()
  .transform((value) => value ?? {})
  .describe('Up to 16 pairs of texts.');

const limitWindows = exactly({
  lifetime: dollars.optional().describe('USD that may ever be spent.'),
  day: dollars.optional().describe('USD per calendar day (UTC).'),
  month: dollars.optional().describe('USD per calendar month (UTC).'),
});

/** An amount without a period is a lifetime limit. */
export const spendingLimit = z
  .union([dollars.transform((lifetime) => ({ lifetime })), limitWindows], {
    error: 'expected an amount in USD, or {lifetime?, day?, month?}',
  })
  .nullable()
  .default(null)
  .describe(
    'Most that may be spent, in USD: an amount for the lifetime, or {lifetime?, day?, month?}.',
  );

export const timeouts = z
  .object({
    first_content: duration.optional().describe('To the first content of an answer.'),
    idle: duration.optional().describe('Silence between two chunks of a stream.'),
    total: duration.optional().describe('The whole call over all candidates.'),
  })
  .nullable()
  .default(null)
  .describe('Overrides of the timeouts of the server.');

const perMillion = (what: string) => dollars.optional().describe(`USD per million ${what}.`);

const tokenPrices = {
  input: perMillion('input tokens'),
  output: perMillion('output tokens'),
  cache_read: perMillion('tokens read from the cache; default: as input'),
  cache_write_5m: perMillion('tokens written to the 5-minute cache; default: as input'),
  cache_write_1h: perMillion('tokens written to the 1-hour cache; default: as the 5-minute cache'),
  reasoning: perMillion('reasoning tokens; default: as output'),
  input_audio: perMillion('input tokens of audio; default: as input'),
  input_image: perMillion('input tokens of pictures; default: as input'),
  input_video: perMillion('input tokens of video; default: as input'),
  cache_read_audio: perMillion('tokens of audio read from the cache; default: as cache_read'),
  cache_read_image: perMillion('tokens of pictures read from the cache; default: as cache_read'),
  output_audio: perMillion('output tokens of audio; default: as output'),
  output_image: perMillion('output tokens of pictures; default: as output'),
  output_video: perMillion('output tokens of video; default: as output'),
};

const priceTier = exactly({
  above: z
    .int()
    .positive()
    .describe('Tokens of input, cached ones included, above which the tier holds.'),
  ...tokenPrices,
});

const tiers = z
  .array(priceTier)
  .max(8)
  .optional()
  .describe('Prices of tokens in calls with much input, in place of those beside them.');

const serviceTier = exactly({
  times: z
    .number()
    .min(0)
    .max(1000)
    .optional()
    .describe('Factor of the usual prices of tokens, or of those given here; default: 1.'),
  ...tokenPrices,
  tiers,
});

const perUse = (what: string) => dollars.optional().describe(`USD per ${what}.`);

const toolPrices = exactly({
  web_search: perUse('search of the web'),
  grounded_answer: perUse('answer that searched the web, in place of web_search'),
  x_search: perUse('search of X'),
  maps_search: perUse('answer that used maps'),
  file_search: perUse('search of files'),
  code_execution: perUse('container or call that ran code'),
  image_generation: perUse('call of a tool that makes pictures'),
} satisfies Record<PricedTool, unknown>);

const prices = z.object({
  ...tokenPrices,
  per_call: dollars.optional().describe('USD per call.'),
  per_image: dollars.optional().describe('USD per image.'),
  per_second: dollars.optional().describe('USD per second of media.'),
  tiers,
  service_tiers: z
    .record(z.string().min(1).max(64), serviceTier)
    .refine((value) => Object.keys(value).length <= 16, 'at most 16 ways of service')
    .optional()
    .describe('Prices of tokens by the way of service that an answer names: flex, priority, fast.'),
  tools: toolPrices.optional().describe("Prices of uses of the provider's own tools."),
});

export const pricing = z
  .union([z.literal('free'), prices], {
    error: 'expected free, or prices such as {input: 0.25, output: 2}',
  })
  .nullable()
  .default(null)
  .describe('Price of a call in USD, or free; default: as the vendor publishes it.');
