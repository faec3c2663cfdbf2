import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createOrderedMap } from '../../src/store/ordered-map.ts';

const key = fc.integer({ min: 0, max: 2_000 }).map((n) => String(n).padStart(4, '0'));
const step = fc.record({ key, put: fc.boolean() });

describe('ordered map', () => {
  it('walks like a sorted list in both directions, whatever was put and deleted', () => {
    const history = fc.array(step, { minLength: 500, maxLength: 3_000, size: 'max' });
    fc.assert(
      fc.property(history, key, key, (steps, lower, upper) => {
        const map = createOrderedMap<number>();
        const model = new Map<string, number>();
        for (const [i, { key, put }] of steps.entries()) {
          if (put) {
            map.set(key, i);
            model.set(key, i);
          } else expect(map.delete(key)).toBe(model.delete(key));
        }
        const sorted = [...model].toSorted(([a], [b]) => (a < b ? -1 : 1));
        const within = sorted.filter(([key]) => key > lower && key < upper);
        expect([...map.walk({ lower, upper, reverse: false })]).toEqual(within);
        expect([...map.walk({ lower, upper, reverse: true })]).toEqual(within.toReversed());
        expect(map.size).toBe(model.size);
      }),
      { numRuns: 30 },
    );
  });

  it('stays fast where keys are many', () => {
    const map = createOrderedMap<number>();
    // Descending order is the worst for chunks: every key goes to the front of the first.
    for (let i = 200_000; i > 0; i--) map.set(String(i).padStart(6, '0'), i);
    const page = [...map.walk({ lower: '100000', upper: '100101', reverse: false })];
    expect(page).toHaveLength(100);
    expect(map.size).toBe(200_000);
  }, 5_000);
});
