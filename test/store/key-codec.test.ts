import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  decodeKey,
  encodeKey,
  keyHead,
  MAX_KEY_BYTES,
  toKeyRange,
} from '../../src/store/key-codec.ts';
import type { Key, KeyPart } from '../../src/store/store.ts';
import { anyCharacter } from '../support/text/any-character.ts';

const part = fc.oneof(
  fc.string({ unit: anyCharacter, maxLength: 8 }),
  fc.string({
    unit: fc.constantFrom(
      '\0',
      '\ud800',
      '\udfff',
      '\ufffd',
      '/',
      ':',
      '$',
      'é',
      '1',
      '\u{10ffff}',
    ),
    maxLength: 6,
  }),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => (n === 0 ? 0 : n)),
  fc.integer(),
);
const key = fc.array(part, { minLength: 1, maxLength: 5 });

function comparePart(a: KeyPart, b: KeyPart): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b || 0;
  if (typeof a === 'number') return -1;
  if (typeof b === 'number') return 1;
  const left = Array.from(a, (c) => c.codePointAt(0)!);
  const right = Array.from(b, (c) => c.codePointAt(0)!);
  for (const [i, point] of left.entries()) {
    const other = right[i];
    if (other !== undefined && point !== other) return point - other;
  }
  return left.length - right.length;
}

function compareKey(a: Key, b: Key): number {
  for (const [i, segment] of a.entries()) {
    const other = b[i];
    const order = other === undefined ? 0 : comparePart(segment, other);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

function startsWith(long: Key, prefix: Key): boolean {
  return long.length > prefix.length && prefix.every((part, i) => Object.is(long[i], part));
}

describe('key codec', () => {
  it('gives every key back as it was', () => {
    fc.assert(
      fc.property(key, (key) => {
        expect(decodeKey(encodeKey(key))).toEqual(key);
      }),
    );
  });

  it('orders bytes as keys: numbers by size before strings by code point, segment by segment', () => {
    fc.assert(
      fc.property(key, key, (a, b) => {
        expect(Math.sign(Buffer.compare(encodeKey(a), encodeKey(b)))).toBe(
          Math.sign(compareKey(a, b)),
        );
      }),
    );
  });

  it('bounds a prefix by whole segments', () => {
    const prefix = fc.array(part, { maxLength: 3 });
    const near = fc.tuple(prefix, key, fc.boolean()).map(([prefix, key, inside]) => ({
      prefix,
      key: inside ? [...prefix, ...key] : key,
    }));
    fc.assert(
      fc.property(near, ({ prefix, key }) => {
        const { lower, upper } = toKeyRange(prefix);
        const bytes = encodeKey(key);
        const within = Buffer.compare(lower, bytes) < 0 && Buffer.compare(bytes, upper) < 0;
        expect(within).toBe(startsWith(key, prefix));
      }),
    );
  });

  it('cuts a head at whole segments', () => {
    fc.assert(
      fc.property(key, fc.integer({ min: 1, max: 6 }), (key, count) => {
        expect(decodeKey(keyHead(encodeKey(key), count))).toEqual(key.slice(0, count));
      }),
    );
  });

  it.each([
    ['the empty key', []],
    ['NaN', [NaN]],
    ['infinity', ['a', Infinity]],
    ['a key above the limit', ['x'.repeat(MAX_KEY_BYTES)]],
    ['a key far above the limit', ['x'.repeat(1_000_000)]],
    ['a key above the limit by its bytes alone', ['é'.repeat(MAX_KEY_BYTES / 2)]],
  ])('refuses %s', (_, key) => {
    expect(() => encodeKey(key)).toThrow(expect.objectContaining({ code: 'invalid_key' }));
  });

  it('takes a key of exactly the limit, and one of many short segments', () => {
    expect(encodeKey(['x'.repeat(MAX_KEY_BYTES - 2)])).toHaveLength(MAX_KEY_BYTES);
    expect(encodeKey(Array.from({ length: MAX_KEY_BYTES / 2 }, () => ''))).toHaveLength(
      MAX_KEY_BYTES,
    );
  });
});
