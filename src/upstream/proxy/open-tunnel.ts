import { Buffer } from 'node:buffer';
import { connect, isIP } from 'node:net';
import type { Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { ProxyError } from './proxy-error.ts';
import type { Proxy } from './proxy.ts';

/** Largest answer to CONNECT that is read. */
const MAX_HEAD_BYTES = 16 * 1024;

export interface TunnelTarget {
  /** A name, or an address without brackets. */
  readonly hostname: string;
  readonly port: number;
}

/** Runs once: with the socket, on which nothing was read beyond the proxy's answer, or with an error. */
export type OnTunnel = (error: Error | undefined, socket: Socket | undefined) => void;

/**
 * Asks a proxy for a tunnel, for http and https alike. The socket that it returns is the connection to the
 * proxy: destroying it gives up, with `ETIMEDOUT` where that took too long. There is no timeout.
 */
export function openTunnel(proxy: Proxy, target: TunnelTarget, onTunnel: OnTunnel): Socket {
  const { hostname: host, port } = proxy;
  const socket = proxy.secure
    ? connectTls({
        host,
        port,
        ALPNProtocols: ['http/1.1'],
        ...(isIP(host) === 0 && { servername: host }),
      })
    : connect({ host, port });
  let head = Buffer.alloc(0);
  const finish = (error?: Error): void => {
    for (const [event, listener] of Object.entries(listeners)) socket.off(event, listener);
    if (error) {
      socket.on('error', () => undefined).destroy();
      onTunnel(error, undefined);
    } else onTunnel(undefined, socket);
  };
  const fail = (code: string, said: string, cause?: unknown): void =>
    finish(new ProxyError(code, `proxy ${proxy.name} ${said}`, { cause }));
  const listeners: Record<string, (value?: unknown) => void> = {
    [proxy.secure ? 'secureConnect' : 'connect']: () => socket.write(requestOf(proxy, target)),
    readable: () => {
      for (
        let chunk = socket.read() as Buffer | null;
        chunk;
        chunk = socket.read() as Buffer | null
      )
        head = Buffer.concat([head, chunk]);
      const end = head.indexOf('\r\n\r\n');
      if (end < 0 && head.length <= MAX_HEAD_BYTES) return;
      const [, status] = /^HTTP\/1\.[01] (\d{3})\b/.exec(head.toString('latin1', 0, 32)) ?? [];
      if (end < 0 || status === undefined) return fail('PROXY_PROTOCOL', 'did not answer in HTTP');
      if (!status.startsWith('2')) return fail('PROXY_REFUSED', `answered ${status}`);
      const rest = head.subarray(end + 4);
      if (rest.length > 0) socket.unshift(rest);
      finish();
    },
    end: () => fail('PROXY_REFUSED', 'closed the connection'),
    close: () => fail('PROXY_REFUSED', 'closed the connection'),
    error: (error) => {
      const { code = 'PROXY_REFUSED' } = error as NodeJS.ErrnoException;
      fail(code, code === 'ETIMEDOUT' ? 'gave no tunnel in time' : 'cannot be reached', error);
    },
  };
  for (const [event, listener] of Object.entries(listeners)) socket.on(event, listener);
  return socket;
}

function requestOf({ authorization }: Proxy, { hostname, port }: TunnelTarget): string {
  const authority = `${hostname.includes(':') ? `[${hostname}]` : hostname}:${port}`;
  const lines = [
    `CONNECT ${authority} HTTP/1.1`,
    `host: ${authority}`,
    ...(authorization === undefined ? [] : [`proxy-authorization: ${authorization}`]),
  ];
  return `${lines.join('\r\n')}\r\n\r\n`;
}
