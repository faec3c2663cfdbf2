import { describe, expect, it } from 'vitest';
import { parseDuration } from '../../../src/core/time/duration.ts';

describe('parseDuration', () => {
  it.each([
    [30, 30_000],
    ['30', 30_000],
    [0.3, 300],
    ['300ms', 300],
    ['1.5s', 1500],
    ['5m', 300_000],
    ['1h', 3_600_000],
    ['2d', 172_800_000],
  ])('reads %j as %d ms', (value, ms) => expect(parseDuration(value)).toBe(ms));

  it.each(['', '-1s', '5 minutes', '1y', 's', Number.NaN, Infinity, -3])('refuses %j', (value) =>
    expect(() => parseDuration(value)).toThrow(RangeError),
  );
});
