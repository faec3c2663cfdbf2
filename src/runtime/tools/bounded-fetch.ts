import { ReadableStream } from 'node:stream/web';
import { isJSONRPCRequest } from '@modelcontextprotocol/client';
import type { FetchLike, RequestId } from '@modelcontextprotocol/client';
import { fetch } from 'undici';
import type { RequestInit } from 'undici';
import { parseJsonObject } from '../../core/json/value.ts';
import type { UrlGuard } from '../../upstream/guard/url-guard.ts';
import { withStructuredTexts } from './structured-text.ts';
import { ToolServerError } from './tool-server.ts';

export interface BoundedFetchOptions {
  /** Every connection passes it, those of redirects, too. */
  readonly guard: Pick<UrlGuard, 'dispatcher'>;
  /** Most bytes of one answer, counted after decoding. */
  readonly maxBytes: number;
  /** The text of a request with its numbers as they were written, in place of that of the SDK. */
  textOf(request: RequestId | undefined): string | undefined;
  /**
   * Receives the requests at the end of every answer, and the error where it broke off. Its
   * last bytes may not have been read yet.
   */
  onEnd(asked: Asked, thrown: unknown): void;
}

/** Requests of a call, or the event after which it resumes a stream. */
export interface Asked {
  readonly requests: readonly RequestId[];
  readonly lastEventId: string | undefined;
}

/** A `fetch` for clients of MCP. An answer that is too large breaks off with `ToolServerError`. */
export function boundedFetch({ guard, maxBytes, textOf, onEnd }: BoundedFetchOptions): FetchLike {
  return async (url, init) => {
    const requests = requestsOf(init?.body);
    const text = textOf(requests[0]);
    const options = {
      ...(init as RequestInit),
      ...(text !== undefined && { body: text }),
      dispatcher: await guard.dispatcher(),
    };
    const response = (await fetch(url, options)) as unknown as Response;
    if (!response.body) return response;
    const asked = { requests, lastEventId: eventBefore(init) };
    const chunks = bounded(response.body as ReadableStream<Uint8Array>, maxBytes, (thrown) =>
      onEnd(asked, thrown),
    );
    const isStream = /^text\/event-stream\b/i.test(response.headers.get('content-type') ?? '');
    const told = withStructuredTexts(chunks, isStream);
    return new Response(ReadableStream.from(told) as never, response);
  };
}

async function* bounded(
  body: ReadableStream<Uint8Array>,
  maxBytes: number,
  onEnd: (thrown?: unknown) => void,
): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  try {
    for await (const chunk of body) {
      bytes += chunk.length;
      if (bytes > maxBytes)
        throw new ToolServerError('connection', 'the answer of the server is too large');
      yield chunk;
    }
  } catch (thrown) {
    onEnd(thrown);
    throw thrown;
  }
  onEnd();
}

/** Ids of the request that a body holds, if it does. */
function requestsOf(body: unknown): RequestId[] {
  const message = typeof body === 'string' ? parseJsonObject(body) : undefined;
  return isJSONRPCRequest(message) ? [message.id] : [];
}

/** Id of the event after which a call resumes a stream. */
export function eventBefore(init: Parameters<FetchLike>[1]): string | undefined {
  return new Headers(init?.headers).get('last-event-id') ?? undefined;
}
