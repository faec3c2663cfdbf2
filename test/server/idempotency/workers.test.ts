import { describe, expect, it, vi } from 'vitest';
import { createCallWorkers } from '../../../src/server/idempotency/workers.ts';

const place = (pid: number) => ({ host: 'h', pid, started: '1' });

function setUp({ isSeen = true, alive = true } = {}) {
  const isAlive = vi.fn(async () => alive);
  const isGone = vi.fn(({ pid }: { pid: number }) => pid === 9);
  const liveness = isSeen ? { own: place(1), isGone } : undefined;
  return { isAlive, workers: createCallWorkers({ worker: 'w1', lease: { isAlive }, liveness }) };
}

describe('the processes that make calls', () => {
  it('know their own place where the host shows it', () => {
    expect(setUp().workers.own).toEqual({ worker: 'w1', place: place(1) });
    expect(setUp({ isSeen: false }).workers.own).toEqual({ worker: 'w1', place: undefined });
  });

  it('are never gone for themselves', async () => {
    const { workers, isAlive } = setUp({ alive: false });
    expect(await workers.isGone({ worker: 'w1', place: place(9) })).toBe(false);
    expect(isAlive).not.toHaveBeenCalled();
  });

  it('are gone where the host shows it, whatever their lease says', async () => {
    expect(await setUp().workers.isGone({ worker: 'w2', place: place(9) })).toBe(true);
  });

  it.each([
    ['is seen', { worker: 'w2', place: place(2) }],
    ['has no place', { worker: 'w2' }],
  ])('are gone with their lease where the process %s', async (_what, other) => {
    expect(await setUp({ alive: true }).workers.isGone(other)).toBe(false);
    expect(await setUp({ alive: false }).workers.isGone(other)).toBe(true);
    const unseen = setUp({ isSeen: false, alive: false });
    expect(await unseen.workers.isGone({ ...other, place: place(9) })).toBe(true);
    expect(unseen.isAlive).toHaveBeenCalledWith('w2');
  });
});
