import type { Scope } from '../ledger/ledger-keys.ts';
import type { TokenCaps } from '../principal.ts';
import type { Payer } from '../spend/payer.ts';

/** Cost and tokens of a call: a scope counts one of them. */
export interface Amounts {
  /** Nano-dollars. */
  readonly cost: number;
  readonly tokens: number;
}

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** Indexes of input, cacheRead, cacheWrite5m, cacheWrite1h and output in the sums of a record. */
const TOKEN_SUMS = [4, 5, 6, 7, 8];

/** Amount of a call in the unit of a scope. */
export const amountIn = ({ kind }: Scope, { cost, tokens }: Amounts): number =>
  kind === 'tokens' ? tokens : cost;

/** Input, cached parts included, and output of a call, by the sums of its record. */
export const tokensIn = (sums: readonly number[]): number =>
  TOKEN_SUMS.reduce((tokens, place) => tokens + (sums[place] ?? 0), 0);

/** Counters of a key's tokens, each of one minute or day. */
export function tokenPayers(keyId: string, { minute, day }: TokenCaps, at: number): Payer[] {
  const toPayer = (name: string, ms: number, cap: number): Payer => ({
    scope: { kind: 'tokens', id: `${keyId}/${name}-${Math.floor(at / ms)}` },
    limits: { lifetime: cap },
    refusal: 'key_rate_limited',
  });
  const payers: Payer[] = [];
  if (minute !== undefined) payers.push(toPayer('minute', MINUTE_MS, minute));
  if (day !== undefined) payers.push(toPayer('day', DAY_MS, day));
  return payers;
}

/** Period of a counter of {@link tokenPayers} and the end of it, in ms since epoch. */
export function tokensFreeAt({ id }: Scope): { per: 'minute' | 'day'; freeAt: number } {
  const [, per, number] = /\/(minute|day)-(\d+)$/.exec(id) ?? [];
  const ms = per === 'day' ? DAY_MS : MINUTE_MS;
  return { per: per === 'day' ? 'day' : 'minute', freeAt: (Number(number) + 1) * ms };
}
