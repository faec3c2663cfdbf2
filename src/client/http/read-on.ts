import type { Clock } from '../../core/time/clock.ts';
import { ClientError } from './client-error.ts';
import { DEFAULT_RETRY, TRANSIENT } from './retry.ts';
import { sleep } from './sleep.ts';

/** Means to wait between two attempts. */
export interface Patience {
  readonly clock: Clock;
  /** A number in [0, 1). */
  random(): number;
}

export interface ReadOnOptions<T> {
  /** Id of the stream, for the message when it is given up. */
  readonly id: string;
  /** The event after which it begins. */
  readonly after: string | undefined;
  readonly signal: AbortSignal | undefined;
  /** True when no requested result depends on the stream. Default false. */
  readonly isRead?: boolean;
  /** Reads the events after one; without one, from the start. */
  read(after: string | undefined): AsyncIterable<T>;
  /** True when a reading that did not fail was the last. */
  isDone(): boolean;
}

/** Readings in a row that brought nothing before it is given up, about half a minute. */
const MAX_LOSSES = 8;
/** A connection that lasted so long was no failure, even if nothing happened on it. */
const STEADY_MS = 10_000;

/**
 * Reads to the end over lost connections: each time after the last event that came, so that none is missing and
 * none comes twice.
 *
 * @throws ClientError `connection_lost` when that comes to nothing again and again; what `read` throws
 * and another try cannot mend
 */
export async function* readOn<T extends object>(
  { clock, random }: Patience,
  { id, after, signal, isRead = false, read, isDone }: ReadOnOptions<T>,
): AsyncGenerator<T, void, undefined> {
  let last = after;
  for (let losses = 0; ;) {
    const from = last;
    const opened = clock.monotonic();
    let cause: unknown;
    try {
      for await (const item of read(last)) {
        // Parts of an event have no id: only events of the log are positions to continue from.
        if ('id' in item && typeof item.id === 'string') last = item.id;
        yield item;
      }
      if (isDone()) return;
    } catch (thrown) {
      if (!canGoOn(thrown)) throw thrown;
      cause = thrown;
    }
    const wasGood = last !== from || clock.monotonic() - opened >= STEADY_MS;
    losses = wasGood ? 0 : losses + 1;
    if (losses >= MAX_LOSSES) {
      const message = `the stream of ${id} ended ${losses} times and brought nothing`;
      throw new ClientError({ code: 'connection_lost', message, isRead, cause });
    }
    await sleep(clock, pauseAfter(losses, random), signal);
  }
}

/** True when the same call may succeed in a moment. */
export function canGoOn(thrown: unknown): boolean {
  if (!(thrown instanceof ClientError) || thrown.code === 'aborted') return false;
  return thrown.status === undefined || TRANSIENT.has(thrown.status);
}

function pauseAfter(losses: number, random: () => number): number {
  if (losses === 0) return 0;
  const pause = Math.min(DEFAULT_RETRY.baseMs * 2 ** (losses - 1), DEFAULT_RETRY.maxMs);
  return Math.round(pause * (1 + random() / 4));
}
