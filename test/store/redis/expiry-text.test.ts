import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createExpiries } from '../../../src/store/backends/redis/expiries.ts';
import { expiryText } from '../../../src/store/backends/redis/expiry-text.ts';

describe('the text of an expiry', () => {
  it.each([
    [Infinity, ''],
    [1_795_219_200_000.25, '1795219200000.25'],
    [0, '0'],
    [1e20, '100000000000000000000'],
    [1e21, '1000000000000000000000'],
    [2 ** 80, '1208925819614629174706176'],
  ])('of %d is %j', (expiresAt, text) => {
    expect(expiryText(expiresAt)).toBe(text);
  });

  it('is the same number without an exponent', () => {
    fc.assert(
      fc.property(fc.double({ min: 1, noDefaultInfinity: true, noNaN: true }), (expiresAt) => {
        const text = expiryText(expiresAt);
        expect(Number(text)).toBe(expiresAt);
        expect(text).toMatch(/^[\d.]+$/);
      }),
    );
  });
});

describe('the index of expiries', () => {
  it('reads key and expiry in pairs', async () => {
    const calls: unknown[] = [];
    const { list } = createExpiries(async (...call) => {
      calls.push(call);
      return ['a', '10.5', 'b', '11'].map((text) => Buffer.from(text));
    });
    expect(await list({ from: 10, skip: 2, limit: 3 })).toEqual([
      { bytes: Buffer.from('a'), expiresAt: 10.5 },
      { bytes: Buffer.from('b'), expiresAt: 11 },
    ]);
    expect(calls).toEqual([['storeExpiring', [10, 2, 3]]]);
  });

  it('changes rows by their key, the expiry that they had and the one they get', async () => {
    const calls: unknown[] = [];
    const { change } = createExpiries(async (...call) => void calls.push(call));
    const [first, second] = [Buffer.from('a'), Buffer.from('b')];
    await change([
      { bytes: first, before: 10.5, expiresAt: 3 },
      { bytes: second, before: 1e21, expiresAt: 4 },
    ]);
    const args = [first, '10.5', '3', second, '1000000000000000000000', '4'];
    expect(calls).toEqual([['storeCorrect', args]]);
  });
});
