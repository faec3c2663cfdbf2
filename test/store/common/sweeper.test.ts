import { describe, expect, it, onTestFinished } from 'vitest';
import { startSweeper } from '../../../src/store/sweeper.ts';
import { createFakeClock } from '../../support/fake-clock.ts';

const turn = () => new Promise((resolve) => setImmediate(resolve));

/** A sweeper whose steps remove what `removed` says, and fail where it holds an error. */
function setUp(removed: (number | Error)[] = []) {
  const clock = createFakeClock();
  const done: string[] = [];
  const state = { setBacks: 0, correction: undefined as Error | undefined };
  const stop = startSweeper({
    clock,
    steady: { setBacks: () => state.setBacks },
    async sweep(limit) {
      done.push(`sweep ${limit}`);
      const result = removed.shift() ?? 0;
      if (result instanceof Error) throw result;
      return result;
    },
    async correct() {
      done.push('correct');
      if (state.correction) throw state.correction;
    },
  });
  onTestFinished(stop);
  const wait = async (ms: number): Promise<string[]> => {
    clock.advance(ms);
    await turn();
    return done.splice(0);
  };
  return { clock, state, stop, wait };
}

describe('the sweeper', () => {
  it('begins after a second, with a correction, and goes on every second without one', async () => {
    const { wait } = setUp();
    expect(await wait(999)).toEqual([]);
    expect(await wait(1)).toEqual(['correct', 'sweep 256']);
    expect(await wait(999)).toEqual([]);
    expect(await wait(1)).toEqual(['sweep 256']);
  });

  it('goes on after 20 milliseconds where a step came back full, and only there', async () => {
    const { wait } = setUp([256, 255]);
    await wait(1_000);
    expect(await wait(19)).toEqual([]);
    expect(await wait(1)).toEqual(['sweep 256']);
    expect(await wait(20)).toEqual([]);
    expect(await wait(980)).toEqual(['sweep 256']);
  });

  it('corrects once more when the clock was set back', async () => {
    const { wait, state } = setUp();
    await wait(1_000);
    state.setBacks = 1;
    expect(await wait(1_000)).toEqual(['correct', 'sweep 256']);
    expect(await wait(1_000)).toEqual(['sweep 256']);
  });

  it('tries again after a second what failed', async () => {
    const { wait } = setUp([new Error('no disk')]);
    expect(await wait(1_000)).toEqual(['correct', 'sweep 256']);
    expect(await wait(1_000)).toEqual(['sweep 256']);
  });

  it('sweeps nothing before the correction went through', async () => {
    const { wait, state } = setUp();
    state.correction = new Error('no disk');
    expect(await wait(1_000)).toEqual(['correct']);
    expect(await wait(1_000)).toEqual(['correct']);
    state.correction = undefined;
    expect(await wait(1_000)).toEqual(['correct', 'sweep 256']);
  });

  it('ends when it is stopped, also in the middle of a step', async () => {
    const waiting = setUp();
    waiting.stop();
    expect(await waiting.wait(10_000)).toEqual([]);
    const working = setUp([256]);
    working.clock.advance(1_000);
    working.stop();
    await turn();
    expect(working.clock.pending).toBe(0);
  });
});
