import { describe, expect, it } from 'vitest';
import { NO_USAGE, serviceOf } from '../../../src/core/usage.ts';
import { toPricing } from '../../../src/routing/resolve-pricing.ts';
import { boundOf, costOf, priceOf, pricesAsked } from '../../../src/usage/spend/pricing.ts';
import { verifies } from '../../requirements.ts';

const MILLION = { ...NO_USAGE, input: 1_000_000 };
const DOLLAR = 1_000_000_000;
const TIERED = toPricing({
  input: '1.25',
  output: '10',
  service_tiers: {
    Priority: { input: '2.5', output: '20' },
    flex: { times: 0.5 },
    us: { times: 1.1 },
  },
  tools: { web_search: '0.01' },
});

describe('ways of service', () => {
  it(verifies('limits.price.service', 'prices tokens by the tier that served them'), () => {
    const cost = (...service: string[]) => priceOf({ ...MILLION, service }, TIERED);
    expect(cost()).toEqual({ cost: 1.25 * DOLLAR, unpriced: false });
    expect(cost('priority')).toEqual({ cost: 2.5 * DOLLAR, unpriced: false });
    expect(cost('flex')).toEqual({ cost: 0.625 * DOLLAR, unpriced: false });
    expect(cost('priority', 'us')).toEqual({ cost: 2.75 * DOLLAR, unpriced: false });
  });

  it(
    verifies(
      'limits.price.unknown-part',
      'marks a call as unpriced whose tier has no known price, also one named like a member of objects',
    ),
    () => {
      expect(priceOf({ ...MILLION, service: ['scale'] }, TIERED).unpriced).toBe(true);
      expect(priceOf({ ...MILLION, service: ['constructor'] }, TIERED).unpriced).toBe(true);
      expect(priceOf({ ...MILLION, service: ['flex', 'eu'] }, TIERED).unpriced).toBe(true);
    },
  );

  it('asks no price of a tier where calls are free or have one price each', () => {
    const usage = { ...MILLION, service: ['scale'], tools: { web_search: 2 } };
    expect(priceOf(usage, toPricing('free'))).toEqual({ cost: 0, unpriced: false });
    expect(priceOf(usage, toPricing({ per_call: '1' }))).toEqual({ cost: DOLLAR, unpriced: false });
  });

  it('takes the words for the standard service as none', () => {
    const words = [
      'default',
      'standard',
      'AUTO',
      'on_demand',
      'global',
      'not_available',
      '',
      null,
      5,
    ];
    expect(serviceOf(...words, 'TRAFFIC_TYPE_UNSPECIFIED')).toBeUndefined();
    expect(serviceOf('Priority', 'priority', 'us')).toEqual(['priority', 'us']);
  });

  it(
    verifies('limits.price.reserved', 'pricing.dimensions', 'reserves the dearest that may answer'),
    () => {
      const bound = (asks?: object) =>
        boundOf({ inputBound: 1_000_000, outputBound: 0, asks, pricing: TIERED });
      expect(bound()).toBe(1.25 * DOLLAR);
      expect(bound({ service: ['priority'] })).toBe(2.5 * DOLLAR);
      expect(bound({ anyService: true })).toBe(2.5 * DOLLAR);
      // The provider may serve it as standard.
      expect(bound({ service: ['flex'] })).toBe(1.25 * DOLLAR);
      expect(bound({ tools: { web_search: 5 } })).toBe(1.3 * DOLLAR);
    },
  );

  it('knows whether all that is asked for has a price', () => {
    expect(pricesAsked(TIERED, { service: ['flex', 'us'], tools: { web_search: 1 } })).toBe(true);
    expect(pricesAsked(TIERED, { service: ['fast'] })).toBe(false);
    expect(pricesAsked(TIERED, { tools: { maps_search: 1 } })).toBe(false);
    expect(pricesAsked({ serviceTiers: { flex: { times: 1 } } }, {})).toBe(false);
  });
});

describe('tools', () => {
  it(
    verifies('limits.price.tools', 'prices each use, or an answer that searched, however often'),
    () => {
      expect(costOf({ ...NO_USAGE, tools: { web_search: 3 } }, TIERED)).toBe(0.03 * DOLLAR);
      const byAnswer = toPricing({ input: '1', tools: { grounded_answer: '0.035' } });
      expect(priceOf({ ...NO_USAGE, tools: { web_search: 3 } }, byAnswer)).toEqual({
        cost: 0.035 * DOLLAR,
        unpriced: false,
      });
    },
  );

  it('marks a call as unpriced that used a tool without a known price, and keeps the known part', () => {
    const usage = { ...NO_USAGE, tools: { web_search: 1, image_generation: 1 } };
    expect(priceOf(usage, TIERED)).toEqual({ cost: 0.01 * DOLLAR, unpriced: true });
  });
});

describe('tokens by kind', () => {
  const pricing = toPricing({
    input: '1',
    output: '2',
    cache_read: '0.5',
    input_audio: '10',
    cache_read_audio: '5',
    output_image: '30',
  });

  it(
    verifies('limits.price.media', 'prices each part at its own price and the rest as text'),
    () => {
      const usage = { ...NO_USAGE, input: 100, cacheRead: 10, output: 50, reasoning: 10 };
      const media = { inputAudio: 60, cacheReadAudio: 4, outputImage: 20, inputVideo: 10 };
      const cost = 60 * 10 + 40 + 4 * 5 + 6 * 0.5 + 20 * 30 + 20 * 2 + 10 * 2;
      expect(costOf({ ...usage, media }, pricing)).toBe(cost * 1000);
    },
  );

  it('counts no more of a kind than there are tokens', () => {
    const usage = { ...NO_USAGE, input: 10, media: { inputAudio: 60 } };
    expect(costOf(usage, pricing)).toBe(100_000);
  });

  it('takes output without kinds for the dearest of text and pictures', () => {
    expect(costOf({ ...NO_USAGE, output: 1 }, pricing)).toBe(30_000);
    expect(costOf({ ...NO_USAGE, output: 1, media: {} }, pricing)).toBe(2_000);
  });
});
