import { describe, expect, it } from 'vitest';
import { addToCounter } from '../../../src/store/counter.ts';

describe('a counter', () => {
  it.each([
    [undefined, 3, 3],
    [0, 3, 3],
    [4, -6, -2],
    [Number.MAX_VALUE, 0, Number.MAX_VALUE],
  ])('that holds %s and gets %d becomes %d', (current, by, sum) => {
    expect(addToCounter(current, by)).toBe(sum);
  });

  it.each(['3', null, true, [1], {}])('that holds %j is refused', (current) => {
    expect(() => addToCounter(current, 1)).toThrow(
      expect.objectContaining({
        code: 'invalid_value',
        message: 'only a number can be incremented',
      }),
    );
  });

  it.each([
    [undefined, NaN],
    [1, Infinity],
    [Number.MAX_VALUE, Number.MAX_VALUE],
  ])('stays finite: %s and %d', (current, by) => {
    expect(() => addToCounter(current, by)).toThrow(
      expect.objectContaining({ code: 'invalid_value', message: 'a counter must stay finite' }),
    );
  });
});
