import { expect, it } from 'vitest';
import { SnapshotMap } from '../../src/core/snapshot-map.ts';

it('is a map whose copies leave it as it was', () => {
  const names = Array.from({ length: 2_000 }, (_, i) => `vendor/model-${i}`);
  const first = SnapshotMap.empty<number>().with(names.map((name, i) => [name, i]));
  const second = first.with([
    ['vendor/model-7', undefined],
    ['vendor/model-8', -1],
    ['new', 1],
    ['nothing', undefined],
  ]);
  expect([first.size, second.size]).toEqual([2_000, 2_000]);
  expect([first.get('vendor/model-7'), second.get('vendor/model-7')]).toEqual([7, undefined]);
  expect([first.get('vendor/model-8'), second.get('vendor/model-8')]).toEqual([8, -1]);
  expect([first.has('new'), second.has('new'), second.has('nothing')]).toEqual([
    false,
    true,
    false,
  ]);
  expect([...first.keys()].toSorted()).toEqual(names.toSorted());
  expect([...second.values()]).toHaveLength(2_000);
});
