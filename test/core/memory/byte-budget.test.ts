import { expect, it } from 'vitest';
import { ByteBudget } from '../../../src/core/memory/byte-budget.ts';
import type { RoomAsked, Waiting } from '../../../src/core/memory/byte-budget.ts';
import { createFakeClock } from '../../support/fake-clock.ts';

function createBench({ bytes = 800, maxWaiting = 10 } = {}) {
  const clock = createFakeClock();
  let told = 0;
  const budget = new ByteBudget({
    clock,
    bytes,
    waitMs: 1_000,
    maxWaiting,
    onWaiting: () => told++,
  });
  const ended: string[] = [];
  const wait = (name: string, asked: RoomAsked): Waiting => {
    const waiting = budget.wait(asked);
    void waiting.admitted.then((isIn) => ended.push(isIn ? name : `not ${name}`));
    return waiting;
  };
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  return { clock, budget, ended, wait, settle, told: () => told };
}

it('holds no more than it may, and has room again for what is given back', () => {
  const { budget } = createBench();
  expect(budget.tryTake({ holder: 'a', bytes: 500 })).toBe(true);
  expect(budget.tryTake({ holder: 'b', bytes: 301 })).toBe(false);
  expect(budget.tryTake({ holder: 'b', bytes: 300 })).toBe(true);
  expect(budget.used).toBe(800);
  budget.giveBack('a', 500);
  expect(budget.used).toBe(300);
  expect(budget.tryTake({ holder: 'b', bytes: 301 })).toBe(true);
});

it('gives free room to the holder that then holds fewest, whoever came first', async () => {
  const { budget, wait, ended, settle } = createBench();
  budget.tryTake({ holder: 'many', bytes: 300 });
  budget.tryTake({ holder: 'other', bytes: 500 });
  wait('many', { holder: 'many', bytes: 100 });
  wait('one', { holder: 'one', bytes: 250 });
  wait('few', { holder: 'few', bytes: 50 });
  await settle();
  expect(ended).toEqual([]);
  expect(budget.waiting).toEqual({ count: 3, bytes: 400 });
  budget.giveBack('other', 300);
  await settle();
  expect(ended).toEqual(['few', 'one']);
  budget.giveBack('other', 200);
  await settle();
  expect(ended).toEqual(['few', 'one', 'many']);
  expect(budget.waiting).toEqual({ count: 0, bytes: 0 });
});

it('lets nobody overtake the first in turn, although there is room for less', async () => {
  const { budget, wait, ended, settle } = createBench();
  budget.tryTake({ holder: 'many', bytes: 600 });
  wait('large', { holder: 'idle', bytes: 300 });
  expect(budget.tryTake({ holder: 'many', bytes: 10 })).toBe(false);
  wait('more', { holder: 'many', bytes: 10 });
  await settle();
  expect(ended).toEqual([]);
  budget.giveBack('many', 100);
  await settle();
  expect(ended[0]).toBe('large');
});

it('leaves an eighth to others, and takes one thing of any size that fits', async () => {
  const { budget, wait, ended, settle } = createBench();
  expect(budget.tryTake({ holder: 'a', bytes: 700 })).toBe(true);
  expect(budget.tryTake({ holder: 'a', bytes: 1 })).toBe(false);
  wait('more', { holder: 'a', bytes: 1 });
  // What waits for its own holder keeps nobody else waiting.
  wait('other', { holder: 'b', bytes: 100 });
  await settle();
  expect(ended).toEqual(['other']);
  budget.giveBack('b', 100);
  budget.giveBack('a', 700);
  await settle();
  expect(ended).toEqual(['other', 'more']);
  budget.giveBack('a', 1);
  expect(budget.tryTake({ holder: 'a', bytes: 500 })).toBe(true);
  // The same thing grows beyond the share of its holder.
  expect(budget.tryTake({ holder: 'a', bytes: 300, own: 500 })).toBe(true);
});

it('ends a wait that is too long', async () => {
  const { budget, clock, wait, ended, settle } = createBench();
  budget.tryTake({ holder: 'a', bytes: 800 });
  wait('late', { holder: 'b', bytes: 1 });
  clock.advance(999);
  await settle();
  expect(ended).toEqual([]);
  clock.advance(1);
  await settle();
  expect(ended).toEqual(['not late']);
  expect(budget.used).toBe(800);
  expect(clock.pending).toBe(0);
});

it('lets those go on who waited behind one that gives up', async () => {
  const { budget, wait, ended, settle } = createBench();
  budget.tryTake({ holder: 'a', bytes: 600 });
  const first = wait('first', { holder: 'b', bytes: 300 });
  wait('second', { holder: 'a', bytes: 100 });
  first.cancel();
  first.cancel();
  await settle();
  expect(ended).toEqual(['not first', 'second']);
  expect(budget.used).toBe(700);
});

it('bounds the list by its largest holders, not by who came last', async () => {
  const { budget, wait, ended, settle } = createBench({ maxWaiting: 2 });
  budget.tryTake({ holder: 'hog', bytes: 400 });
  budget.tryTake({ holder: 'other', bytes: 400 });
  for (const name of ['hog 1', 'hog 2', 'hog 3']) wait(name, { holder: 'hog', bytes: 100 });
  wait('idle', { holder: 'idle', bytes: 100 });
  await settle();
  expect(ended).toEqual(['not hog 3', 'not hog 2']);
  expect(budget.waiting).toEqual({ count: 2, bytes: 200 });
});

it('tells that something waits when nothing did before', () => {
  const { budget, wait, told } = createBench();
  budget.tryTake({ holder: 'a', bytes: 800 });
  expect(told()).toBe(0);
  wait('one', { holder: 'b', bytes: 400 });
  wait('two', { holder: 'c', bytes: 400 });
  expect(told()).toBe(1);
  budget.giveBack('a', 800);
  wait('three', { holder: 'd', bytes: 400 });
  expect(told()).toBe(2);
});
