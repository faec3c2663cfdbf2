import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One request as a provider received it. */
export interface SeenRequest {
  method: string;
  url: string;
  headers: IncomingMessage['headers'];
  body: Buffer;
  /** True once the caller closed the connection before the answer was complete. */
  aborted: boolean;
  /** Instant of that, of `performance.now()`. */
  abortedAt: number | undefined;
}

export interface Upstream {
  /** Without a trailing slash; the base URL of a provider is `${url}/v1`. */
  readonly url: string;
  readonly seen: SeenRequest[];
  close(): Promise<void>;
}

type Play = (response: ServerResponse, request: SeenRequest) => void | Promise<void>;

/** A provider whose every byte is the test's own. */
export async function startUpstream(play: Play): Promise<Upstream> {
  const seen: SeenRequest[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const one: SeenRequest = {
        method: request.method ?? '',
        url: request.url ?? '',
        headers: request.headers,
        body: Buffer.concat(chunks),
        aborted: false,
        abortedAt: undefined,
      };
      seen.push(one);
      response.on('error', () => undefined);
      response.on('close', () => {
        if (response.writableFinished) return;
        one.aborted = true;
        one.abortedAt = performance.now();
      });
      void play(response, one);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    seen,
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/** The head of an event stream, at once. */
export function beginEvents(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.flushHeaders();
}

export function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(typeof body === 'string' ? body : JSON.stringify(body));
}
