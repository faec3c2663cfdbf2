import { usageError } from '../cli-error.ts';
import type { FlagValues } from '../grammar/flags.ts';
import type { KEY_LIMITS } from '../tables/key-commands.ts';

type Limits = FlagValues<typeof KEY_LIMITS>;

const WINDOWS = {
  lifetime: 'spending-limit',
  day: 'spending-limit-day',
  month: 'spending-limit-month',
} as const;

type AmountFlag = (typeof WINDOWS)[keyof typeof WINDOWS] | 'conversation-spending';

/** Fields of a key that the flags of `keys create` and `keys update` give; absent flags give none. */
export function readKeyFields(flags: Limits, now: number): Record<string, unknown> {
  const spending = readSpending(flags);
  const given = {
    scopes: listOrNothing(flags.scope),
    role: flags.role,
    rpm_cap: flags['rpm-cap'],
    concurrency_cap: flags['concurrency-cap'],
    limits: readLimits(flags),
    spending_limit: Object.keys(spending).length === 0 ? undefined : spending,
    expires_at: readExpiry(flags, now),
    allowed_models: listOrNothing(flags['allowed-model']),
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

/** Windows of a spending limit by their flags: `spending-limit-day` is `day`. */
export function windowOf(flag: string): string | undefined {
  return Object.entries(WINDOWS).find(([, name]) => name === flag)?.[0];
}

function listOrNothing(items: readonly string[]): readonly string[] | undefined {
  return items.length === 0 ? undefined : items;
}

function readSpending(flags: Limits): Record<string, string> {
  const limits: Record<string, string> = {};
  for (const [window, flag] of Object.entries(WINDOWS)) {
    const amount = readAmount(flags, flag);
    if (amount !== undefined) limits[window] = amount;
  }
  return limits;
}

function readLimits(flags: Limits): Record<string, string> | undefined {
  const amount = readAmount(flags, 'conversation-spending');
  return amount === undefined ? undefined : { conversation_spending: amount };
}

function readAmount(flags: Limits, flag: AmountFlag): string | undefined {
  const text = flags[flag];
  if (text !== undefined && !/^\d{1,12}(\.\d{1,9})?$/.test(text))
    throw usageError(`--${flag} must be an amount such as 5 or 2.50`);
  return text;
}

function readExpiry(flags: Limits, now: number): string | undefined {
  const at = flags['expires-at'];
  const after = flags['expires-in'];
  if (after !== undefined) return new Date(now + after).toISOString();
  if (at === undefined) return undefined;
  if (Number.isNaN(Date.parse(at))) throw usageError(`--expires-at must be a time, not "${at}"`);
  return new Date(at).toISOString();
}
