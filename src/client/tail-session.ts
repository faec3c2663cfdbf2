import type { SessionEvent } from '../sessions/log/session-event.ts';
import { eventData } from './http/event-stream.ts';
import { hasStrings } from './http/guards.ts';
import { readEvent } from './http/read-event.ts';
import { readOn } from './http/read-on.ts';
import type { Patience } from './http/read-on.ts';
import { RESTING, RestWatch } from './http/rest-watch.ts';
import type { TailEnd } from './http/rest-watch.ts';

export interface TailSource extends Patience {
  /** All events that there are, oldest first unless `order` says `desc`. */
  history(order: 'asc' | 'desc'): AsyncIterable<SessionEvent>;
  /** The stream of events after this one; without one, of new events. */
  open(after: string | undefined): Promise<ReadableStream<Uint8Array>>;
}

export interface TailRequest {
  readonly id: string;
  /** Ends when the Session waits for its client, too. */
  readonly untilRest: boolean;
  /** False: only the history. */
  readonly follow: boolean;
  /** Number of events at the end of the history to begin with. */
  readonly last: number | undefined;
  /** Types of the events that are given; undefined: all. */
  readonly types: readonly string[] | undefined;
  /** Called while the Session waits for its client, after the event that says so. */
  readonly onWait?: (() => Promise<void>) | undefined;
  readonly signal: AbortSignal | undefined;
}

const isEvent = (value: unknown): value is SessionEvent =>
  hasStrings<{ id: string; type: string }>('id', 'type')(value);

/**
 * The history of a Session, then new events, each event once and in order. A stream that ends without the
 * Session is opened again after the last event that came.
 *
 * @throws ClientError `connection_lost` when that comes to nothing again and again
 */
export async function* tailSession(
  source: TailSource,
  request: TailRequest,
): AsyncGenerator<SessionEvent, TailEnd, undefined> {
  const { id, untilRest, follow, types, signal } = request;
  const watch = new RestWatch();
  const isWanted = ({ type }: SessionEvent) => types?.includes(type) ?? true;
  const isDone = () => watch.end !== undefined && (untilRest || watch.isOver);
  const tellWait = async () => {
    if (watch.end?.type === 'requires_action') await request.onWait?.();
  };
  let after: string | undefined;
  for await (const { event, isShown } of begin(source, request)) {
    after = event.id;
    watch.take(event);
    if (isShown && isWanted(event)) yield event;
  }
  if (watch.end && follow && isDone()) return watch.end;
  await tellWait();
  if (!follow) return { type: 'history', error: watch.end?.error };
  const read = (from: string | undefined) => connect(source, from);
  const options = { id, after, signal, isRead: true, read, isDone: () => false };
  for await (const event of readOn(source, options)) {
    watch.take(event);
    if (isWanted(event)) yield event;
    if (watch.end && isDone()) return watch.end;
    if (event.type === 'session.status_idle') await tellWait();
  }
  throw new Error('a stream without end has ended');
}

interface Told {
  readonly event: SessionEvent;
  readonly isShown: boolean;
}

async function* begin(source: TailSource, request: TailRequest): AsyncGenerator<Told> {
  const { id, last, signal } = request;
  if (last !== undefined) {
    yield* await recent(source, request, last);
    return;
  }
  let isWhole = false;
  const read = async function* (after: string | undefined): AsyncGenerator<SessionEvent> {
    let isKnown = after !== undefined;
    for await (const event of source.history('asc')) {
      if (!isKnown) yield event;
      if (event.id === after) isKnown = false;
    }
    isWhole = true;
  };
  const whole = readOn(source, {
    id,
    after: undefined,
    signal,
    isRead: true,
    read,
    isDone: () => isWhole,
  });
  for await (const event of whole) yield { event, isShown: true };
}

/**
 * Reads the log from its end: as many events as are wanted, and of the others those that show whether the
 * Session rests.
 */
async function recent(
  source: TailSource,
  { types }: TailRequest,
  count: number,
): Promise<readonly Told[]> {
  const told: Told[] = [];
  let missing = count;
  let isSettled = false;
  for await (const event of source.history('desc')) {
    const isShown = missing > 0 && (types?.includes(event.type) ?? true);
    const isNewest = told.length === 0;
    if (isShown) missing--;
    // An error belongs to the turn that it is in, so its beginning has to be seen.
    if (isShown || isNewest || (!isSettled && RESTING.includes(event.type)))
      told.push({ event, isShown });
    isSettled ||= event.type === 'session.status_running';
    if (missing === 0 && isSettled) break;
  }
  return told.reverse();
}

/** Opens the stream. Without an event to continue from, the history holds all from before it was open. */
async function* connect(
  source: TailSource,
  after: string | undefined,
): AsyncGenerator<SessionEvent, void, undefined> {
  const body = await source.open(after);
  const seen = new Set<string>();
  try {
    if (after === undefined) {
      for await (const event of source.history('asc')) {
        seen.add(event.id);
        yield event;
      }
    }
    for await (const data of eventData(body)) {
      const event = readEvent(data);
      if (isEvent(event) && !seen.has(event.id)) yield event;
    }
  } finally {
    // It was read to its end, or is closed unread.
    await body.cancel().catch(() => undefined);
  }
}
