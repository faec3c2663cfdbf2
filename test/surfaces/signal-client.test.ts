import { expect, it } from 'vitest';
import { signalClient } from '../../src/surfaces/signal-client.ts';

it('a client is gone once its signal is aborted', () => {
  const controller = new AbortController();
  const client = signalClient(controller.signal);
  let told = 0;
  client.onGone(() => void told++);
  expect([client.gone, told]).toEqual([false, 0]);
  controller.abort();
  expect([client.gone, told]).toEqual([true, 1]);
});

it('who listens no more is not told, and who listens is told once', () => {
  const { signal } = new AbortController();
  let told = 0;
  const client = signalClient(signal);
  const stop = client.onGone(() => void (told += 10));
  client.onGone(() => void told++);
  stop();
  signal.dispatchEvent(new Event('abort'));
  signal.dispatchEvent(new Event('abort'));
  expect(told).toBe(1);
});
