import { describe, expect, it } from 'vitest';
import { writeLater } from '../../../src/server/idempotency/write-later.ts';
import { StoreError } from '../../../src/store/store.ts';
import { createFakeClock } from '../../support/fake-clock.ts';

const AWAY = new StoreError('unavailable', 'away');
const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('what the store did not take', () => {
  const setUp = () => {
    const clock = createFakeClock();
    const state = {
      fault: AWAY as Error | undefined,
      tries: 0,
      ends: 0,
      reported: [] as unknown[],
    };
    const write = async (): Promise<void> => {
      state.tries++;
      if (state.fault) throw state.fault;
    };
    writeLater(write, {
      clock,
      report: (error) => state.reported.push(error),
      onEnd: () => void state.ends++,
    });
    const pass = async (ms: number): Promise<void> => {
      clock.advance(ms);
      await settled();
    };
    return { clock, state, pass };
  };

  it('is written again after 1, 2, 4, 8, 16 and then every 30 seconds until it is', async () => {
    const { clock, state, pass } = setUp();
    for (const seconds of [1, 2, 4, 8, 16, 30, 30]) {
      await pass(seconds * 1_000 - 1);
      const { tries } = state;
      await pass(1);
      expect(state.tries, `${seconds} s`).toBe(tries + 1);
    }
    state.fault = undefined;
    await pass(30_000);
    expect(state).toMatchObject({ ends: 1, reported: [] });
    expect(clock.pending).toBe(0);
  });

  it('is reported where no later time mends it', async () => {
    const { clock, state, pass } = setUp();
    state.fault = new StoreError('closed', 'closed');
    await pass(1_000);
    expect(state).toMatchObject({ tries: 1, ends: 1, reported: [state.fault] });
    expect(clock.pending).toBe(0);
  });
});
