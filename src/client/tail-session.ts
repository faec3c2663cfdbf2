import type { Clock } from '../core/clock.ts';
import type { SessionEvent } from '../sessions/session-event.ts';
import { ClientError } from './client-error.ts';
import { eventData } from './event-stream.ts';
import { hasStrings, isRecord } from './guards.ts';
import { readEvent } from './read-event.ts';
import { DEFAULT_RETRY, TRANSIENT } from './retry.ts';
import { sleep } from './sleep.ts';

/** How a Session came to rest. */
export interface TailEnd {
  /** A stop reason of `session.status_idle`, or `terminated` or `deleted`. */
  readonly type: string;
  /** What the last `session.error` of the turn told. */
  readonly error: Readonly<Record<string, unknown>> | undefined;
}

export interface TailSource {
  readonly clock: Clock;
  random(): number;
  /** All events that there are, oldest first. */
  history(): AsyncIterable<SessionEvent>;
  /** The stream of what follows this event; without one, of what happens from now on. */
  open(after: string | undefined): Promise<ReadableStream<Uint8Array>>;
}

export interface TailRequest {
  readonly id: string;
  /** Also ends when the Session waits for its client. */
  readonly untilRest: boolean;
  readonly signal: AbortSignal | undefined;
}

/** Connections in a row that brought nothing before it is given up, about half a minute. */
const MAX_LOSSES = 8;
/** A connection that stood so long was no failure, even if nothing happened on it. */
const STEADY_MS = 10_000;

const isEvent = hasStrings<{ id: string; type: string }>('id', 'type');

/**
 * The history of a Session, then what happens, each event once and in order. A stream that ends
 * without the Session is opened again behind the last event that came.
 *
 * @throws ClientError `connection_lost` when that comes to nothing again and again
 */
export async function* tailSession(
  source: TailSource,
  { id, untilRest, signal }: TailRequest,
): AsyncGenerator<SessionEvent, TailEnd, undefined> {
  const { clock } = source;
  const place = new Place();
  for await (const event of source.history()) {
    place.take(event);
    yield event;
  }
  if (place.end && (untilRest || place.isOver)) return place.end;
  for (let losses = 0; ;) {
    const from = place.last;
    const opened = clock.monotonic();
    let cause: unknown;
    try {
      for await (const event of connect(source, from)) {
        place.take(event);
        yield event;
        if (place.end && (untilRest || place.isOver)) return place.end;
      }
    } catch (thrown) {
      if (!canGoOn(thrown)) throw thrown;
      cause = thrown;
    }
    const wasGood = place.last !== from || clock.monotonic() - opened >= STEADY_MS;
    losses = wasGood ? 0 : losses + 1;
    if (losses >= MAX_LOSSES) {
      const message = `the stream of ${id} ended ${losses} times and brought nothing`;
      throw new ClientError({ code: 'connection_lost', message, cause });
    }
    await sleep(clock, pauseAfter(losses, source), signal);
  }
}

/** Where the reader stands, and whether the Session rests there. */
class Place {
  last: string | undefined;
  end: TailEnd | undefined;
  isOver = false;
  #error: TailEnd['error'];

  take(event: SessionEvent): void {
    this.last = event.id;
    const { type } = event;
    if (type === 'session.error') {
      this.#error = isRecord(event['error']) ? event['error'] : undefined;
    } else if (type === 'session.status_running') {
      this.#error = undefined;
      this.end = undefined;
    } else if (type === 'session.status_idle') {
      const reason = isRecord(event['stop_reason']) ? event['stop_reason'] : {};
      this.end = { type: String(reason['type']), error: this.#error };
    } else if (type === 'session.status_terminated' || type === 'session.deleted') {
      const word = type === 'session.deleted' ? 'deleted' : 'terminated';
      this.end = { type: word, error: this.#error };
      this.isOver = true;
    }
  }
}

/** Without an event to go on from, whatever happened before the stream was open is in the history. */
async function* connect(
  source: TailSource,
  after: string | undefined,
): AsyncGenerator<SessionEvent, void, undefined> {
  const body = await source.open(after);
  const seen = new Set<string>();
  try {
    if (after === undefined) {
      for await (const event of source.history()) {
        seen.add(event.id);
        yield event;
      }
    }
    for await (const data of eventData(body)) {
      const event = readEvent(data);
      if (isEvent(event) && !seen.has(event.id)) yield event as SessionEvent;
    }
  } finally {
    // It was read to its end, or is let go unread.
    await body.cancel().catch(() => undefined);
  }
}

function canGoOn(thrown: unknown): boolean {
  if (!(thrown instanceof ClientError) || thrown.code === 'aborted') return false;
  return thrown.status === undefined || TRANSIENT.has(thrown.status);
}

function pauseAfter(losses: number, { random }: TailSource): number {
  if (losses === 0) return 0;
  const pause = Math.min(DEFAULT_RETRY.baseMs * 2 ** (losses - 1), DEFAULT_RETRY.maxMs);
  return Math.round(pause * (1 + random() / 4));
}
