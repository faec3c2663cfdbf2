import type { Clock } from '../../core/clock.ts';
import { createRelay } from '../../inference/relay.ts';
import type { CallResult } from '../../inference/types.ts';
import type { CallerWatch } from './caller-watch.ts';
import type { StreamForm } from './reply-form.ts';

/** JSON-RPC messages on their way to a client, one after the other. */
export interface MessageStream {
  readonly reply: CallResult;
  /** Resolves when the client has room for more, or is gone. */
  write(message: object): Promise<void>;
  end(): void;
}

interface Framing {
  readonly contentType: string;
  /** Means nothing to any reader; sent at once, so that the head arrives, and again in silence. */
  readonly filler: Buffer;
  frame(json: string): string;
}

const FRAMINGS: Readonly<Record<StreamForm, Framing>> = {
  sse: {
    contentType: 'text/event-stream',
    filler: Buffer.from(': keep-alive\n\n'),
    frame: (json) => `event: message\ndata: ${json}\n\n`,
  },
  ndjson: {
    contentType: 'application/x-ndjson',
    // An empty line would be one that is no JSON; this is the beginning of the next.
    filler: Buffer.from(' '),
    frame: (json) => `${json}\n`,
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
  const { contentType, filler, frame } = FRAMINGS[form];
  let drained = (): void => undefined;
  const relay = createRelay({ clock, keepAlive: filler, onDrain: () => drained() });
  relay.write(filler);
  caller.onGone(() => drained());
  return {
    reply: {
      type: 'stream',
      status: 200,
      headers: { 'content-type': contentType, 'cache-control': 'no-cache', ...headers },
      body: relay.body,
    },
    async write(message) {
      if (relay.write(Buffer.from(frame(JSON.stringify(message)))) || caller.isGone) return;
      await new Promise<void>((resolve) => (drained = resolve));
    },
    end: () => relay.end(),
  };
}
