import type { Worker } from 'node:cluster';
import { EventEmitter } from 'node:events';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { watchBeats } from '../../../src/server/process/worker-channel.ts';

const BEAT = { type: 'gateway:beat' };

function watched(): { worker: EventEmitter; stuck: () => number } {
  const worker = new EventEmitter();
  const onStuck = vi.fn<() => void>();
  watchBeats(worker as Worker, onStuck);
  return { worker, stuck: () => onStuck.mock.calls.length };
}

describe('a worker', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('is taken for stuck, once, when it was heard of and is silent for 30 seconds', () => {
    const { worker, stuck } = watched();
    worker.emit('message', BEAT);
    vi.advanceTimersByTime(30_000);
    expect(stuck()).toBe(0);
    vi.advanceTimersByTime(2_000);
    expect(stuck()).toBe(1);
    vi.advanceTimersByTime(600_000);
    expect(stuck()).toBe(1);
  });

  it('may take its time to start, and is fine as long as it beats', () => {
    const { worker, stuck } = watched();
    vi.advanceTimersByTime(600_000);
    worker.emit('message', { type: 'prom-client:getMetricsRes' });
    worker.emit('message', null);
    vi.advanceTimersByTime(600_000);
    for (let beats = 0; beats < 20; beats++) {
      worker.emit('message', BEAT);
      vi.advanceTimersByTime(20_000);
    }
    expect(stuck()).toBe(0);
  });

  it('is not looked after any more when it has ended', () => {
    const { worker, stuck } = watched();
    worker.emit('message', BEAT);
    worker.emit('exit');
    vi.advanceTimersByTime(600_000);
    expect(stuck()).toBe(0);
  });
});
