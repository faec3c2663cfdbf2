import type { Worker } from 'node:cluster';
import { EventEmitter } from 'node:events';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { offerSettings, onReload, watchBeats } from '../../../src/server/process/worker-channel.ts';

const BEAT = { type: 'gateway:beat' };

it('begins with what the last reload came to, as it is by then', () => {
  const sent: unknown[] = [];
  const worker = Object.assign(new EventEmitter(), {
    isConnected: () => true,
    send: (message: unknown) => void sent.push(message),
  });
  let reloadError: string | null = null;
  const offer = { settings: '{}', reloadError: () => reloadError };
  offerSettings(worker as unknown as Worker, offer);
  reloadError = 'the configuration is invalid';
  worker.emit('message', { type: 'gateway:hello' });
  expect(sent).toEqual([
    { type: 'gateway:reload', reloadError },
    { type: 'gateway:settings', settings: '{}' },
  ]);
  const heard: unknown[] = [];
  const before = process.listeners('message');
  onReload((error) => void heard.push(error));
  const [listener] = process.listeners('message').filter((one) => !before.includes(one));
  for (const message of [...sent, { type: 'gateway:reload', reloadError: null }])
    listener?.(message, undefined);
  process.off('message', listener!);
  expect(heard).toEqual([reloadError, null]);
});

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
