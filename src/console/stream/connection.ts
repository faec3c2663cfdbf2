import { EventReader } from '../logic/sse.ts';
import type { ServerEvent } from '../logic/sse.ts';
import type { LinkState } from './messages.ts';

/** Wait before a cut stream is opened again: doubled each time, up to the longest. */
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 8_000;
/** Answers that the same call would only meet again. */
const FINAL = new Set([400, 403, 404, 405]);

/** A stream as it is asked for. */
export interface Source {
  readonly url: string;
  /** Id of the session that it is for. */
  readonly session: string;
}

export interface ConnectionDeps {
  /** Opens a stream; the id is that of the last event that came. */
  open(source: Source, lastId: string | undefined, signal: AbortSignal): Promise<Response>;
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

export interface Listener {
  onEvent(event: ServerEvent): void;
  onState(state: LinkState, message?: string): void;
}

/** Reads a stream until it is stopped, and opens it again after the last event where it is cut. */
export async function keepOpen(
  source: Source,
  { onEvent, onState }: Listener,
  { open, sleep, signal }: ConnectionDeps & { readonly signal: AbortSignal },
): Promise<void> {
  let lastId: string | undefined;
  let failures = 0;
  onState('connecting');
  while (!signal.aborted) {
    try {
      const response = await open(source, lastId, signal);
      if (response.status === 401) return onState('signed_out', await messageOf(response));
      if (FINAL.has(response.status)) return onState('cut', await messageOf(response));
      if (!response.ok || !response.body) throw new Error(`status ${response.status}`);
      onState('live');
      for await (const event of eventsOf(response.body)) {
        failures = 0;
        lastId = event.id ?? lastId;
        onEvent(event);
      }
    } catch {
      // It is opened again below, whatever cut it.
    }
    if (signal.aborted) return;
    onState('cut');
    await sleep(Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** failures++), signal);
  }
}

async function* eventsOf(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent> {
  const reader = body.getReader();
  const events = new EventReader();
  const decoder = new TextDecoder();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    yield* events.push(decoder.decode(value, { stream: true }));
  }
}

async function messageOf(response: Response): Promise<string> {
  const text = await response.text().catch(() => '');
  return (
    /"message":\s*"((?:[^"\\]|\\.)*)"/.exec(text)?.[1] ?? `the gateway answered ${response.status}`
  );
}
