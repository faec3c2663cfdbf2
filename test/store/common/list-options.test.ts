import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeKey, toKeyRange } from '../../../src/store/key-codec.ts';
import { toListPlan } from '../../../src/store/list-options.ts';
import type { Key } from '../../../src/store/store.ts';

const key = fc.array(fc.oneof(fc.string({ maxLength: 3 }), fc.nat(9)), {
  minLength: 1,
  maxLength: 3,
});

describe('the plan of a list', () => {
  it('has a limit of 100, no bound of bytes and the order of the keys unless it is told', () => {
    expect(toListPlan({ prefix: ['a'] })).toEqual({
      ...toKeyRange(['a']),
      limit: 100,
      maxBytes: Infinity,
      reverse: false,
    });
    expect(toListPlan({ prefix: ['a'], limit: 7, maxBytes: 9, reverse: true })).toEqual({
      ...toKeyRange(['a']),
      limit: 7,
      maxBytes: 9,
      reverse: true,
    });
  });

  it.each([1, 2, 9_999, 10_000])('takes a limit of %d', (limit) => {
    expect(toListPlan({ prefix: [], limit }).limit).toBe(limit);
  });

  it.each([0, -1, 1.5, 10_001, NaN, Infinity])('refuses a limit of %d', (limit) => {
    expect(() => toListPlan({ prefix: [], limit })).toThrow(
      expect.objectContaining({
        code: 'invalid_commit',
        message: 'a list takes a limit of 1 to 10000',
      }),
    );
  });

  it('begins behind a key inside of its prefix, in the direction of travel', () => {
    const { lower, upper } = toKeyRange(['a']);
    const after = ['a', 'm'];
    expect(toListPlan({ prefix: ['a'], after })).toMatchObject({ lower: encodeKey(after), upper });
    expect(toListPlan({ prefix: ['a'], after, reverse: true })).toMatchObject({
      lower,
      upper: encodeKey(after),
    });
  });

  it('is empty where it begins behind its prefix, and whole where it begins before it', () => {
    const [before, behind]: [Key, Key] = [['A'], ['b']];
    const whole = toKeyRange(['a']);
    expect(toListPlan({ prefix: ['a'], after: before })).toMatchObject(whole);
    expect(toListPlan({ prefix: ['a'], after: behind, reverse: true })).toMatchObject(whole);
    for (const [after, reverse] of [
      [behind, false],
      [before, true],
    ] as const) {
      const { lower, upper } = toListPlan({ prefix: ['a'], after, reverse });
      expect(Buffer.compare(lower, upper)).toBe(1);
    }
  });

  it('holds those keys of the prefix that lie behind, whatever the keys are', () => {
    fc.assert(
      fc.property(fc.tuple(key, key, key), fc.boolean(), ([prefix, after, some], reverse) => {
        const one = encodeKey([...prefix, ...some]);
        const { lower, upper } = toListPlan({ prefix, after, reverse });
        const isWithin = Buffer.compare(lower, one) < 0 && Buffer.compare(one, upper) < 0;
        const order = Buffer.compare(one, encodeKey(after));
        expect(isWithin).toBe(reverse ? order < 0 : order > 0);
      }),
    );
  });
});
