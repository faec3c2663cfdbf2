import type { Clock } from '../../core/time/clock.ts';

export interface Within {
  readonly ms: number;
  readonly clock: Clock;
}

/** The work's outcome, or that of `instead` when the work takes longer. */
export function within<T>(work: Promise<T>, { ms, clock }: Within, instead: () => T): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = clock.setTimeout(() => {
      try {
        resolve(instead());
      } catch (thrown) {
        reject(thrown);
      }
    }, ms);
    work.then(resolve, reject).finally(() => timer.cancel());
  });
}

/** Resolves when the signal is aborted. */
export function whenAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
