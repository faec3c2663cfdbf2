import type { Clock } from '../../core/time/clock.ts';
import { stringifyWithRaw } from '../../core/json/raw.ts';
import { createRelay } from '../../inference/relay.ts';
import type { CallResult } from '../../inference/types.ts';
import type { CallerWatch } from './caller-watch.ts';
import type { StreamForm } from './reply-form.ts';

/** JSON-RPC messages on their way to a client, one after the other. */
export interface MessageStream {
  readonly reply: CallResult;
  /**
   * Resolves when the client has room for more, or is gone. With an event id, it can name the message as
   * the last that it saw; newline-delimited JSON has none.
   */
  write(message: object, eventId?: string): Promise<void>;
  /** Sends only an event id, and how soon to resume from it. Nothing in newline-delimited JSON. */
  mark(eventId: string): Promise<void>;
  end(): void;
}

interface Framing {
  readonly contentType: string;
  /** Means nothing to any reader; sent at once, so that the head arrives, and again in silence. */
  readonly filler: Buffer;
  frame(json: string, eventId: string | undefined): string;
  /** Empty: there is nothing to say. */
  mark(eventId: string): string;
}

/** Pause after which a client that lost its stream comes back. */
const RETRY_MS = 1_000;

const FRAMINGS: Readonly<Record<StreamForm, Framing>> = {
  sse: {
    contentType: 'text/event-stream',
    filler: Buffer.from(': keep-alive\n\n'),
    frame: (json, eventId) =>
      `event: message\n${eventId === undefined ? '' : `id: ${eventId}\n`}data: ${json}\n\n`,
    mark: (eventId) => `id: ${eventId}\nretry: ${RETRY_MS}\ndata: \n\n`,
  },
  ndjson: {
    contentType: 'application/x-ndjson',
    // An empty line would be one that is no JSON; this is the beginning of the next.
    filler: Buffer.from(' '),
    frame: (json) => `${json}\n`,
    mark: () => '',
  },
};

export function createMessageStream(
  form: StreamForm,
  {
    clock,
    caller,
    headers,
  }: { clock: Clock; caller: CallerWatch; headers?: Record<string, string> },
): MessageStream {
  const { contentType, filler, frame, mark } = FRAMINGS[form];
  // Several answers of a batch may wait at once.
  let waiting: (() => void)[] = [];
  const goOn = (): void => {
    const woken = waiting;
    waiting = [];
    for (const wake of woken) wake();
  };
  const relay = createRelay({ clock, keepAlive: filler, onDrain: goOn });
  relay.write(filler);
  caller.onGone(goOn);
  const send = async (text: string): Promise<void> => {
    if (relay.write(Buffer.from(text)) || caller.isGone) return;
    await new Promise<void>((resolve) => void waiting.push(resolve));
  };
  return {
    reply: {
      type: 'stream',
      status: 200,
      headers: { 'content-type': contentType, 'cache-control': 'no-cache', ...headers },
      body: relay.body,
    },
    write: (message, eventId) => send(frame(stringifyWithRaw(message), eventId)),
    mark: (eventId) => send(mark(eventId)),
    end: () => relay.end(),
  };
}
