import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { gzipSync } from 'node:zlib';

/** How a server over HTTP treats a call of its one tool. */
export type HttpFault =
  | 'large json'
  | 'large events'
  | 'huge json'
  | 'huge events'
  | 'huge packed'
  | 'cut events'
  | 'ended events'
  | 'postponed events'
  | 'forgotten events'
  | 'cut json'
  | 'other answer'
  | 'silence'
  | 'forgets 404'
  | 'forgets 400'
  | 'moved'
  | 'probe error'
  | 'probe page'
  | 'probe silence'
  | 'page'
  | 'error 500';

export interface FaultyHttp {
  readonly url: string;
  readonly port: number;
  /** Bytes of its answers to calls that were asked for. */
  readonly sent: { bytes: number };
  /** Methods of the protocol and of HTTP, in their order. */
  readonly heard: string[];
  close(): Promise<void>;
}

interface Heard {
  readonly id?: number;
  readonly method: string;
  readonly params: { readonly protocolVersion?: string };
}

const MB = 1024 * 1024;
const HEAD = '{"jsonrpc":"2.0","id":';
const done = (id: number): string =>
  `${HEAD}${id},"result":{"content":[{"type":"text","text":"done"}]}}`;

/** Speaks MCP by hand, so that it can break its rules. */
export async function startFaultyHttp(fault: HttpFault): Promise<FaultyHttp> {
  const sent = { bytes: 0 };
  const heard: string[] = [];
  /** Id of the call that is answered to those who come back. */
  let postponed = 0;
  const http = createServer((request, response) => {
    response.on('error', () => undefined);
    void serve(request, response);
  });

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method: verb = '' } = request;
    const body = await text(request);
    if (verb !== 'POST') {
      const { 'last-event-id': lastEventId } = request.headers;
      heard.push(lastEventId === undefined ? verb : `${verb} behind ${String(lastEventId)}`);
      if (lastEventId !== undefined && fault === 'postponed events')
        return goOn(response, String(lastEventId));
      response.writeHead(verb === 'DELETE' ? 204 : 405).end();
      return;
    }
    const { id, method, params } = JSON.parse(body) as Heard;
    heard.push(method);
    if (fault === 'moved') {
      // The same server by another name is another origin.
      const location = `http://localhost:${request.socket.localPort}/mcp`;
      return void response.writeHead(307, { location }).end();
    }
    if (id === undefined) return void response.writeHead(202).end();
    if (method === 'server/discover' && fault.startsWith('probe ')) return baffle(response);
    if (method === 'tools/call') return breakDown(response, id);
    const result =
      method === 'initialize'
        ? {
            protocolVersion: params.protocolVersion,
            capabilities: { tools: {} },
            serverInfo: { name: 'faulty', version: '1' },
          }
        : { tools: [{ name: 'good', inputSchema: { type: 'object' } }] };
    response.setHeader('mcp-session-id', String(heard.length));
    json(response).end(JSON.stringify({ jsonrpc: '2.0', id, result }));
  }

  async function breakDown(response: ServerResponse, id: number): Promise<void> {
    switch (fault) {
      case 'large json':
        return flood(json(response), `${HEAD}${id},"result":{"structuredContent":{"a":"`, 15);
      case 'large events':
        return flood(
          events(response),
          `data: ${HEAD}${id},"result":{"structuredContent":{"a":"`,
          15,
        );
      case 'huge json':
        return flood(json(response), `${HEAD}${id},"result":{"a":"`, 64);
      case 'huge events':
        return flood(events(response), `data: ${HEAD}${id},"result":{"a":"`, 64);
      case 'huge packed':
        return bomb(response, `${HEAD}${id},"result":{"a":"`);
      case 'cut events':
        events(response).write('data: {"jsonrpc":"2.0","method":"notifications/message",', () =>
          response.destroy(),
        );
        return;
      case 'ended events':
        return void events(response).end(': nothing\n\n');
      case 'postponed events':
      case 'forgotten events':
        postponed = id;
        return void events(response).end('id: one\nretry: 1\ndata: \n\n');
      case 'cut json':
        json(response).write(`${HEAD}${id},`, () => response.destroy());
        return;
      case 'other answer':
        return void json(response).end('{"jsonrpc":"2.0","id":"other","result":{}}');
      case 'silence':
        return events(response).flushHeaders();
      case 'forgets 404':
      case 'forgets 400':
        if (heard.filter((verb) => verb === 'initialize').length === 1) {
          response.writeHead(fault === 'forgets 404' ? 404 : 400);
          return void response.end('{"error":{"message":"No valid session ID provided"}}');
        }
        return void json(response).end(done(id));
      case 'moved':
      case 'probe error':
      case 'probe page':
      case 'probe silence':
        return void json(response).end(done(id));
      case 'page':
        response.writeHead(200, { 'content-type': 'text/html' });
        return void response.end('<h1>Welcome!</h1>');
      case 'error 500':
        return void response.writeHead(500).end('the secret of the server');
    }
  }

  /** Answers a request that it does not know. */
  function baffle(response: ServerResponse): void {
    if (fault === 'probe silence') return events(response).flushHeaders();
    response.writeHead(fault === 'probe error' ? 500 : 200).end('<h1>Oops</h1>');
  }

  /** Has them come back twice. */
  function goOn(response: ServerResponse, lastEventId: string): void {
    events(response).end(
      lastEventId === 'one' ? 'id: two\ndata: \n\n' : `data: ${done(postponed)}\n\n`,
    );
  }

  async function flood(response: ServerResponse, head: string, megabytes: number): Promise<void> {
    const part = 'x'.repeat(MB);
    function* parts() {
      yield head;
      for (let count = 0; count < megabytes; count++) {
        sent.bytes += part.length;
        yield part;
      }
      yield head.includes('structured') ? '"}}}\n\n' : '"}}\n\n';
    }
    await pipeline(Readable.from(parts(), { highWaterMark: 1 }), response).catch(() => undefined);
  }

  /** 32 MB that are small on their way. */
  function bomb(response: ServerResponse, head: string): void {
    const packed = gzipSync(`${head}${'x'.repeat(32 * MB)}"}}`);
    response.setHeader('content-encoding', 'gzip');
    json(response).end(packed);
  }

  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  const { port } = http.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    port,
    sent,
    heard,
    async close() {
      const closed = once(http, 'close');
      http.close();
      http.closeAllConnections();
      await closed;
    },
  };
}

function json(response: ServerResponse): ServerResponse {
  return response.setHeader('content-type', 'application/json');
}

function events(response: ServerResponse): ServerResponse {
  return response.setHeader('content-type', 'text/event-stream');
}
