import { describe, expect, it } from 'vitest';
import { shippedPrices } from '../../../src/usage/prices/live-prices.ts';
import { createPriceList } from '../../../src/usage/prices/price-list.ts';
import type { ModelPrice, Vendor } from '../../../src/usage/prices/vendor-prices.ts';
import { costOf } from '../../../src/usage/spend/pricing.ts';
import { isPriced } from '../../../src/usage/usage.ts';
import { NO_USAGE } from '../../../src/core/usage.ts';

const AT = Date.parse('2026-11-21T12:00:00Z');

function listOf(prices: Vendor['models'][number]['prices']) {
  const models = [{ id: 'one', match: { starts_with: 'One' }, prices, context_window: 9 }];
  return createPriceList((id) => (id === 'openai' ? { id, models } : undefined));
}

const dollars = (price: ModelPrice) => listOf(price).find('openai', 'one-2', AT)?.pricing;

describe('a price list', () => {
  it('ships the prices of the known vendors, cache and tiers included', async () => {
    const list = await shippedPrices();
    const opus = list.find('anthropic', 'claude-opus-4-8', AT);
    expect(opus).toMatchObject({
      pricing: {
        input: 5000,
        output: 25_000,
        cacheRead: 500,
        cacheWrite5m: 6250,
        cacheWrite1h: 10_000,
      },
      contextWindow: 1_000_000,
    });
    const pro = list.find('google', 'gemini-2.5-pro', AT)?.pricing;
    expect(pro).toMatchObject({ input: 1250, tiers: [{ above: 200_000, input: 2500 }] });
    for (const [type, name] of [
      ['openai', 'gpt-5'],
      ['azure-openai', 'gpt-4o'],
      ['xai', 'grok-4'],
      ['mistral', 'mistral-large-latest'],
    ] as const)
      expect(isPriced(list.find(type, name, AT)?.pricing ?? {}), `${type} ${name}`).toBe(true);
  });

  it('has no price for other providers and unknown models', async () => {
    const list = await shippedPrices();
    expect(list.find('custom', 'gpt-5', AT)).toBeUndefined();
    expect(list.find('vllm', 'gpt-5', AT)).toBeUndefined();
    expect(list.find('openai', 'no-such-model', AT)).toBeUndefined();
  });

  it('charges by the tier that the whole input reaches', () => {
    const tiered = { base: 1, tiers: [{ start: 100, price: 2 }] };
    const pricing = dollars({ input_mtok: tiered, cache_read_mtok: tiered, output_mtok: 3 }) ?? {};
    const cost = (input: number, cacheRead: number): number =>
      costOf({ ...NO_USAGE, input, cacheRead, output: 10 }, pricing);
    expect(cost(60, 40)).toBe(100 * 1000 + 30_000);
    expect(cost(61, 40)).toBe(101 * 2000 + 30_000);
  });

  it('takes the price that has begun, and the dearest of those that hold for hours', () => {
    const price = (input_mtok: number) => ({ input_mtok });
    const dated = [
      { prices: price(1) },
      { prices: price(2), constraint: { start_date: '2026-11-21' } },
      { prices: price(9), constraint: { start_date: '2026-11-22' } },
    ];
    expect(listOf(dated).find('openai', 'one', AT)?.pricing).toEqual({ input: 2000 });
    const daily = { start_time: '01:00:00Z', end_time: '02:00:00Z' };
    const both = [...dated, { prices: price(4), constraint: daily }];
    expect(listOf(both).find('openai', 'one', AT)?.pricing).toEqual({ input: 4000 });
  });

  it('does not take a model for priced that has no price of tokens', () => {
    expect(isPriced(dollars({ audio_hours: 1 }) ?? {})).toBe(false);
  });
});
