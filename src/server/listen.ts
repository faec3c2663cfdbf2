import { STATUS_CODES } from 'node:http';
import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { serve } from 'h3';
import type { H3 } from 'h3';
import type { ServerConfig } from '../config/server-config.ts';
import { GatewayError } from '../core/errors.ts';
import type { ErrorCode } from '../core/errors.ts';
import type { IdSource } from '../core/ids.ts';
import { errorBody } from '../surfaces/envelopes.ts';

/** An address that is being served. */
export interface Listener {
  /** `http://127.0.0.1:8787`. */
  readonly url: string;
  /** Takes no new connection; resolves when every response is complete. */
  drain(): Promise<void>;
  /** Cuts what is still open. */
  cut(): void;
}

export interface ListenOptions {
  host: string;
  port: number;
  limits: ServerConfig['limits'];
  /** Names answers to what is no request. */
  ids: IdSource;
}

/** A request head must arrive faster than a body may. */
const HEADERS_TIMEOUT_MS = 15_000;
const KEEP_ALIVE_MS = 65_000;

/**
 * Serves the application. srvx neither logs nor handles signals nor drains: that is ours to decide.
 *
 * @throws Error with a sentence that says what to do when the address cannot be had
 */
export async function listen(app: H3, options: ListenOptions): Promise<Listener> {
  const { host, port, limits, ids } = options;
  const served = serve(app, {
    hostname: host,
    port,
    silent: true,
    manual: true,
    gracefulShutdown: false,
    node: {
      // Workers share the first process's socket. Sharing the port (reusePort, Node.js 22) would hide
      // a port in use and give every worker another free one.
      exclusive: false,
      maxHeaderSize: limits.headerBytes,
      headersTimeout: Math.min(HEADERS_TIMEOUT_MS, limits.requestTimeoutMs),
      requestTimeout: limits.requestTimeoutMs,
      connectionsCheckingInterval: Math.min(5_000, limits.requestTimeoutMs),
      keepAliveTimeout: KEEP_ALIVE_MS,
    },
  });
  const server = served.node?.server as Server;
  server.maxConnections = limits.maxConnections;
  server.on('clientError', (error, socket) => refuse(error, socket as Socket, ids.next('req')));
  server.on('request', (_request, response) => giveUpStalled(response, limits.requestTimeoutMs));
  const unused = trackUnused(server);
  try {
    await served.serve();
  } catch (error) {
    throw new Error(explain(error as NodeJS.ErrnoException, { host, port }), { cause: error });
  }
  return {
    url: addressOf(server, host),
    drain: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        // A connection that is busy now would stay open after its answer: close does not touch it.
        server.keepAliveTimeout = 1;
        server.closeIdleConnections();
        for (const socket of unused) socket.destroy();
      }),
    cut: () => server.closeAllConnections(),
  };
}

/** What cannot be read as a request is answered here: no handler ever sees it. */
function refuse(
  { code = '' }: NodeJS.ErrnoException,
  socket: Socket & { _httpMessage?: ServerResponse },
  id: string,
): void {
  // As Node.js itself does it: never into the middle of an answer.
  if (!socket.writable || socket._httpMessage?.headersSent) return void socket.destroy();
  const error = new GatewayError(REFUSALS[code] ?? 'malformed_request');
  const body = JSON.stringify(errorBody(error, 'flat', id));
  const head = [
    `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}`,
    `x-request-id: ${id}`,
    `request-id: ${id}`,
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
}

const REFUSALS: Readonly<Record<string, ErrorCode>> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
};

/** A client that takes nothing of a finished answer for that long loses its connection. */
function giveUpStalled(response: ServerResponse, ms: number): void {
  response.once('prefinish', () => {
    // The keep-alive timeout takes over once everything is written.
    const { socket } = response;
    if (socket?.writableNeedDrain) socket.setTimeout(ms);
  });
}

/** Connections that have not sent a request yet. Node does not count them as idle: browsers open such. */
function trackUnused(server: Server): ReadonlySet<Socket> {
  const unused = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    unused.add(socket);
    socket.once('close', () => unused.delete(socket));
  });
  server.on('request', ({ socket }) => unused.delete(socket));
  return unused;
}

function addressOf(server: Server, host: string): string {
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  const name = host.includes(':') ? `[${host}]` : host;
  return `http://${name === '0.0.0.0' || name === '[::]' ? 'localhost' : name}:${port}`;
}

function explain(
  error: NodeJS.ErrnoException,
  { host, port }: { host: string; port: number },
): string {
  const { code = 'unknown' } = error;
  switch (code) {
    case 'EADDRINUSE':
      return `port ${port} of ${host} is in use; stop what uses it, or choose another with --port (0 takes a free one)`;
    case 'EACCES':
      return `port ${port} needs more rights than this user has; choose one from 1024 with --port`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return `${host} is not an address of this machine; choose another with --host`;
    default:
      return `cannot listen on ${host}:${port}: ${error.message}`;
  }
}
