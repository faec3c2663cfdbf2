import { expect, it } from 'vitest';
import { atOnce, collectSteps, inTurns, Turns } from '../../../src/core/turns/in-turns.ts';
import type { Steps } from '../../../src/core/turns/in-turns.ts';

function* work(log: string[]): Steps<string> {
  for (const step of ['one', 'two', 'three']) {
    log.push(step);
    yield;
  }
  return 'done';
}

it('runs steps at once, or lets others have their turn between them', async () => {
  const log: string[] = [];
  expect(atOnce(work(log))).toBe('done');
  expect(log.splice(0)).toEqual(['one', 'two', 'three']);
  setImmediate(() => log.push('others'));
  expect(await inTurns(work(log))).toBe('done');
  expect(log).toEqual(['one', 'others', 'two', 'three']);
});

it('ends with what a step throws', async () => {
  function* failing(): Steps<never> {
    yield;
    throw new Error('broken');
  }
  expect(() => atOnce(failing())).toThrow('broken');
  await expect(inTurns(failing())).rejects.toThrow('broken');
});

it('gives all work together one short turn in each turn of the event loop', async () => {
  let now = 0;
  const loop: (() => void)[] = [];
  const turns = new Turns({ now: () => now, defer: (turn) => loop.push(turn) });
  const log: string[] = [];
  function* slow(name: string): Steps<string> {
    for (let step = 0; step < 5; step++) {
      now += 1;
      log.push(name);
      yield;
    }
    return name;
  }
  const all = Promise.all(['a', 'b', 'c'].map((name) => turns.run(slow(name))));
  const perTurn: string[] = [];
  for (let turn = loop.shift(); turn; turn = loop.shift()) {
    expect(loop).toEqual([]);
    turn();
    perTurn.push(log.splice(0).join(''));
  }
  expect(perTurn).toEqual(['aa', 'bb', 'cc', 'aa', 'bb', 'cc', 'a', 'b', 'c']);
  expect(await all).toEqual(['a', 'b', 'c']);
});

it('goes on with other work when some breaks', async () => {
  const loop: (() => void)[] = [];
  const turns = new Turns({ now: () => 0, defer: (turn) => loop.push(turn) });
  function* failing(): Steps<string> {
    yield;
    throw new Error('broken');
  }
  const broken = turns.run(failing());
  const sound = turns.run(work([]));
  for (let turn = loop.shift(); turn; turn = loop.shift()) turn();
  await expect(broken).rejects.toThrow('broken');
  expect(await sound).toBe('done');
});

it('makes a list of what is made of each element, some elements in each step', () => {
  const list = Array.from({ length: 1000 }, (_, index) => index);
  const read = (one: number, index: number): number[] => (one % 2 ? [] : [one, index]);
  const steps = collectSteps(list, read);
  let count = 0;
  for (;;) {
    const { done, value } = steps.next();
    if (!done && ++count) continue;
    expect(value).toEqual(list.flatMap(read));
    break;
  }
  expect(count).toBeGreaterThan(9);
});
