import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  fromExpiryKey,
  fromRowBytes,
  toExpiryKey,
  toRowBytes,
} from '../../../src/store/backends/lmdb/rows.ts';
import { createVersionSource } from '../../../src/store/backends/lmdb/version-source.ts';
import type { LmdbEnvironment } from '../../../src/store/backends/lmdb/environment.ts';

const instant = fc.double({ min: 0, max: 8.64e15, noNaN: true });
const bytes = fc.uint8Array({ maxLength: 12 }).map((some) => Buffer.from(some));

describe('the bytes of a row', () => {
  it('are its envelope alone where it stays', () => {
    const envelope = Buffer.from('j1');
    expect(toRowBytes(envelope, Infinity)).toBe(envelope);
    expect(fromRowBytes(envelope, 3)).toEqual({ envelope, version: 3, expiresAt: Infinity });
  });

  it('have the instant of its end in front of the envelope', () => {
    fc.assert(
      fc.property(bytes, instant, (envelope, expiresAt) => {
        // Views of a larger buffer are what the database gives.
        const view = Buffer.concat([Buffer.of(9), toRowBytes(envelope, expiresAt)]).subarray(1);
        expect(fromRowBytes(view, 5)).toEqual({ envelope, version: 5, expiresAt });
      }),
    );
  });
});

describe('the key of an expiry', () => {
  it('sorts by its instant first, and holds both', () => {
    fc.assert(
      fc.property(fc.tuple(instant, bytes), fc.tuple(instant, bytes), (first, second) => {
        const [[at, key], [other, otherKey]] = [first, second];
        const [one, two] = [toExpiryKey(at, key), toExpiryKey(other, otherKey)];
        expect(fromExpiryKey(Buffer.concat([Buffer.of(1), one]).subarray(1))).toEqual({
          expiresAt: at,
          key,
        });
        const order = at === other ? Buffer.compare(key, otherKey) : Math.sign(at - other);
        expect(Buffer.compare(one, two)).toBe(order);
      }),
    );
  });
});

describe('the source of versions', () => {
  /** Blocks of four numbers, with those of other processes between them. */
  function sourceOf() {
    const leased: number[] = [];
    const source = createVersionSource({
      leaseVersions() {
        const first = 1 + 100 * leased.length;
        leased.push(first);
        return { first, count: 4 };
      },
    } as Partial<LmdbEnvironment> as LmdbEnvironment);
    return { leased, source };
  }

  it('uses a block up before it asks for the next', () => {
    const { leased, source } = sourceOf();
    source.reserve(3);
    expect([source.next(), source.next(), source.next()]).toEqual([1, 2, 3]);
    source.reserve(1);
    expect([source.next(), leased]).toEqual([4, [1]]);
    source.reserve(1);
    expect([source.next(), leased]).toEqual([101, [1, 101]]);
  });

  it('leaves the rest of a block that is too small', () => {
    const { leased, source } = sourceOf();
    source.next();
    source.reserve(4);
    expect([source.next(), source.next(), leased]).toEqual([101, 102, [1, 101]]);
  });
});
