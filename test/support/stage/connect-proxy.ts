import { Buffer } from 'node:buffer';
import { createServer } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { connect } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Issued } from '../certificates.ts';

export interface ConnectProxyOptions {
  /** `user:password`; default: none is asked for. */
  readonly credentials?: string;
  /** Status for targets that it does not connect to. */
  readonly refuse?: (target: string) => number | undefined;
  /** Other address of a target; default: the target itself. */
  readonly resolve?: (target: string) => string;
  /** TLS to the proxy itself. */
  readonly issued?: Issued;
}

export interface ConnectProxy {
  /** Without credentials. */
  readonly url: string;
  /** With them. */
  readonly authorizedUrl: string;
  /** Targets of all tunnels, in order, refused ones included. */
  readonly asked: string[];
  /** Requests that were no CONNECT. */
  readonly others: string[];
  close(): Promise<void>;
}

/** A proxy for CONNECT alone, on a free port, that counts. */
export async function startConnectProxy(options: ConnectProxyOptions = {}): Promise<ConnectProxy> {
  const { credentials, refuse, resolve = (target: string) => target, issued } = options;
  const asked: string[] = [];
  const others: string[] = [];
  const sockets = new Set<Duplex>();
  const keep = (socket: Duplex): void => {
    sockets.add(socket.on('error', () => undefined));
    socket.once('close', () => sockets.delete(socket));
  };
  const server = issued ? createTlsServer(issued) : createServer();
  server.on('connection', keep);
  server.on('request', (request: IncomingMessage, response) => {
    others.push(`${request.method} ${request.url}`);
    response.writeHead(405).end();
  });
  server.on('connect', (request: IncomingMessage, client: Duplex) => {
    keep(client);
    const target = request.url ?? '';
    asked.push(target);
    const given = request.headers['proxy-authorization'];
    const expected = credentials && `Basic ${Buffer.from(credentials).toString('base64')}`;
    const status = expected && given !== expected ? 407 : refuse?.(target);
    if (status !== undefined) {
      client.end(`HTTP/1.1 ${status} Refused\r\n\r\n`);
      return;
    }
    const [, host = '', port] = /^\[?(.*?)\]?:(\d+)$/.exec(resolve(target)) ?? [];
    const upstream = connect({ host, port: Number(port) });
    keep(upstream);
    upstream.once('connect', () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      upstream.pipe(client).pipe(upstream);
    });
    upstream.once('close', () => client.destroy());
    client.once('close', () => upstream.destroy());
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const address = server.address();
  if (!address || typeof address === 'string') throw new Error('not listening');
  const scheme = issued ? 'https' : 'http';
  const at = `127.0.0.1:${address.port}`;
  return {
    url: `${scheme}://${at}`,
    authorizedUrl: `${scheme}://${credentials === undefined ? '' : `${credentials}@`}${at}`,
    asked,
    others,
    close: () =>
      new Promise((done) => {
        server.close(() => done());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
