import fc from 'fast-check';
import { expect, it } from 'vitest';
import { UsageGroups, withOther } from '../../../src/usage/requests/usage-groups.ts';
import type { GroupSums } from '../../../src/usage/requests/usage-groups.ts';

const byText = (one: string | null = '', other: string | null = ''): number =>
  String(one) < String(other) ? -1 : 1;
const sumsOf = (cost: number): number[] => [1, 0, 0, cost];
const shown = (groups: readonly GroupSums[]): unknown[] =>
  groups.map(({ members, sums }) => [...Object.values(members), sums[3]]);

it('adds what has the same values, from a place on, and leaves out what is nothing', () => {
  const groups = new UsageGroups(['day', 'key']);
  const row = { day: '1', key: 'a', model: 'x' };
  groups.add(row, ['o', null, 1, 2], 2);
  groups.add({ ...row, model: 'y' }, [2, 3, 4]);
  groups.add({ day: '1', key: 'b' }, [0, 0]);
  row.day = '2';
  groups.add(row, [5]);
  expect(groups.list().map(({ members, sums }) => [members, sums])).toEqual([
    [{ day: '1', key: 'a' }, [3, 5, 4]],
    [{ day: '2', key: 'a' }, [5]],
  ]);
});

it('keeps the rest of each day apart, and puts groups without a value last', () => {
  const groups = new UsageGroups(['day', 'key']);
  for (const [day, key, cost] of [
    ['2', 'a', 9],
    ['1', null, 8],
    ['1', 'a', 7],
    ['1', 'b', 1],
    ['2', 'b', 2],
    ['2', 'c', 3],
  ] as const)
    groups.add({ day, key }, sumsOf(cost));
  expect(shown(withOther(groups.list(), ['day', 'key'], 4))).toEqual([
    ['1', 'a', 7],
    ['1', null, 8],
    ['2', 'a', 9],
    ['1', 'other', 1],
    ['2', 'other', 5],
  ]);
});

it('keeps those that cost most, of equal ones the first by name', () => {
  const costs = fc.array(fc.integer({ min: 0, max: 4 }), { maxLength: 30 });
  fc.assert(
    fc.property(costs, fc.integer({ min: 0, max: 12 }), (given, limit) => {
      const groups = new UsageGroups(['key']);
      for (const [index, cost] of given.entries())
        groups.add({ key: `k${String(index * 7919).padStart(9, '0')}` }, sumsOf(cost));
      const told = withOther(groups.list(), ['key'], limit);
      const names = told.map(({ members }) => members['key']);
      const ranked = groups
        .list()
        .toSorted((a, b) => (b.sums[3] ?? 0) - (a.sums[3] ?? 0) || (a.name < b.name ? -1 : 1))
        .map(({ members }) => members['key']);
      if (given.length <= limit) expect(names).toEqual(ranked.toSorted(byText));
      else
        expect(names).toEqual([
          ...ranked.slice(0, Math.max(0, limit - 1)).toSorted(byText),
          'other',
        ]);
      expect(told.reduce((sum, { sums }) => sum + (sums[3] ?? 0), 0)).toBe(
        given.reduce((sum, cost) => sum + cost, 0),
      );
    }),
  );
});
