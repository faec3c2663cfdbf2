import { ClientError } from './client-error.ts';

const MAX_LINE = 16 * 1024 * 1024;

/** Block of a stream of events. */
export interface StreamedEvent {
  readonly event: string | undefined;
  readonly id: string | undefined;
  /** Undefined for a block that only moves the id on. */
  readonly data: string | undefined;
}

/**
 * The `data` of every event of an SSE body, in order (WHATWG: server-sent events). A broken connection
 * is a `connection_lost` error; an event without its blank line at the end is dropped.
 */
export async function* eventData(
  body: ReadableStream<Uint8Array>,
): AsyncGenerator<string, void, undefined> {
  for await (const { data } of streamedEvents(body)) if (data !== undefined) yield data;
}

/** Every block of an SSE body that has data or an id, in order, as {@link eventData} reads it. */
export async function* streamedEvents(
  body: ReadableStream<Uint8Array>,
): AsyncGenerator<StreamedEvent, void, undefined> {
  let data: string[] = [];
  let event: string | undefined;
  let id: string | undefined;
  for await (const line of lines(body)) {
    if (line === '') {
      if (data.length > 0 || id !== undefined)
        yield { event, id, data: data.length > 0 ? data.join('\n') : undefined };
      [data, event, id] = [[], undefined, undefined];
    } else if (line.startsWith('data:')) data.push(valueOf(line, 5));
    else if (line.startsWith('event:')) event = valueOf(line, 6);
    else if (line.startsWith('id:')) id = valueOf(line, 3);
  }
}

const valueOf = (line: string, from: number): string =>
  line.slice(line[from] === ' ' ? from + 1 : from);

async function* lines(body: ReadableStream<Uint8Array>): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder();
  const reader = body.getReader();
  let rest = '';
  try {
    for (;;) {
      const { done, value } = await read(reader);
      if (done) return;
      rest += decoder.decode(value, { stream: true });
      // A CR at the end of a chunk may be the first half of CRLF, so it waits for the next one.
      const parts = rest.split(/\r\n|\n|\r(?!$)/);
      rest = parts.pop() ?? '';
      if (rest.length > MAX_LINE) throw lost('a line of the stream is too long');
      yield* parts;
    }
  } finally {
    // Leaving early must close the socket; of a body that already failed there is nothing to learn.
    await reader.cancel().catch(() => undefined);
  }
}

async function read(reader: ReadableStreamDefaultReader<Uint8Array>) {
  try {
    return await reader.read();
  } catch (cause) {
    if (cause instanceof ClientError) throw cause;
    if (cause instanceof Error && cause.name === 'AbortError') {
      throw new ClientError({ code: 'aborted', message: 'interrupted', cause });
    }
    throw lost('the stream was cut', cause);
  }
}

function lost(message: string, cause?: unknown): ClientError {
  return new ClientError({ code: 'connection_lost', message, cause });
}
