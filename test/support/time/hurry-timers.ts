import { onTestFinished, vi } from 'vitest';

/** Until the test is over, timers of this process that start from now on run out so many times as fast. */
export function hurryTimers(rate: number): void {
  const start = globalThis.setTimeout;
  const quick = (fn: (...args: unknown[]) => void, ms = 0, ...args: unknown[]) =>
    start(fn, ms / rate, ...args);
  vi.stubGlobal('setTimeout', quick);
  onTestFinished(() => void vi.unstubAllGlobals());
}
