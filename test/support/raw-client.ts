import { once } from 'node:events';
import { request } from 'node:http';
import type { ClientRequest, IncomingMessage } from 'node:http';

export interface RawOptions {
  key?: string;
  method?: string;
  headers?: Record<string, string>;
  body?: string | Buffer;
}

/** An answer as it came over the socket, nothing decoded. */
export interface RawAnswer {
  status: number;
  headers: IncomingMessage['headers'];
  body: Buffer;
  /** False when the connection broke before the end of the body. */
  complete: boolean;
}

export interface RawStream {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  /** Every chunk with the instant of its arrival, of `performance.now()`. */
  readonly chunks: { at: number; bytes: Buffer }[];
  text(): string;
  /** Resolves when the body ended, cleanly or not. */
  readonly ended: Promise<{ complete: boolean }>;
  readonly response: IncomingMessage;
  /** Closes the connection. */
  destroy(): void;
}

/** Sends a request on a connection of its own and gives the answer's head and body as they arrive. */
export async function openRaw(url: string, options: RawOptions = {}): Promise<RawStream> {
  const sent = sendRaw(url, options);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const chunks: RawStream['chunks'] = [];
  response.on('data', (bytes: Buffer) => chunks.push({ at: performance.now(), bytes }));
  response.on('error', () => undefined);
  const ended = new Promise<{ complete: boolean }>((resolve) => {
    response.on('close', () => resolve({ complete: response.complete }));
  });
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    chunks,
    text: () => Buffer.concat(chunks.map(({ bytes }) => bytes)).toString('utf8'),
    ended,
    response,
    destroy: () => void sent.destroy(),
  };
}

export async function askRaw(url: string, options: RawOptions = {}): Promise<RawAnswer> {
  const stream = await openRaw(url, options);
  const { complete } = await stream.ended;
  const body = Buffer.concat(stream.chunks.map(({ bytes }) => bytes));
  return { status: stream.status, headers: stream.headers, body, complete };
}

/** The request alone, for callers that go away before there is an answer. */
export function sendRaw(
  url: string,
  { key, method = 'POST', headers = {}, body = '' }: RawOptions = {},
): ClientRequest {
  const bytes = Buffer.from(body);
  const sent = request(url, {
    method,
    agent: false,
    headers: {
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      'content-type': 'application/json',
      'content-length': bytes.length,
      ...headers,
    },
  });
  sent.on('error', () => undefined);
  sent.end(bytes);
  return sent;
}
