import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fromNanos, perMillionToNanos, toNanos } from '../../src/core/money.ts';

describe('money', () => {
  it.each([
    ['10', 10_000_000_000],
    ['0.45', 450_000_000],
    [0.15, 150_000_000],
    [1e-7, 100],
    ['0.000000001', 1],
    ['1.5000000000000', 1_500_000_000],
  ])('reads %j exactly', (amount, nanos) => expect(toNanos(amount)).toBe(nanos));

  it.each(['', '-1', '1,5', '1e3', 'ten', '0.0000000001', '10000000', Number.NaN, Infinity, -0.1])(
    'refuses %j',
    (amount) => expect(() => toNanos(amount)).toThrow(RangeError),
  );

  it('gives back what it read', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 9_000_000_000_000_000 }), (nanos) => {
        expect(toNanos(fromNanos(nanos))).toBe(nanos);
      }),
    );
  });

  it('keeps at least two places', () => {
    expect(fromNanos(0)).toBe('0.00');
    expect(fromNanos(100_000_000)).toBe('0.10');
    expect(fromNanos(123_456_789)).toBe('0.123456789');
  });

  it('turns a price per million into one per token', () =>
    expect(perMillionToNanos('0.15')).toBe(150));
});
