import { ClientError } from './http/client-error.ts';
import { fromErrorBody } from './http/error-body.ts';
import { eventData } from './http/event-stream.ts';
import { isRecord } from './http/guards.ts';
import type { Http } from './http/http.ts';

/** A part of a message: text, a picture, sound or a file, in the form of the chat protocol. */
export interface ChatPart {
  type: 'text' | 'image_url' | 'input_audio' | 'file';
  [field: string]: unknown;
}

export interface ChatMessage {
  role: 'system' | 'user' | 'assistant';
  content: string | ChatPart[];
}

export interface ChatRequest {
  model: string;
  messages: ChatMessage[];
  /** Groups requests in records, sums and routing; at most 256 characters. */
  conversation?: string | undefined;
  signal?: AbortSignal | undefined;
}

/** One answer in full, with the parts that a terminal shows picked out. */
export interface ChatAnswer {
  text: string;
  requestId: string | undefined;
  /** The response body as the server sent it. */
  body: Record<string, unknown>;
}

/** One event of a stream: the server's own object, and the text that it adds. */
export interface ChatEvent {
  text: string;
  event: Record<string, unknown>;
}

export interface ChatStream extends AsyncIterable<ChatEvent> {
  readonly requestId: string | undefined;
}

export interface ChatClient {
  /** One call of `POST /v1/chat/completions`, never repeated. */
  create(request: ChatRequest): Promise<ChatAnswer>;
  /**
   * The same as a stream. Iterating throws the error that the server sends inside the stream, and
   * `connection_lost` when it ends without `[DONE]`.
   */
  stream(request: ChatRequest): Promise<ChatStream>;
}

const PATH = '/v1/chat/completions';

export function createChatClient(http: Http): ChatClient {
  return {
    async create({ signal, conversation, ...body }) {
      const headers = headersOf(conversation);
      const call = { method: 'POST', path: PATH, headers, body, signal };
      const answer = await http.json(call, isRecord);
      return {
        text: textOf(answer.body, 'message'),
        requestId: answer.requestId,
        body: answer.body,
      };
    },
    async stream({ signal, conversation, ...body }) {
      const answer = await http.stream({
        method: 'POST',
        path: PATH,
        headers: headersOf(conversation),
        body: { ...body, stream: true, stream_options: { include_usage: true } },
        signal,
      });
      const { requestId } = answer;
      return { requestId, [Symbol.asyncIterator]: () => chatEvents(answer.body, requestId) };
    },
  };
}

function headersOf(conversation: string | undefined): Record<string, string> {
  return conversation === undefined ? {} : { 'x-gateway-conversation': conversation };
}

async function* chatEvents(
  body: ReadableStream<Uint8Array>,
  requestId: string | undefined,
): AsyncGenerator<ChatEvent, void, undefined> {
  for await (const data of eventData(body)) {
    if (data === '[DONE]') return;
    const event = parseEvent(data);
    if (event['error'] !== undefined) throw streamError(event['error'], requestId);
    yield { text: textOf(event, 'delta'), event };
  }
  const message = 'the answer was cut off before its end';
  throw new ClientError({ code: 'connection_lost', message, requestId });
}

function parseEvent(data: string): Record<string, unknown> {
  try {
    const event: unknown = JSON.parse(data);
    if (isRecord(event)) return event;
  } catch {
    // Reported below, together with JSON that is no object.
  }
  throw new ClientError({
    code: 'invalid_response',
    message: 'an event of the stream is not a JSON object',
  });
}

function streamError(error: unknown, requestId: string | undefined): ClientError {
  const { code, message } = fromErrorBody(502, JSON.stringify({ error }));
  return new ClientError({ code, message, requestId });
}

function textOf(body: Record<string, unknown>, part: 'delta' | 'message'): string {
  const choices = body['choices'];
  const choice: unknown = Array.isArray(choices) ? choices[0] : undefined;
  const message = isRecord(choice) ? choice[part] : undefined;
  const content = isRecord(message) ? message['content'] : undefined;
  return typeof content === 'string' ? content : '';
}
