import type { Clock } from '../../core/time/clock.ts';
import { ClientError } from './client-error.ts';

/** Waits `ms` milliseconds of the clock. @throws ClientError `aborted` with the signal */
export function sleep(clock: Clock, ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      timer.cancel();
      reject(new ClientError({ code: 'aborted', message: 'interrupted' }));
    };
    const timer = clock.setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal?.addEventListener('abort', stop, { once: true });
    if (signal?.aborted) stop();
  });
}
