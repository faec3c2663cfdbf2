import { expect, it } from 'vitest';
import { TurnQueue } from '../../src/core/turn-queue.ts';

/** Turns of the event loop; the first one begins after what is under way. */
async function turns(count: number, onTurn: () => void): Promise<void> {
  for (let turn = 0; turn < count; turn++) {
    await new Promise(setImmediate);
    onTurn();
  }
}

it('lets those who come at once go on in order, one in each turn of the event loop', async () => {
  const queue = new TurnQueue();
  const goneOn: string[] = [];
  const perTurn: number[] = [];
  const names = ['a', 'b', 'c', 'd'];
  const all = names.map(async (name) => {
    await queue.enter();
    goneOn.push(name);
  });
  expect(goneOn).toEqual([]);
  await turns(6, () => perTurn.push(goneOn.length));
  await Promise.all(all);
  expect(goneOn).toEqual(names);
  const steps = perTurn.map((count, turn) => count - (perTurn[turn - 1] ?? 0));
  expect(Math.max(...steps)).toBe(1);
});

it('serves whoever comes after all were served', async () => {
  const queue = new TurnQueue();
  await queue.enter();
  await queue.enter();
  await Promise.all([queue.enter(), queue.enter()]);
});
