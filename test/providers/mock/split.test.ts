import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { splitBytes, splitInto, splitWords } from '../../../src/providers/mock/split.ts';
import { anyCharacter } from '../../support/text/any-character.ts';

const text = fc.string({ unit: anyCharacter, maxLength: 200 });

describe('split', () => {
  it('loses nothing, tears no character apart, and keeps to the number of pieces', () => {
    fc.assert(
      fc.property(text, fc.integer({ min: 1, max: 50 }), (value, count) => {
        for (const pieces of [splitInto(value, count), splitWords(value, count)]) {
          expect(pieces.join('')).toBe(value);
          expect(pieces.length).toBeLessThanOrEqual(count);
          expect(pieces).not.toContain('');
          expect(pieces.every((piece) => Buffer.from(piece).toString() === piece)).toBe(true);
        }
      }),
    );
  });

  it('splits bytes into the size asked for, and at most so many pieces', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 300 }),
        fc.integer({ min: 1, max: 40 }),
        fc.integer({ min: 1, max: 20 }),
        (array, size, max) => {
          const bytes = Buffer.from(array);
          const pieces = splitBytes(bytes, size, max);
          expect(Buffer.concat(pieces)).toEqual(bytes);
          expect(pieces.length).toBeLessThanOrEqual(max);
          expect(pieces.slice(0, -1).every((piece) => piece.length === size)).toBe(true);
        },
      ),
    );
  });
});
