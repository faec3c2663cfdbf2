import { describe, expect, it } from 'vitest';
import { shippedPrices } from '../../../src/usage/prices/live-prices.ts';
import { createPriceList } from '../../../src/usage/prices/price-list.ts';
import type { ModelPrice, Vendor } from '../../../src/usage/prices/vendor-prices.ts';
import { costOf } from '../../../src/usage/spend/pricing.ts';
import { isPriced } from '../../../src/usage/usage.ts';
import { NO_USAGE } from '../../../src/core/usage.ts';
import { verifies } from '../../requirements.ts';

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
    expect(listOf(dated).find('openai', 'one', AT)?.pricing).toMatchObject({ input: 2000 });
    const daily = { start_time: '01:00:00Z', end_time: '02:00:00Z' };
    const both = [...dated, { prices: price(4), constraint: daily }];
    expect(listOf(both).find('openai', 'one', AT)?.pricing).toMatchObject({ input: 4000 });
  });

  it(
    verifies('limits.price.service', 'knows tiers and tools of the vendors beyond the list'),
    async () => {
      const list = await shippedPrices();
      const times = (type: string, model: string) =>
        Object.fromEntries(
          Object.entries(list.find(type, model, AT)?.pricing.serviceTiers ?? {}).map(
            ([name, tier]) => [name, tier.times],
          ),
        );
      expect(times('openai', 'gpt-5')).toEqual({ batch: 0.5, flex: 0.5, priority: 2 });
      expect(times('openai', 'gpt-5-2025-08-07')).toMatchObject({ flex: 0.5, priority: 2 });
      expect(times('openai', 'gpt-5.5')).toMatchObject({ flex: 0.5, priority: 2.5 });
      expect(times('openai', 'gpt-4o')).toEqual({ batch: 0.5, priority: 1.7 });
      expect(times('openai', 'gpt-6-astra')).toEqual({ batch: 0.5 });
      expect(times('anthropic', 'claude-opus-4-6')).toEqual({ batch: 0.5, fast: 6, us: 1.1 });
      expect(times('anthropic', 'claude-opus-5')).toEqual({ batch: 0.5, fast: 2, us: 1.1 });
      expect(times('anthropic', 'claude-opus-5-5')).toEqual({ batch: 0.5, us: 1.1 });
      expect(times('anthropic', 'claude-opus-4-1')).toEqual({ batch: 0.5 });
      expect(times('google', 'gemini-2.5-pro')).toEqual({ batch: 0.5, flex: 0.5, priority: 1.8 });
      expect(list.find('openai', 'gpt-5', AT)?.pricing.tools).toEqual({
        code_execution: 30_000_000,
        web_search: 10_000_000,
        file_search: 2_500_000,
      });
      expect(list.find('google', 'gemini-2.5-flash', AT)?.pricing).toMatchObject({
        inputAudio: 1000,
        cacheReadAudio: 100,
        tools: { grounded_answer: 35_000_000 },
      });
    },
  );

  it(
    verifies(
      'pricing.dimensions',
      'has no price of a model that is charged by something else, too',
    ),
    () => {
      expect(isPriced(dollars({ audio_hours: 1 }) ?? {})).toBe(false);
      expect(isPriced(dollars({ input_mtok: 1, output_mtok: 2 }) ?? {})).toBe(true);
      for (const name of ['audio_hours', 'input_document_kpages', 'dimension_of_tomorrow'])
        expect(dollars({ input_mtok: 1, output_mtok: 2, [name]: 3 }), name).toEqual({});
    },
  );
});
