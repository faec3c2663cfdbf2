import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream';

export interface Seen {
  method: string;
  /** With the query. */
  path: string;
}

/** What happens to one request beside being passed on. */
export interface Fate {
  /** Waited for before the gateway hears of it. */
  before?: Promise<unknown> | undefined;
  /** The connection breaks: before the gateway hears of the request, or instead of its answer. */
  cut?: 'before' | 'after' | undefined;
  /** Told when the gateway has answered, or when the connection was cut before. */
  done?: (() => void) | undefined;
}

export interface CountingProxy {
  readonly url: string;
  /** Every request so far, in order. */
  readonly seen: Seen[];
  /** Those that may change something: the comparison of secrets does not. */
  readonly writes: () => Seen[];
  /** Decides on each request by its number, from 0. Default: all pass. */
  fate: (request: Seen, index: number) => Fate | undefined;
  close(): Promise<void>;
}

/** Stands between a client and a gateway, and counts. */
export async function startCountingProxy(target: string): Promise<CountingProxy> {
  const { hostname, port } = new URL(target);
  const seen: Seen[] = [];
  const pass = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const { method = '', url: path = '', headers } = incoming;
    const { before, cut, done } =
      proxy.fate({ method, path }, seen.push({ method, path }) - 1) ?? {};
    await before;
    if (cut === 'before') {
      outgoing.destroy();
      return done?.();
    }
    const onward = request({ hostname, port, method, path, headers }, (answer) => {
      if (cut === 'after') {
        answer.resume().on('end', () => {
          outgoing.destroy();
          done?.();
        });
        return;
      }
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      pipeline(answer, outgoing, () => done?.());
    });
    onward.on('error', () => outgoing.destroy());
    pipeline(incoming, onward, () => undefined);
  };
  const server = createServer((incoming, outgoing) => void pass(incoming, outgoing));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const proxy: CountingProxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    writes: () =>
      seen.filter(
        ({ method, path }) => method !== 'GET' && !path.endsWith('/configuration/secrets'),
      ),
    fate: () => undefined,
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
  return proxy;
}
