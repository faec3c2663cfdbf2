import { z } from 'zod';
import { once } from '../../core/lazy.ts';

/** Rule by which a list matches names to a model. */
export type NameMatch =
  | { readonly or: readonly NameMatch[] }
  | { readonly and: readonly NameMatch[] }
  | { readonly equals: string }
  | { readonly starts_with: string }
  | { readonly ends_with: string }
  | { readonly contains: string }
  | { readonly regex: string };

interface Tiered {
  readonly base: number;
  /** Price above so many tokens of input. */
  readonly tiers: readonly { readonly start: number; readonly price: number }[];
}

/** Dollars per million tokens by the name of a class, such as `input_mtok`. */
export type ModelPrice = Readonly<Record<string, number | Tiered | undefined>>;

interface DatedPrice {
  readonly prices: ModelPrice;
  readonly constraint?:
    | { readonly start_date: string }
    | { readonly start_time: string; readonly end_time: string }
    | undefined;
}

export interface VendorModel {
  readonly id: string;
  readonly match: NameMatch;
  readonly description?: string | undefined;
  readonly context_window?: number | undefined;
  readonly prices: ModelPrice | readonly DatedPrice[];
}

/** One vendor of a list in the format of genai-prices. */
export interface Vendor {
  readonly id: string;
  readonly models: readonly VendorModel[];
  /** Vendors whose prices hold for models that this one does not list. */
  readonly fallback_model_providers?: readonly string[] | undefined;
}

/** True for a name that the rule means; `name` is in lower case. */
export function matchesName(rule: NameMatch, name: string): boolean {
  if ('or' in rule) return rule.or.some((one) => matchesName(one, name));
  if ('and' in rule) return rule.and.every((one) => matchesName(one, name));
  if ('equals' in rule) return name === rule.equals.toLowerCase();
  if ('starts_with' in rule) return name.startsWith(rule.starts_with.toLowerCase());
  if ('ends_with' in rule) return name.endsWith(rule.ends_with.toLowerCase());
  if ('contains' in rule) return name.includes(rule.contains.toLowerCase());
  return new RegExp(rule.regex).test(name);
}

/**
 * Prices that a model has on the day: the last that has begun, and with it those that hold for some
 * hours of the day.
 */
export function inForce({ prices }: VendorModel, at: number): readonly ModelPrice[] {
  if (!isDated(prices)) return [prices];
  let lasting: ModelPrice | undefined;
  const daily: ModelPrice[] = [];
  for (const { constraint, prices: own } of prices) {
    if (constraint && 'start_time' in constraint) daily.push(own);
    else if (!constraint || Date.parse(`${constraint.start_date}T00:00:00Z`) <= at) lasting = own;
  }
  return lasting ? [lasting, ...daily] : daily;
}

function isDated(prices: VendorModel['prices']): prices is readonly DatedPrice[] {
  return Array.isArray(prices);
}

/** Most bytes of a list as a file. */
export const MAX_PRICE_LIST_BYTES = 4 * 1024 * 1024;

const price = once(() => z.number().min(0).max(1_000_000));
const tiered = once(() =>
  z.object({
    base: price(),
    tiers: z.array(z.object({ start: z.number().min(0), price: price() })).max(16),
  }),
);
const modelPrice = once(() =>
  z.record(
    z.string(),
    z.union([price(), tiered()], 'must be a number of dollars, or one as `base` with `tiers`'),
  ),
);

const MOST_NESTED = 8;

function nameMatch(depth = 0): z.ZodType<NameMatch> {
  const text = z.string().min(1).max(512);
  const plain = [
    z.strictObject({ equals: text }),
    z.strictObject({ starts_with: text }),
    z.strictObject({ ends_with: text }),
    z.strictObject({ contains: text }),
    z.strictObject({
      regex: text
        .refine(isRegex, 'no regular expression')
        .refine(isQuick, `repeats a group, or more than ${MOST_REPEATS} parts without an end`),
    }),
  ] as const;
  const wrong = `must be one of or, and, equals, starts_with, ends_with, contains and regex, ${MOST_NESTED} deep at most`;
  if (depth === MOST_NESTED) return z.union(plain, wrong);
  const inner = z.lazy(() => z.array(nameMatch(depth + 1)).max(256));
  return z.union([z.strictObject({ or: inner }), z.strictObject({ and: inner }), ...plain], wrong);
}

function isRegex(text: string): boolean {
  try {
    return new RegExp(text) instanceof RegExp;
  } catch {
    return false;
  }
}

const MOST_REPEATS = 3;

/** False for an expression that could try the parts of a name in too many ways. */
function isQuick(regex: string): boolean {
  const repeats = regex.match(/[*+]|\{\d+,/g) ?? [];
  return repeats.length <= MOST_REPEATS && !/\)[*+{]/.test(regex);
}

const datedPrice = once(() =>
  z.object({
    prices: modelPrice(),
    constraint: z
      .union(
        [
          z.object({ start_date: z.iso.date() }),
          z.object({ start_time: z.string(), end_time: z.string() }),
        ],
        'must have start_date, or start_time and end_time',
      )
      .optional(),
  }),
);

const vendor = once(() =>
  z.object({
    id: z.string().min(1).max(128),
    models: z
      .array(
        z.object({
          id: z.string().min(1).max(512),
          match: nameMatch(),
          description: z.string().max(10_000).optional(),
          context_window: z.int().positive().optional(),
          prices: z.union([z.array(datedPrice()), modelPrice()]),
        }),
      )
      .max(5_000),
    fallback_model_providers: z.array(z.string().max(128)).max(16).optional(),
  }),
);

/** Vendors of a list, each once; what else their entries say is left out. */
export const vendorFields: () => z.ZodObject<{ providers: z.ZodType<Vendor[]> }> = once(() =>
  z.object({
    providers: z
      .array(vendor())
      .min(1)
      .max(500)
      .superRefine((vendors, context) => {
        const ids = vendors.map(({ id }) => id);
        const again = ids.findIndex((id, index) => ids.indexOf(id) < index);
        if (again >= 0)
          context.addIssue({
            code: 'custom',
            message: 'is there twice',
            path: [again, 'id'],
            input: ids[again],
          });
      }),
  }),
);
