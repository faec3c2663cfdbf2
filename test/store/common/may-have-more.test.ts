import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mayHaveMore } from '../../../src/store/may-have-more.ts';
import { toEnvelope } from '../../../src/store/value-codec.ts';

describe('whether a list may have more rows', () => {
  it.each([
    ['as many rows as were asked for', 3, true],
    ['one row less than was asked for', 2, false],
    ['no rows', 0, false],
  ])('is told by their number: %s', (_what, count, more) => {
    const values = Array.from({ length: count }, () => null);
    expect(mayHaveMore(values, { limit: 3, maxBytes: 1_000 })).toBe(more);
  });

  it('is told by their size, six bytes for a character', () => {
    // Two characters and the eight of what is around a text.
    const bytes = (2 + 8) * 6;
    const within = (maxBytes: number): boolean => mayHaveMore(['ab'], { limit: 9, maxBytes });
    expect([within(bytes - 1), within(bytes), within(bytes + 1)]).toEqual([true, true, false]);
    const two = mayHaveMore(['ab', 'cd'], { limit: 9, maxBytes: 2 * bytes });
    expect(two).toBe(true);
    expect(mayHaveMore(['ab', 'cd'], { limit: 9, maxBytes: 2 * bytes + 1 })).toBe(false);
  });

  it('is never denied for a list that ended at its bytes', () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue(), { minLength: 1 }), (values) => {
        const maxBytes = values.reduce<number>((sum, one) => sum + toEnvelope(one).length, 0);
        expect(mayHaveMore(values, { limit: Infinity, maxBytes })).toBe(true);
      }),
    );
  });
});
