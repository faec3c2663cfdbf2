import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { withOthers } from '../../../src/core/turns/with-others.ts';

describe('work of one turn of the event loop', () => {
  /** Calls back at the end of this turn. */
  let due: (() => void)[];
  beforeEach(() => {
    due = [];
    vi.spyOn(globalThis, 'setImmediate').mockImplementation(((callback: () => void) =>
      due.push(callback)) as unknown as typeof setImmediate);
  });
  afterEach(() => vi.restoreAllMocks());

  const endTurn = (): void => {
    for (const callback of due.splice(0)) callback();
  };

  it('is done at once where few are served', () => {
    const done: number[] = [];
    for (const count of [0, 1, 2, 3]) withOthers(() => done.push(count), count);
    expect([done, due]).toEqual([[0, 1, 2, 3], []]);
  });

  it('is done at its end, in order and by one callback, where many are', () => {
    const done: string[] = [];
    withOthers(() => done.push('a'), 4);
    withOthers(() => done.push('b'), 100);
    expect([done, due.length]).toEqual([[], 1]);
    endTurn();
    expect([done, due.length]).toEqual([['a', 'b'], 0]);
  });

  it('leaves what it brings itself to the next one', () => {
    const done: string[] = [];
    withOthers(() => {
      done.push('a');
      withOthers(() => done.push('b'), 4);
    }, 4);
    endTurn();
    expect(done).toEqual(['a']);
    endTurn();
    expect(done).toEqual(['a', 'b']);
  });

  it('takes nothing from others when it throws, and its error is one that nobody caught', () => {
    const done: string[] = [];
    withOthers(() => {
      throw new Error('broken');
    }, 4);
    withOthers(() => done.push('b'), 4);
    endTurn();
    expect(done).toEqual(['b']);
    expect(endTurn).toThrow('broken');
  });
});
