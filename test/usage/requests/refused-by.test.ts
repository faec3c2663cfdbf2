import { describe, expect, it } from 'vitest';
import type { LimitReached } from '../../../src/core/errors.ts';
import { toLimitRow, toRefusedBy } from '../../../src/usage/requests/refused-by.ts';
import type { LimitRow } from '../../../src/usage/requests/refused-by.ts';
import { verifies } from '../../requirements.ts';

const AT = Date.UTC(2026, 11, 1);
const BUDGET: LimitReached = {
  owner: 'budget',
  id: 'bud_1',
  name: 'blue',
  unit: 'money',
  per: 'month',
  most: 50_000_000,
  used: 31_000_000,
  held: 0,
  needed: 246_048_000,
  freeAt: AT,
};

/** As it comes back from the store. */
function shown(limit: Partial<LimitReached>) {
  return toRefusedBy(JSON.parse(JSON.stringify(toLimitRow({ ...BUDGET, ...limit }))) as LimitRow);
}

describe('the limit that refused a request', () => {
  it('keeps every amount exactly', () => {
    const bound = { input: 12, output: 16_384, from: 'default' } as const;
    expect(shown({ bound, used: 31_000_001 })).toMatchObject({
      amount: '0.05',
      spent: '0.031000001',
      left: '0.018999999',
      needed: '0.246048',
      tokens: { input: 12, output: 16_384, output_from: 'default' },
    });
  });

  it('has nothing left where calls under way hold more than there is', () => {
    expect(shown({ held: 30_000_000 })).toMatchObject({ left: '0.00', reserved: '0.03' });
  });

  const money =
    'The call did not fit the limit of the budget blue: it could cost 0.246048 USD, and of 0.05 USD per month 0.019 are left (0.031 spent).';
  const again = 'The limit begins again at 2026-12-01T00:00:00.000Z.';
  const key = { owner: 'key', id: 'key_1', name: 'ci' } as const;
  it.each<[string, Partial<LimitReached>, string]>([
    ['of money', {}, `${money} ${again}`],
    [
      'of money, with the default of the gateway',
      { bound: { input: 12, output: 16_384, from: 'default' } },
      `${money} The request names no limit of output tokens (such as max_tokens), so 16384 output tokens and 12 of input were to be reserved: the gateway's default. ${again}`,
    ],
    [
      'of money, with the most that a model answers',
      { bound: { input: 12, output: 64_000, from: 'model' }, freeAt: null },
      `${money} The request names no limit of output tokens (such as max_tokens), so 64000 output tokens and 12 of input were to be reserved: the most that the model's entry allows.`,
    ],
    [
      'of money, as the request asks for',
      { bound: { input: 12, output: 100, from: 'request' }, held: 1_000_000 },
      `The call did not fit the limit of the budget blue: it could cost 0.246048 USD, and of 0.05 USD per month 0.018 are left (0.031 spent, 0.001 reserved for calls under way). As the request asks for, 100 output tokens and 12 of input were to be reserved. ${again}`,
    ],
    [
      'that is spent',
      { ...key, needed: null, per: 'lifetime', used: 50_000_000, freeAt: null },
      'The limit of the key ci is reached: 0.05 of 0.05 USD in all are spent.',
    ],
    [
      'of requests',
      { ...key, unit: 'requests', per: 'minute', most: 60, used: 60, needed: 1 },
      'The limit of the key ci is reached: 60 of 60 requests in a minute are used. The next one fits at 2026-12-01T00:00:00.000Z.',
    ],
    [
      'of the gateway',
      { owner: 'gateway', id: '', name: null, unit: 'requests', per: 'minute', most: 9, used: 9 },
      'The limit of the gateway is reached: 9 of 9 requests in a minute are used. The next one fits at 2026-12-01T00:00:00.000Z.',
    ],
    [
      'of tokens',
      { ...key, unit: 'tokens', per: 'day', most: 1000, used: 1200, needed: null },
      'The limit of the key ci is reached: 1200 of 1000 tokens per day are used. The limit begins again at 2026-12-01T00:00:00.000Z.',
    ],
    [
      'of requests in flight',
      { ...key, unit: 'in_flight', per: null, most: 2, used: 2, needed: 1, freeAt: null },
      'The limit of the key ci is reached: 2 of 2 requests in flight are used. The next one fits when one of them ends.',
    ],
  ])(verifies('limits.refusal.reason', 'is a sentence for people: one %s'), (_, limit, text) => {
    expect(shown(limit).text).toBe(text);
  });
});
