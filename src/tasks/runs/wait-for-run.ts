import type { Clock } from '../../core/time/clock.ts';
import { isOver } from './run-record.ts';
import type { RunRecord } from './run-record.ts';

export interface WaitOptions {
  readonly ms: number;
  /** Ends the wait, and not the run. */
  readonly signal: AbortSignal;
}

export interface WaitDeps extends WaitOptions {
  readonly clock: Clock;
  /** Calls `listener` after changes of the run; returns the function that stops it. */
  watch(listener: () => void): () => void;
}

/** Looks after each change until the run or the wait is over; gives the last that was seen. */
export async function waitForRun(
  find: () => Promise<RunRecord>,
  { ms, signal, clock, watch }: WaitDeps,
): Promise<RunRecord> {
  const changes = watchChanges(watch);
  const timer = clock.setTimeout(changes.stop, ms);
  if (signal.aborted) changes.stop();
  else signal.addEventListener('abort', changes.stop, { once: true });
  try {
    for (;;) {
      const record = await find();
      if (isOver(record) || !(await changes.next())) return record;
    }
  } finally {
    timer.cancel();
    changes.stop();
    signal.removeEventListener('abort', changes.stop);
  }
}

interface Changes {
  /** False when it was stopped. */
  next(): Promise<boolean>;
  stop(): void;
}

/** One by one; several without a wait are one. */
function watchChanges(watch: WaitDeps['watch']): Changes {
  let isStopped = false;
  let isChanged = false;
  let wake: () => void = () => undefined;
  const unwatch = watch(() => {
    isChanged = true;
    wake();
  });
  return {
    async next() {
      if (!isChanged && !isStopped) await new Promise<void>((resolve) => (wake = resolve));
      isChanged = false;
      return !isStopped;
    },
    stop() {
      if (isStopped) return;
      isStopped = true;
      unwatch();
      wake();
    },
  };
}
