import type { IncomingMessage, RequestOptions } from 'node:http';
import { Readable } from 'node:stream';
import type { Reply, Sending } from './transport.ts';

/** Silence on an open connection after which it counts as lost, as `fetch` has it. */
const MAX_SILENCE_MS = 300_000;

/**
 * Sends one call with the HTTP client of Node.js, which loads in a fraction of the time of `fetch`.
 * Writes no form, and follows no redirect.
 */
export async function sendWithNode(url: string, sending: Sending): Promise<Reply> {
  const { protocol } = new URL(url);
  const { request } = await (protocol === 'https:' ? import('node:https') : import('node:http'));
  const { method, headers, body, signal } = sending;
  const options: RequestOptions = { method, headers, signal, timeout: MAX_SILENCE_MS };
  return new Promise((resolve, reject) => {
    const outgoing = request(url, options, (incoming) => resolve(new NodeReply(incoming)));
    outgoing.once('error', reject);
    outgoing.once('timeout', () => outgoing.destroy(new Error('the connection fell silent')));
    outgoing.end(body);
  });
}

class NodeReply implements Reply {
  readonly status: number;
  readonly headers: Reply['headers'];
  readonly #incoming: IncomingMessage;

  constructor(incoming: IncomingMessage) {
    this.#incoming = incoming;
    this.status = incoming.statusCode ?? 0;
    this.headers = {
      get: (name) => incoming.headersDistinct[name.toLowerCase()]?.join(', ') ?? null,
    };
  }

  get body(): ReadableStream<Uint8Array> {
    return Readable.toWeb(this.#incoming) as ReadableStream<Uint8Array>;
  }

  async text(): Promise<string> {
    const chunks: Buffer[] = [];
    for await (const chunk of this.#incoming) chunks.push(chunk);
    return new TextDecoder().decode(Buffer.concat(chunks));
  }
}
