import type { Socket } from 'node:net';
import { buildConnector } from 'undici';
import { openTunnel } from './open-tunnel.ts';
import type { TunnelTarget } from './open-tunnel.ts';
import type { Proxy } from './proxy.ts';

export interface ThroughOptions {
  /** The connection as the client of HTTP asked for it: its name is sent and checked by TLS. */
  readonly options: buildConnector.Options;
  readonly callback: buildConnector.Callback;
  /** Time limit for tunnel and TLS, each. */
  readonly timeoutMs: number;
}

/** Connects a client of undici through a tunnel of a proxy. */
export function connectThrough(
  proxy: Proxy,
  target: TunnelTarget,
  { options, callback, timeoutMs }: ThroughOptions,
): void {
  let timer: NodeJS.Timeout | undefined = undefined;
  const onTunnel = (error: Error | undefined, socket: Socket | undefined): void => {
    clearTimeout(timer);
    if (!socket) return callback(error ?? new Error('no tunnel'), null);
    if (options.protocol !== 'https:') return callback(null, socket.setNoDelay(true));
    // TLS on the tunnel reports its end.
    socket.on('error', () => undefined);
    buildConnector({ timeout: timeoutMs })({ ...options, httpSocket: socket }, callback);
  };
  const socket = openTunnel(proxy, target, onTunnel);
  timer = setTimeout(() => {
    socket.destroy(Object.assign(new Error('no tunnel in time'), { code: 'ETIMEDOUT' }));
  }, timeoutMs);
}
