import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { createKeptPool } from './kept-pool.ts';

const LOOK_MS = 50;

/** Passes requests on to whichever gateway says that it is ready, over kept connections. */
export async function startBalancer(
  urls: readonly string[],
): Promise<{ url: string; readonly failures: string[]; close(): Promise<void> }> {
  const pool = createKeptPool(urls);
  const failures: string[] = [];
  const stop = new AbortController();
  const isReady = async (url: string): Promise<boolean> =>
    fetch(`${url}/readyz`).then(
      async (answer) => (await answer.text(), answer.ok),
      () => false,
    );
  const look = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      const ready = await Promise.all(urls.map(isReady));
      pool.prefer(urls.filter((_, at) => ready[at]));
      await pause(LOOK_MS);
    }
  };
  const looking = look();

  const pass = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const { method = '', url: path = '', headers } = incoming;
    const pieces: Buffer[] = [];
    for await (const piece of incoming) pieces.push(piece as Buffer);
    const { connection: _own, ...passed } = headers;
    const answer = await pool.open({ method, path, headers: passed, body: Buffer.concat(pieces) });
    const { connection: _hop, 'keep-alive': _time, ...told } = answer.headers;
    outgoing.writeHead(answer.statusCode ?? 502, told);
    outgoing.on('close', () => answer.destroy());
    pipeline(answer, outgoing, () => undefined);
  };
  const server = createServer((incoming, outgoing) => {
    pass(incoming, outgoing).catch((error: unknown) => {
      failures.push(`${incoming.method} ${incoming.url}: ${String(error)}`);
      outgoing.destroy();
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    failures,
    async close() {
      stop.abort();
      const ended = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await Promise.all([ended, looking]);
      pool.close();
    },
  };
}
