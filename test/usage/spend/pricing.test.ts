import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NO_USAGE } from '../../../src/core/usage.ts';
import { boundOf, costOf, estimateTokens } from '../../../src/usage/spend/pricing.ts';

const price = fc.option(fc.double({ min: 0, max: 100_000, noNaN: true }), { nil: undefined });
const pricings = fc.record({
  input: price,
  output: price,
  cacheRead: price,
  cacheWrite5m: price,
  cacheWrite1h: price,
  reasoning: price,
  perCall: price,
});
const present = (record: object) =>
  Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined));
const tokens = fc.nat(1_000_000);

describe('costOf', () => {
  it('prices cached tokens at the read rate and the rest at the input rate', () => {
    const usage = { ...NO_USAGE, input: 18, cacheRead: 17_982 };
    expect(costOf(usage, { input: 3_000, cacheRead: 300 })).toBe(18 * 3_000 + 17_982 * 300);
  });

  it('falls back from each cache class to the next dearer known one', () => {
    const usage = { ...NO_USAGE, cacheRead: 1, cacheWrite5m: 10, cacheWrite1h: 100 };
    expect(costOf(usage, { input: 7 })).toBe(777);
    expect(costOf(usage, { input: 7, cacheWrite5m: 9 })).toBe(7 + 90 + 900);
    expect(costOf(usage, { input: 7, cacheRead: 1, cacheWrite5m: 9, cacheWrite1h: 11 })).toBe(
      1 + 90 + 1_100,
    );
  });

  it('prices the reasoning part of the output apart, and never more of it than there is output', () => {
    const usage = { ...NO_USAGE, output: 10, reasoning: 4 };
    expect(costOf(usage, { output: 5 })).toBe(50);
    expect(costOf(usage, { output: 5, reasoning: 1 })).toBe(34);
    expect(costOf({ ...usage, reasoning: 40 }, { output: 5, reasoning: 1 })).toBe(10);
  });

  it('adds what is priced per call, image and second', () => {
    const usage = { ...NO_USAGE, images: 2, seconds: 3 };
    expect(costOf(usage, { perCall: 1, perImage: 10, perSecond: 100 })).toBe(321);
  });

  it('rounds half up, once, at the end', () => {
    const usage = { ...NO_USAGE, input: 1, output: 1 };
    expect(costOf(usage, { input: 0.25, output: 0.25 })).toBe(1);
    expect(costOf(usage, { input: 0.2, output: 0.2 })).toBe(0);
  });

  it('is free without prices', () => {
    expect(costOf({ ...NO_USAGE, input: 1_000, output: 1_000, images: 3 }, {})).toBe(0);
  });
});

describe('boundOf', () => {
  it('is never below the cost of a call within the bounds', () => {
    fc.assert(
      fc.property(pricings, fc.array(tokens, { minLength: 6, maxLength: 6 }), (prices, parts) => {
        const [
          input = 0,
          cacheRead = 0,
          cacheWrite5m = 0,
          cacheWrite1h = 0,
          output = 0,
          reasoning = 0,
        ] = parts;
        const pricing = present(prices);
        const usage = {
          ...NO_USAGE,
          input,
          cacheRead,
          cacheWrite5m,
          cacheWrite1h,
          output,
          reasoning,
        };
        const inputBound = input + cacheRead + cacheWrite5m + cacheWrite1h;
        const bound = boundOf({ inputBound, outputBound: output, pricing });
        expect(bound).toBeGreaterThanOrEqual(costOf(usage, pricing));
      }),
    );
  });

  it('counts images and seconds where they are asked for', () => {
    const pricing = { perImage: 10, perSecond: 100, perCall: 1 };
    expect(boundOf({ inputBound: 5, outputBound: 5, images: 2, seconds: 3, pricing })).toBe(321);
  });

  it('stays an amount that sums of many are exact with, whatever is asked for', () => {
    const huge = Number.MAX_SAFE_INTEGER ** 2;
    const bound = boundOf({
      inputBound: huge,
      outputBound: huge,
      images: huge,
      pricing: { input: 1_000.5, output: 15_000, perImage: 40_000_000 },
    });
    expect(bound).toBeGreaterThan(70_000 * 1e9);
    expect(Number.isSafeInteger(100 * bound)).toBe(true);
  });
});

describe('estimateTokens', () => {
  it('takes four characters for a token, and any text for at least one', () => {
    expect([0, 1, 4, 5, 400].map(estimateTokens)).toEqual([0, 1, 1, 2, 100]);
  });
});
