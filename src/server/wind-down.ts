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

/**
 * Kept connections stay open until none was used for so long: who is about to use one is still
 * answered, and told not to come back on it (RFC 9112, 9.6). Bounded, for clients that never stop.
 * Sockets live in real time, as the keep-alive timer of Node.js does.
 */
const QUIET_MS = 100;
const MAX_ROUNDS = 20;

/** As Node.js keeps it: the answer that a connection waits for. */
type HttpSocket = Socket & { readonly _httpMessage?: ServerResponse | null };

export function createWindDown(server: Server): WindDown {
  const connections = new Set<HttpSocket>();
  let isRetired = false;
  let wasUsed = false;
  server.on('connection', (socket: HttpSocket) => {
    connections.add(socket);
    socket.once('close', () => connections.delete(socket));
  });

  const retire = (): void => {
    if (isRetired) return;
    isRetired = true;
    // In front of whoever answers.
    server.prependListener('request', (_request, response) => {
      response.shouldKeepAlive = false;
      wasUsed = true;
    });
    for (const { _httpMessage: response } of connections)
      if (response && !response.headersSent) response.shouldKeepAlive = false;
    // A stream that has begun could not say so; its connection gets the same time when it ends.
    server.keepAliveTimeout = QUIET_MS;
  };

  const closeUnused = (): void => {
    server.closeIdleConnections();
    // Node.js does not count those as idle that never sent anything: browsers open such.
    for (const socket of connections) if (socket.bytesRead === 0) socket.destroy();
  };

  const closeOnceQuiet = (rounds: number): void => {
    if (connections.size === 0) return;
    setTimeout(() => {
      if (wasUsed && rounds > 1) {
        wasUsed = false;
        return closeOnceQuiet(rounds - 1);
      }
      // Behind the next look at the sockets: what has arrived is a request by then.
      setImmediate(closeUnused);
    }, QUIET_MS);
  };

  return {
    retire,
    drain: () =>
      new Promise((resolve) => {
        retire();
        const close = (): void => {
          // The server's own method would cut idle connections at once.
          NetServer.prototype.close.call(server, () => {
            server.close(() => undefined);
            resolve();
          });
          closeOnceQuiet(MAX_ROUNDS);
        };
        // Connections that wait to be accepted would be reset, so they are accepted first.
        setImmediate(close);
      }),
  };
}
