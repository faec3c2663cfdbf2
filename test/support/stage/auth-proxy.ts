import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream';

export interface AuthProxy {
  readonly url: string;
  close(): Promise<void>;
}

/** Puts a key before every request, for clients that bring none; the rest passes as it came. */
export async function startAuthProxy(target: string, key: string): Promise<AuthProxy> {
  const { hostname, port } = new URL(target);
  const authorization = `Bearer ${key}`;
  const server = createServer((incoming, outgoing) => {
    const { method, url: path, headers } = incoming;
    const onward = request(
      { hostname, port, method, path, headers: { ...headers, authorization } },
      (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        pipeline(answer, outgoing, () => undefined);
      },
    );
    pipeline(incoming, onward, () => undefined);
    onward.on('error', () => outgoing.destroy());
    outgoing.on('close', () => onward.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
