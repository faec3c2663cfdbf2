import { createServer } from 'node:http';
import type { RequestListener, Server } from 'node:http';
import { createServer as createNetServer } from 'node:net';
import type { Server as NetServer, Socket } from 'node:net';
import type {
  Transport,
  UpstreamCall,
  UpstreamError,
  UpstreamHeaders,
  UpstreamRequest,
} from '../../src/upstream/transport.ts';

/** Everything that a sink was told. */
export interface ExchangeLog {
  call: UpstreamCall;
  status: number | undefined;
  headers: UpstreamHeaders;
  chunks: Buffer[];
  /** Names of the sink's calls, in order. */
  events: string[];
  error: UpstreamError | undefined;
  ended: boolean;
  text(): string;
  /** Resolves at `onEnd` or `onError`. */
  finished: Promise<void>;
  /** Resolves at `onHead`. */
  head: Promise<void>;
  onChunk: ((chunk: Buffer) => void) | undefined;
}

export function exchange(
  transport: Transport,
  url: string,
  options: Partial<Omit<UpstreamRequest, 'url'>> = {},
): ExchangeLog {
  const finished = defer();
  const head = defer();
  const log: ExchangeLog = {
    call: { abort: () => undefined, pause: () => undefined, resume: () => undefined },
    status: undefined,
    headers: {},
    chunks: [],
    events: [],
    error: undefined,
    ended: false,
    text: () => Buffer.concat(log.chunks).toString('utf8'),
    finished: finished.promise,
    head: head.promise,
    onChunk: undefined,
  };
  log.call = transport.send(
    { url: new URL(url), method: 'POST', headers: [], body: Buffer.from('{}'), ...options },
    {
      onHead(status, headers) {
        log.events.push('head');
        log.status = status;
        log.headers = headers;
        head.resolve();
      },
      onData(chunk) {
        if (log.events.at(-1) !== 'data') log.events.push('data');
        log.chunks.push(chunk);
        log.onChunk?.(chunk);
      },
      onEnd() {
        log.events.push('end');
        log.ended = true;
        finished.resolve();
      },
      onError(error) {
        log.events.push('error');
        log.error = error;
        finished.resolve();
      },
    },
  );
  return log;
}

function defer(): { promise: Promise<void>; resolve: () => void } {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((settle) => (resolve = settle));
  return { promise, resolve };
}

export interface Upstream {
  url: string;
  server: Server;
  /** Connections accepted so far, in order. */
  sockets: Socket[];
}

export interface Broken {
  url: string;
  server: NetServer;
  sockets: Socket[];
}

/** Servers that are closed, sockets included, by `closeAll`. */
export class Upstreams {
  readonly #servers: NetServer[] = [];
  readonly #sockets = new Set<Socket>();

  async http(listener: RequestListener): Promise<Upstream> {
    const server = createServer(listener);
    return { server, ...(await this.#listen(server)) };
  }

  /** A server that speaks bytes, for answers that `node:http` would not send. */
  async raw(onRequest: (socket: Socket, request: string) => void): Promise<Broken> {
    const server = createNetServer((socket) => {
      socket.on('error', () => undefined);
      socket.on('data', (data) => onRequest(socket, data.toString('latin1')));
    });
    return { server, ...(await this.#listen(server)) };
  }

  async #listen(server: NetServer): Promise<{ url: string; sockets: Socket[] }> {
    const sockets: Socket[] = [];
    server.on('connection', (socket: Socket) => {
      sockets.push(socket);
      this.#sockets.add(socket);
    });
    this.#servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    if (!address || typeof address === 'string') throw new Error('not listening');
    return { url: `http://127.0.0.1:${address.port}`, sockets };
  }

  async closeAll(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await Promise.all(
      this.#servers.map((server) => new Promise((resolve) => server.close(resolve))),
    );
  }
}

/** Resolves when the event came; also when it came before. */
export async function closed(socket: Socket | undefined): Promise<void> {
  if (!socket) throw new Error('no such connection');
  if (socket.closed) return;
  await new Promise<void>((resolve) => socket.once('close', () => resolve()));
}
