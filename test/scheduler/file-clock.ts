import { readFileSync } from 'node:fs';
import type { Clock } from '../../src/core/time/clock.ts';

const POLL_MS = 5;

interface Waiting {
  readonly at: number;
  readonly fn: () => void;
}

/** The time is what a file says, in ms since epoch; whoever writes it lets time pass for all processes. */
export function createFileClock(path: string): Clock {
  const waiting = new Set<Waiting>();
  const now = (): number => Number(readFileSync(path, 'utf8'));
  const wake = (): void => {
    if (waiting.size === 0) return;
    const time = now();
    for (const timer of [...waiting].filter(({ at }) => at <= time)) {
      waiting.delete(timer);
      timer.fn();
    }
  };
  setInterval(wake, POLL_MS).unref();
  return {
    now,
    monotonic: now,
    setTimeout(fn, ms) {
      const timer: Waiting = { at: now() + Math.max(0, ms), fn };
      waiting.add(timer);
      return { cancel: () => void waiting.delete(timer) };
    },
  };
}
