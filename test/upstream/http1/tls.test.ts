import { readFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { createServer } from 'node:https';
import type { Server } from 'node:https';
import { createServer as createTlsServer } from 'node:tls';
import type { Server as TlsServer, TLSSocket } from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import { createHttp1Transport } from '../../../src/upstream/http1/http1-transport.ts';
import type { Transport } from '../../../src/upstream/transport.ts';
import { exchange } from '../exchange-log.ts';

const fixture = (name: string): string =>
  readFileSync(new URL(`../../fixtures/tls/${name}`, import.meta.url), 'utf8');
const cert = fixture('localhost.crt');
const key = fixture('localhost.key');

const closers: Array<() => unknown> = [];

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function listen(server: Server | TlsServer): Promise<number> {
  const sockets: TLSSocket[] = [];
  server.on('secureConnection', (socket: TLSSocket) => sockets.push(socket));
  server.on('tlsClientError', () => undefined);
  closers.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (!address || typeof address === 'string') throw new Error('not listening');
  return address.port;
}

async function serve(listener: RequestListener): Promise<number> {
  return listen(createServer({ cert, key, ALPNProtocols: ['h2', 'http/1.1'] }, listener));
}

function create(options: { ca?: string } = { ca: cert }): Transport {
  const transport = createHttp1Transport(options);
  closers.push(() => transport.close());
  return transport;
}

describe('over TLS', () => {
  it('an exchange names the server and speaks HTTP/1.1, again and again on one connection', async () => {
    const seen: unknown[] = [];
    const port = await serve((request, response) => {
      const socket = request.socket as TLSSocket & { servername?: string };
      seen.push([socket.servername, socket.alpnProtocol, socket.remotePort]);
      request.pipe(response);
    });
    const transport = create();
    const body = Buffer.alloc(3 * 1024 * 1024, 'tls');
    for (let turn = 0; turn < 3; turn++) {
      const log = exchange(transport, `https://localhost:${port}/`, { body });
      await log.finished;
      expect(log.error).toBeUndefined();
      expect(Buffer.concat(log.chunks).equals(body)).toBe(true);
    }
    expect(seen[0]).toEqual(['localhost', 'http/1.1', expect.any(Number)]);
    expect(seen[2]).toEqual(seen[0]);
  });

  it('an address is checked against the certificate without being sent as a name', async () => {
    const names: unknown[] = [];
    const port = await serve((request, response) => {
      names.push((request.socket as TLSSocket & { servername?: string }).servername);
      response.end('ok');
    });
    const log = exchange(create(), `https://127.0.0.1:${port}/`);
    await log.finished;
    expect(log.text()).toBe('ok');
    expect(names).toEqual([false]);
  });

  it('many exchanges at once keep their bytes apart', async () => {
    const port = await serve((request, response) => {
      response.write((request.url ?? '').slice(1).repeat(30_000));
      setImmediate(() => response.end((request.url ?? '').slice(1).repeat(30_000)));
    });
    const transport = create();
    const letters = 'abcdefgh'.split('');
    const logs = letters.map((letter) =>
      exchange(transport, `https://localhost:${port}/${letter}`),
    );
    await Promise.all(logs.map((log) => log.finished));
    logs.forEach((log, index) => expect(log.text()).toBe(letters[index]?.repeat(60_000)));
  });

  it('an answer that ends while it is paused leaves a connection that can be used', async () => {
    let connections = 0;
    const server = createServer({ cert, key }, (_request, response) => {
      // Two records in one piece: a decrypted record comes after the one at which was paused.
      response.setHeader('content-length', 20_000);
      response.end(Buffer.alloc(20_000, 'x'));
    });
    server.on('secureConnection', () => (connections += 1));
    const port = await listen(server);
    const transport = create();
    for (let turn = 0; turn < 3; turn++) {
      const log = exchange(transport, `https://localhost:${port}/`);
      log.onChunk = () => log.call.pause();
      await log.finished;
      expect(log.text()).toHaveLength(20_000);
    }
    expect(connections).toBe(1);
  });

  it('a certificate of an unknown authority is refused before anything is sent', async () => {
    let requests = 0;
    const port = await serve((_request, response) => {
      requests += 1;
      response.end();
    });
    const log = exchange(create({}), `https://localhost:${port}/`);
    await log.finished;
    expect(log.error?.kind).toBe('connect');
    expect(log.error?.message).toContain('DEPTH_ZERO_SELF_SIGNED_CERT');
    expect(requests).toBe(0);
  });

  it('a certificate of another name is refused before anything is sent', async () => {
    let requests = 0;
    const port = await serve((_request, response) => {
      requests += 1;
      response.end();
    });
    const log = exchange(create(), `https://127.0.0.2:${port}/`);
    await log.finished;
    expect(log.error?.kind).toBe('connect');
    expect(requests).toBe(0);
  });

  it('a server that does not speak HTTP/1.1 is refused', async () => {
    const port = await listen(createTlsServer({ cert, key, ALPNProtocols: ['h2'] }));
    const log = exchange(create(), `https://localhost:${port}/`);
    await log.finished;
    expect(log.error?.kind).toBe('connect');
  });

  it('a server that ends the handshake without a word fails as connect', async () => {
    const port = await listen(createTlsServer({}));
    const log = exchange(create(), `https://localhost:${port}/`);
    await log.finished;
    expect(log.error?.kind).toBe('connect');
  });
});
