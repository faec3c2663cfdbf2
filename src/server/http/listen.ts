import { STATUS_CODES } from 'node:http';
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Server as TlsServer } from 'node:https';
import { createServer } from 'node:net';
import type { Socket } from 'node:net';
import { serve } from 'h3';
import type { H3 } from 'h3';
import type { ServerConfig } from '../../config/schema/server-config.ts';
import { systemClock } from '../../core/time/clock.ts';
import type { Clock } from '../../core/time/clock.ts';
import { GatewayError } from '../../core/errors.ts';
import type { ErrorCode } from '../../core/errors.ts';
import type { IdSource } from '../../core/ids.ts';
import { errorBody } from '../../surfaces/envelopes.ts';
import { createPacedRequest } from '../bodies/paced-request.ts';
import type { Front } from '../console/console-front.ts';
import type { Entrance } from './entrance.ts';
import type { Certificate } from './certificate-files.ts';
import { createWindDown } from './wind-down.ts';
import type { WindDown } from './wind-down.ts';
import { isSoundRequest } from './is-sound-request.ts';

/** An address that is being served. */
export interface Listener extends WindDown {
  /** `http://127.0.0.1:8787`. */
  readonly url: string;
  /** Cuts connections that are still open. */
  cut(): void;
  /** Serves new connections with another certificate; those that are open keep theirs. */
  renew(certificate: Certificate): void;
}

export interface ListenOptions {
  host: string;
  port: number;
  /** Serves HTTPS. Default: HTTP. */
  certificate?: Certificate | undefined;
  limits: Pick<ServerConfig['limits'], 'headerBytes' | 'requestTimeoutMs' | 'maxConnections'>;
  /** Milliseconds for which a drain leaves idle connections open. */
  drainIdleMs: number;
  /** Ids for answers to malformed requests. */
  ids: IdSource;
  /** Takes requests before everything else. Default: none. */
  front?: Front | undefined;
  /** Answers the requests that it takes before the application. Default: nothing. */
  entrance?: Entrance;
  clock?: Clock;
}

/** A request head must arrive faster than a body may. */
const HEADERS_TIMEOUT_MS = 15_000;
const KEEP_ALIVE_MS = 65_000;
const HANDSHAKE_TIMEOUT_MS = 10_000;

/**
 * Serves the application. srvx neither logs nor handles signals nor drains: that is ours to decide.
 *
 * @throws Error with a sentence that says what to do when the address cannot be had
 */
export async function listen(app: H3, options: ListenOptions): Promise<Listener> {
  const { host, port, certificate, limits, clock = systemClock } = options;
  const served = serve(app, {
    hostname: host,
    port,
    silent: true,
    manual: true,
    gracefulShutdown: false,
    ...(certificate && { tls: { ...certificate } }),
    node: {
      ...(certificate && { http2: false, handshakeTimeout: HANDSHAKE_TIMEOUT_MS }),
      // Workers share the first process's socket. Sharing the port (reusePort, Node.js 22) would hide
      // a port in use and give every worker another free one.
      exclusive: false,
      maxHeaderSize: limits.headerBytes,
      headersTimeout: Math.min(HEADERS_TIMEOUT_MS, limits.requestTimeoutMs),
      requestTimeout: limits.requestTimeoutMs,
      connectionsCheckingInterval: Math.min(5_000, limits.requestTimeoutMs),
      keepAliveTimeout: KEEP_ALIVE_MS,
      // Node.js itself would answer without an id.
      requireHostHeader: false,
      IncomingMessage: createPacedRequest(clock),
    },
  });
  const server = served.node?.server as Server;
  server.maxConnections = limits.maxConnections;
  // Bounded by their bytes: headers beyond a maximal number would be ignored.
  server.maxHeadersCount = 0;
  refuseUnsound(server, options);
  // Prepended, because the handler may write an answer at once.
  server.prependListener('request', (_request, response) =>
    giveUpStalled(response, limits.requestTimeoutMs),
  );
  const windDown = createWindDown(server, options.drainIdleMs);
  try {
    await served.serve();
  } catch (error) {
    throw new Error(explain(error as NodeJS.ErrnoException, { host, port }), { cause: error });
  }
  return {
    url: addressOf(server, { host, secure: certificate !== undefined }),
    ...windDown,
    cut: () => server.closeAllConnections(),
    renew: (next) => (server as TlsServer).setSecureContext({ ...next }),
  };
}

/**
 * Takes an address and gives it back at once.
 *
 * @throws Error with a sentence that says what to do when the address cannot be had
 */
export async function assertCanListen(address: { host: string; port: number }): Promise<void> {
  const server = createServer();
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen({ ...address, exclusive: true }, resolve);
    });
  } catch (error) {
    throw new Error(explain(error as NodeJS.ErrnoException, address), { cause: error });
  }
  await new Promise((resolve) => server.close(resolve));
}

/**
 * Answers requests that no handler may see, in place of the one listener that there was at first.
 */
function refuseUnsound(server: Server, { ids, front, entrance }: ListenOptions): void {
  const [handle] = server.listeners('request') as RequestListener[];
  const serve: RequestListener = (request, response) => {
    if (!entrance?.(request, response)) handle?.(request, response);
  };
  const latest = new WeakMap<Socket, IncomingMessage>();
  server.removeAllListeners('request');
  server.on('request', (request, response) => {
    const { socket } = request;
    latest.set(socket, request);
    // Bytes that follow on a connection may be part of a request that was refused on it.
    if (socket.writableEnded) return;
    if (isSoundRequest(request)) {
      if (!front?.(request, response, serve)) serve(request, response);
    } else refuse(new GatewayError('malformed_request'), { socket, own: response, ids });
  });
  // Clients that speak no TLS, or trust another certificate, can read no answer.
  server.prependListener('tlsClientError', (_error: Error, socket: Socket) => socket.destroy());
  server.on('clientError', ({ code = '' }: NodeJS.ErrnoException, duplex) => {
    const socket = duplex as Refused['socket'];
    // An answer went out before all of the request was here: a second answer would be taken for the next one's.
    if (latest.get(socket)?.complete === false && !socket._httpMessage) socket.destroy();
    else refuse(new GatewayError(REFUSALS[code] ?? 'malformed_request'), { socket, ids });
  });
  // Anything but `100-continue` may be passed over (RFC 9110, 10.1.1). To that, Node.js would answer
  // before the key is looked at; who reads the body says so instead.
  for (const event of ['checkContinue', 'checkExpectation'])
    server.on(event, (request, response) => server.emit('request', request, response));
}

interface Refused {
  socket: Socket & { _httpMessage?: ServerResponse | null };
  /** Response to the request, when it could be read as one. */
  own?: ServerResponse;
  ids: IdSource;
}

/** Answers a malformed request, and closes the connection. */
function refuse(error: GatewayError, { socket, own, ids }: Refused): void {
  const answer = socket._httpMessage;
  // Answers as Node.js itself does: never into the middle of an answer. Nor before the answer to a
  // request
  // that was complete: the client would take the refusal for it.
  const isOutOfTurn = answer && answer !== own && (answer.headersSent || answer.req.complete);
  if (!socket.writable || isOutOfTurn) return void socket.destroy();
  const id = ids.next('req');
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

function addressOf(server: Server, { host, secure }: { host: string; secure: boolean }): string {
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  const name = host.includes(':') ? `[${host}]` : host;
  return `${secure ? 'https' : 'http'}://${name === '0.0.0.0' || name === '[::]' ? 'localhost' : name}:${port}`;
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
