import { expect, it } from 'vitest';
import { queryCount } from '../../src/core/query-count.ts';

const read = (text: string, least?: number) =>
  queryCount(new URLSearchParams(text), 'limit', least);

it('reads the digits of a number', () => {
  expect(read('limit=7')).toBe(7);
  expect(read('limit=007')).toBe(7);
  expect(read('limit=0', 0)).toBe(0);
});

it('reads an absent or empty parameter as undefined', () => {
  expect(read('')).toBeUndefined();
  expect(read('limit=')).toBeUndefined();
});

it('reads a number that no list has as the largest exact one', () => {
  expect(read(`limit=${'9'.repeat(400)}`)).toBe(Number.MAX_SAFE_INTEGER);
});

it.each(['0', '-1', '+1', '1.5', '1e2', '0x10', 'Infinity', 'NaN', ' 7', 'seven'])(
  'refuses %j, and names the parameter',
  (text) => {
    expect(() => read(`limit=${encodeURIComponent(text)}`)).toThrow(
      expect.objectContaining({
        code: 'invalid_request',
        param: 'limit',
        message: 'limit: expected a whole number of at least 1',
      }),
    );
  },
);

it('names the least number in what it refuses', () => {
  expect(() => read('limit=-1', 0)).toThrow('limit: expected a whole number of at least 0');
});
