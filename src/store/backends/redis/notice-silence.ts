import type { Redis } from 'ioredis';
import type { Clock, Timer } from '../../../core/time/clock.ts';

const ASK_MS = 10_000;
const ANSWER_MS = 5_000;

/**
 * The other side may be gone without a word. A command that had no answer in time means a new
 * connection: on this one no other command will ever have one.
 */
export function noticeSilence(redis: Redis, error: unknown): void {
  if (error instanceof Error && error.message === 'Command timed out') redis.disconnect(true);
}

/** Pings a connection that only listens now and then. Returns the stop. */
export function askNowAndThen(listener: Redis, clock: Clock): () => void {
  let timer: Timer | undefined;
  const ask = (): void => {
    const overdue = clock.setTimeout(() => listener.disconnect(true), ANSWER_MS);
    // One that is away already comes back by itself.
    listener
      .ping()
      .catch(() => undefined)
      .finally(() => overdue.cancel());
    next();
  };
  const next = (): void => {
    timer = clock.setTimeout(ask, ASK_MS);
  };
  next();
  return () => timer?.cancel();
}
