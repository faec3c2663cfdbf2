import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MOST_ROWS, mergeRows } from '../../../src/console/logic/merge-rows.ts';

interface Row {
  readonly id: string;
  readonly created_at: string;
  readonly word: number;
}

const toRow = ([second, id, word]: [number, number, number]): Row => ({
  id: `req_${second}_${id}`,
  created_at: new Date(second * 1_000).toISOString(),
  word,
});
const batches = fc.array(
  fc.uniqueArray(fc.tuple(fc.nat(5), fc.nat(2), fc.nat(9)).map(toRow), {
    selector: ({ id }) => id,
  }),
);
const byPlace = (a: Row, b: Row): number =>
  a.created_at < b.created_at || (a.created_at === b.created_at && a.id < b.id) ? 1 : -1;

describe('rows of batches', () => {
  it('are the latest words of all, newest first, whatever comes in which order', () => {
    fc.assert(
      fc.property(batches, (all) => {
        const merged = all.reduce<readonly Row[]>((rows, batch) => mergeRows(rows, batch), []);
        const latest = new Map(all.flat().map((row) => [row.id, row]));
        expect(merged).toEqual([...latest.values()].sort(byPlace));
      }),
    );
  });

  it('are let go from the oldest on', () => {
    fc.assert(
      fc.property(batches, fc.integer({ min: 1, max: 4 }), (all, most) => {
        const whole = all.reduce<readonly Row[]>((rows, batch) => mergeRows(rows, batch), []);
        expect(mergeRows(whole, whole, most)).toEqual(whole.slice(0, most));
      }),
    );
    const many = Array.from({ length: MOST_ROWS + 1 }, (_, index) => toRow([index, 0, 0]));
    expect(mergeRows([], many)).toHaveLength(MOST_ROWS);
    expect(mergeRows([], many.slice(1))).toHaveLength(MOST_ROWS);
  });

  it('leave the rows before as they were', () => {
    const rows = Object.freeze([toRow([2, 0, 0])]);
    expect(mergeRows(rows, [toRow([1, 0, 0])]).map(({ id }) => id)).toEqual(['req_2_0', 'req_1_0']);
    expect(rows).toHaveLength(1);
  });
});
