import { expect, it } from 'vitest';
import { TurnQueue } from '../../../src/core/turns/turn-queue.ts';
import { createFakeClock } from '../../support/fake-clock.ts';

/** Turns of the event loop; the first one begins after what is under way. */
async function turns(count: number, onTurn: () => void = () => undefined): Promise<void> {
  for (let turn = 0; turn < count; turn++) {
    await new Promise(setImmediate);
    onTurn();
  }
}

function open() {
  const clock = createFakeClock();
  const calls = { begun: 0 };
  const queue = new TurnQueue({ clock, others: () => calls.begun });
  const goneOn: string[] = [];
  const enter = async (name: string): Promise<void> => {
    await queue.enter();
    goneOn.push(name);
  };
  return { clock, calls, goneOn, enter };
}

it('lets those who come at once go on in order, one in each turn of the event loop', async () => {
  const { goneOn, enter } = open();
  const perTurn: number[] = [];
  const names = ['a', 'b', 'c', 'd'];
  const all = names.map(enter);
  expect(goneOn).toEqual([]);
  await turns(6, () => perTurn.push(goneOn.length));
  await Promise.all(all);
  expect(goneOn).toEqual(names);
  const steps = perTurn.map((count, turn) => count - (perTurn[turn - 1] ?? 0));
  expect(Math.max(...steps)).toBe(1);
});

it('serves whoever comes after all were served', async () => {
  const { goneOn, enter } = open();
  await enter('a');
  await enter('b');
  await Promise.all([enter('c'), enter('d')]);
  expect(goneOn).toEqual(['a', 'b', 'c', 'd']);
});

it('leaves time between two to calls that are served meanwhile, and none once they are over', async () => {
  const { clock, calls, goneOn, enter } = open();
  calls.begun = 1;
  const all = ['a', 'b', 'c'].map(enter);
  await turns(4);
  expect(goneOn).toEqual(['a']);
  clock.advance(5);
  await turns(2);
  expect(goneOn).toEqual(['a']);
  clock.advance(1);
  await turns(2);
  expect(goneOn).toEqual(['a', 'b']);
  clock.advance(6);
  await Promise.all(all);
  clock.advance(300);
  await Promise.all(['d', 'e', 'f'].map(enter));
  expect(goneOn.join('')).toBe('abcdef');
});
