import { request } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';

export interface RawAnswer {
  status: number | undefined;
  headers: IncomingHttpHeaders;
  chunks: Buffer[];
  text: string;
  /** False when the connection ended before the body did. */
  complete: boolean;
}

/** One exchange as it is on the socket: no redirects, no decoding, no retries, no shared connection. */
export function rawCall(
  url: string,
  { body, method = body === undefined ? 'GET' : 'POST', headers = {} }: RawCallOptions = {},
): Promise<RawAnswer> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    const answer: RawAnswer = { status: undefined, headers: {}, chunks, text: '', complete: false };
    const finish = (complete: boolean): void =>
      resolve({ ...answer, complete, text: Buffer.concat(chunks).toString('utf8') });
    const req = request(url, {
      method,
      agent: false,
      headers: { 'content-type': 'application/json', ...headers },
    });
    req.on('error', () => finish(false));
    req.on('response', (res) => {
      answer.status = res.statusCode;
      answer.headers = res.headers;
      res.on('data', (chunk: Buffer) => chunks.push(chunk));
      res.on('error', () => finish(false));
      res.on('close', () => finish(res.complete));
    });
    req.end(
      body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body),
    );
  });
}

export interface RawCallOptions {
  /** An object is sent as JSON. */
  body?: unknown;
  method?: string;
  headers?: Record<string, string>;
}

/** The `data:` objects of an event stream; `[DONE]` stays a text. */
export function toEvents(text: string): any[] {
  return text
    .split(/\r\n|\r|\n/)
    .filter((line) => line.startsWith('data: '))
    .map((line) => line.slice('data: '.length))
    .map((data) => (data === '[DONE]' ? data : JSON.parse(data)));
}
