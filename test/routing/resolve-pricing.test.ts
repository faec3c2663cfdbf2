import { describe, expect, it } from 'vitest';
import { mergePricing, toPricing, toPricingView } from '../../src/routing/resolve-pricing.ts';
import { FREE } from '../../src/usage/usage.ts';

describe('the pricing of a resource', () => {
  it.each([undefined, null, {}, { input: null, per_call: null, tiers: [] }])(
    'says nothing where %j is declared',
    (record) => {
      expect(toPricing(record)).toEqual({});
    },
  );

  it('is free where that is declared', () => {
    expect(toPricing('free')).toBe(FREE);
  });

  it('tells nano-dollars per token and per unit', () => {
    const pricing = toPricing({
      input: '1.50',
      output: 2,
      cache_read: '0.1',
      cache_write_5m: '3',
      cache_write_1h: '4',
      reasoning: '5',
      per_call: '0.01',
      per_image: '0.02',
      per_second: '0.03',
    });
    expect(pricing).toEqual({
      input: 1_500,
      output: 2_000,
      cacheRead: 100,
      cacheWrite5m: 3_000,
      cacheWrite1h: 4_000,
      reasoning: 5_000,
      perCall: 10_000_000,
      perImage: 20_000_000,
      perSecond: 30_000_000,
    });
  });

  it('keeps a price of 0, which is known', () => {
    expect(toPricing({ input: 0, per_call: '0' })).toEqual({ input: 0, perCall: 0 });
  });

  it('has the tiers that are declared', () => {
    const tiers = [{ above: 200_000, input: '3', output: null }];
    expect(toPricing({ input: '1', tiers })).toEqual({
      input: 1_000,
      tiers: [{ above: 200_000, input: 3_000 }],
    });
  });
});

describe('the pricing of a route', () => {
  const tiers = [{ above: 10, input: '3' }];
  const read = [{ above: 10, input: 3_000 }];

  it('is free where the route is, whatever the model costs', () => {
    expect(mergePricing({ input: '1' }, 'free')).toBe(FREE);
  });

  it('has the members of the model that it does not say itself', () => {
    const merged = mergePricing({ input: '1', per_call: '0.01' }, { input: '2' });
    expect(merged).toEqual({ input: 2_000, perCall: 10_000_000 });
  });

  it('is the one of the model where it says nothing', () => {
    expect(mergePricing('free', undefined)).toEqual(FREE);
    expect(mergePricing({ input: '1', tiers }, null)).toEqual({ input: 1_000, tiers: read });
  });

  it('keeps the tiers of the model beside units of its own', () => {
    const merged = mergePricing({ input: '1', tiers }, { per_call: '0.01' });
    expect(merged).toEqual({ input: 1_000, perCall: 10_000_000, tiers: read });
  });

  it.each(['input', 'output', 'cache_read', 'cache_write_5m', 'cache_write_1h', 'reasoning'])(
    'puts the tiers of the model aside where it has a price of %s',
    (name) => {
      const merged = mergePricing({ input: '1', tiers }, { [name]: '0' });
      expect(merged).not.toHaveProperty('tiers');
    },
  );

  it('has tiers of its own in their place', () => {
    const own = [{ above: 20, input: '4' }];
    expect(mergePricing({ input: '1', tiers }, { tiers: own })).toEqual({
      input: 1_000,
      tiers: [{ above: 20, input: 4_000 }],
    });
  });
});

describe('a price as it is shown', () => {
  it('is told per million tokens and per unit, null where it is unknown', () => {
    expect(toPricingView({ input: 1_500, cacheRead: 0.1, perImage: 20_000_000 })).toEqual({
      currency: 'USD',
      input: '1.50',
      output: null,
      cache_read: '0.0001',
      cache_write_5m: null,
      cache_write_1h: null,
      reasoning: null,
      per_call: null,
      per_image: '0.02',
      per_second: null,
    });
  });

  it('is 0 where nothing is to pay', () => {
    expect(toPricingView(FREE)).toMatchObject({ per_call: '0.00', input: null });
  });

  it('is rounded to whole nano-dollars', () => {
    expect(toPricingView({ input: 0.000_000_6, output: 0.000_000_4 })).toMatchObject({
      input: '0.000000001',
      output: '0.00',
    });
  });
});
