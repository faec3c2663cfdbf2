import { expect, it } from 'vitest';
import { atOnce, inTurns } from '../../src/core/in-turns.ts';
import type { Steps } from '../../src/core/in-turns.ts';

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
  const others = (): void => {
    log.push('others');
    if (log.length < 6) setImmediate(others);
  };
  setImmediate(others);
  expect(await inTurns(work(log))).toBe('done');
  expect(log).toEqual(['one', 'others', 'two', 'others', 'three', 'others']);
});

it('ends with what a step throws', async () => {
  function* failing(): Steps<never> {
    yield;
    throw new Error('broken');
  }
  expect(() => atOnce(failing())).toThrow('broken');
  await expect(inTurns(failing())).rejects.toThrow('broken');
});
