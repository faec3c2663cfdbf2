import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';

export interface Call {
  method: string;
  url: string;
  path: string;
  query: URLSearchParams;
  headers: IncomingMessage['headers'];
  body: any;
  /** Body as it was sent. */
  text: string;
}

export interface FakeServer {
  url: string;
  calls: Call[];
  close(): Promise<void>;
}

/** What a handler may answer: a JSON body with a status, or nothing when it wrote to `res` itself. */
export type Handler = (
  call: Call,
  res: ServerResponse,
) => { status?: number; body?: unknown; headers?: Record<string, string> } | undefined;

/** A server on a free port that records every call; tests say what it answers. */
export async function startFakeServer(handler: Handler): Promise<FakeServer> {
  const calls: Call[] = [];
  const server = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      const url = new URL(req.url ?? '/', 'http://localhost');
      const text = Buffer.concat(chunks).toString();
      const call = {
        method: req.method ?? '',
        url: req.url ?? '',
        path: url.pathname,
        query: url.searchParams,
        headers: req.headers,
        body: text === '' ? undefined : JSON.parse(text),
        text,
      };
      calls.push(call);
      const answer = handler(call, res);
      if (answer === undefined) return;
      const body = answer.body === undefined ? '' : JSON.stringify(answer.body);
      res.writeHead(answer.status ?? 200, {
        'content-type': 'application/json',
        'x-request-id': `req_${calls.length}`,
        ...answer.headers,
      });
      res.end(body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('not listening on a port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    calls,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
