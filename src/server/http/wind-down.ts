import type { Server, ServerResponse } from 'node:http';
import { Server as NetServer } from 'node:net';
import type { Socket } from 'node:net';

/** Takes the connections of a server back without losing a request that is on its way. */
export interface WindDown {
  /** Every answer from now on says that it closes its connection. Idempotent. */
  retire(): void;
  /** Takes no new connection; resolves when the last one is closed. */
  drain(): Promise<void>;
}

/** Where new connections never cease, a drain still ends. */
const MAX_TICKS = 200;

/** Socket as Node.js keeps it, with the answer that a connection waits for. */
type HttpSocket = Socket & { readonly _httpMessage?: ServerResponse | null };

/**
 * Connections that are kept stay open until none was used for `idleMs`: a request on one is still
 * answered, with `Connection: close` (RFC 9112, 9.6). Sockets live in real time, as the
 * keep-alive timer of Node.js does.
 */
export function createWindDown(server: Server, idleMs: number): WindDown {
  const connections = new Set<HttpSocket>();
  let isRetired = false;
  let wasUsed = false;
  let accepted = 0;
  server.on('connection', () => (accepted += 1));
  const keep = (socket: HttpSocket): void => {
    connections.add(socket);
    socket.once('close', () => connections.delete(socket));
  };
  server.on('connection', keep);
  // The answer hangs on what carries HTTP, which is another socket than that of TCP.
  server.on('secureConnection', keep);

  const retire = (): void => {
    if (isRetired) return;
    isRetired = true;
    // Prepended, so that it comes before the handler answers.
    server.prependListener('request', (_request, response) => {
      response.shouldKeepAlive = false;
      wasUsed = true;
    });
    for (const { _httpMessage: response } of connections)
      if (response && !response.headersSent) response.shouldKeepAlive = false;
    // A stream that has begun could not say so; its connection gets the same time when it ends.
    server.keepAliveTimeout = Math.max(1, idleMs);
  };

  const closeUnused = (): void => {
    // Node.js takes an answer for sent when it is only written.
    if ([...connections].some(isBeingSent)) return closeOnceQuiet();
    server.closeIdleConnections();
    // Node.js does not count those as idle that never sent anything: browsers open such.
    for (const socket of connections) if (socket.bytesRead === 0) socket.destroy();
  };

  const closeOnceQuiet = (): void => {
    if (connections.size === 0) return;
    wasUsed = false;
    // Waits for the next look at the sockets: bytes that have arrived are a request by then.
    setTimeout(() => setImmediate(wasUsed ? closeOnceQuiet : closeUnused), idleMs);
  };

  return {
    retire,
    drain: () =>
      new Promise((resolve) => {
        const close = (): void => {
          retire();
          // The server's own method would cut idle connections at once.
          NetServer.prototype.close.call(server, () => {
            server.close(() => undefined);
            resolve();
          });
          closeOnceQuiet();
        };
        // Connections that wait to be accepted would be reset, so they are accepted first: one in each tick.
        // Kept ones are retired after that, since their clients connect again.
        const closeOnceEmpty = (ticks: number): void => {
          const before = accepted;
          setImmediate(() =>
            accepted === before || ticks === 0 ? close() : closeOnceEmpty(ticks - 1),
          );
        };
        // The current tick may be past its accept.
        setImmediate(() => closeOnceEmpty(MAX_TICKS));
      }),
  };
}

function isBeingSent({ _httpMessage: response }: HttpSocket): boolean {
  return response?.writableEnded === true && !response.writableFinished;
}
