import type { Buffer } from 'node:buffer';
import { connect, isIP } from 'node:net';
import type { OnReadOpts, Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { ConnectionOptions } from 'node:tls';
import type { Reach } from './reach.ts';
import { keepCertificate } from './refused-certificate.ts';

/** TCP keep-alive: notices a peer that is gone while a slow answer is awaited. */
const TCP_KEEP_ALIVE_MS = 60_000;

/** Target of requests, as a URL names it. */
export interface Origin {
  /** Name, with the port unless it is the default: the `host` header. */
  host: string;
  /** A name or an IP address without brackets. */
  hostname: string;
  port: number;
  secure: boolean;
}

/** Throws `TypeError` when the scheme is neither http nor https. */
export function toOrigin(url: URL): Origin {
  const secure = url.protocol === 'https:';
  if (!secure && url.protocol !== 'http:') throw new TypeError('neither http nor https');
  return {
    host: url.host,
    hostname: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? (secure ? 443 : 80) : Number(url.port),
    secure,
  };
}

export interface ConnectSocketOptions {
  /** Every read overwrites it, so it can serve any number of sockets. */
  readBuffer: Buffer;
  onRead(bytes: Buffer, length: number): void;
  reach: Reach;
}

/**
 * A socket that is connecting. TLS with the name checked against the certificate and sent as SNI,
 * and HTTP/1.1 as the one protocol offered. Reads go to `onRead` without passing a stream.
 */
export function connectSocket(origin: Origin, options: ConnectSocketOptions): Socket {
  const { hostname: host, port, secure } = origin;
  const onread: OnReadOpts = {
    buffer: options.readBuffer,
    callback: (length, bytes) => {
      options.onRead(bytes as Buffer, length);
      return true;
    },
  };
  const target = { host, port, onread };
  const socket = secure
    ? connectTls({ ...target, ...tlsTo(origin, options.reach) })
    : connect(target);
  keepCertificate(socket);
  setUp(socket);
  return socket;
}

/** The same over a tunnel: TLS that is connecting, or the tunnel itself. */
export function connectOver(tunnel: Socket, origin: Origin, options: ConnectSocketOptions): Socket {
  setUp(tunnel);
  // The socket on the tunnel reports its end.
  tunnel.on('error', () => undefined);
  const socket = origin.secure
    ? connectTls({ socket: tunnel, ...tlsTo(origin, options.reach) })
    : tunnel;
  keepCertificate(socket);
  socket.on('data', (bytes: Buffer) => options.onRead(bytes, bytes.length));
  return socket;
}

function tlsTo({ hostname }: Origin, reach: Reach): ConnectionOptions {
  const { serverName = isIP(hostname) === 0 ? hostname : undefined } = reach;
  return {
    host: hostname,
    ...(serverName !== undefined && { servername: serverName }),
    ALPNProtocols: ['http/1.1'],
    secureContext: reach.secureContext(),
  };
}

function setUp(socket: Socket): void {
  socket.setNoDelay(true);
  socket.setKeepAlive(true, TCP_KEEP_ALIVE_MS);
}
