import { expect, it } from 'vitest';
import { WakeTurns } from '../../../src/core/turns/wake-turns.ts';

const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

it('wakes a few at once, and the others in later ticks, in their order', async () => {
  const turns = new WakeTurns();
  const woken: number[] = [];
  for (let i = 0; i < 100; i++) turns.enter(() => woken.push(i));
  expect(woken).toHaveLength(32);
  await tick();
  expect(woken).toHaveLength(64);
  turns.enter(() => woken.push(100));
  await tick();
  expect(woken).toHaveLength(96);
  await tick();
  expect(woken).toEqual(Array.from({ length: 101 }, (_, i) => i));
});

it('keeps no tick for those that come later', async () => {
  const turns = new WakeTurns();
  let woken = 0;
  for (let round = 0; round < 3; round++) {
    for (let i = 0; i < 32; i++) turns.enter(() => woken++);
    expect(woken).toBe(32 * (round + 1));
    await tick();
    await tick();
  }
});
