import type { ServerConfig } from '../../config/schema/server-config.ts';
import { isLoopback } from '../http/host-guard.ts';
import { CONSOLE_PATH } from './console-front.ts';

/** Settings that say where the gateway and its console are reached. */
export type Places = Pick<ServerConfig, 'listen' | 'console'>;

/**
 * True where `server.console.enabled` says so. Without it: on a loopback address, and on an address
 * that serves only the console.
 */
export function isConsoleServed({ listen, console }: Places): boolean {
  return console.enabled ?? (console.listen !== null || isLoopback(listen.host));
}

/** Address of the console for people; `url` is the gateway's. Undefined where it is not served. */
export function consoleUrl(config: Places, url: string): string | undefined {
  if (!isConsoleServed(config)) return undefined;
  return `${ownAddress(config) ?? url}${CONSOLE_PATH}`;
}

/** Origin of an address that serves only the console; undefined where there is none. */
export function ownAddress({ listen, console }: Places): string | undefined {
  return console.listen ? toOrigin(console.listen, listen, 'localhost') : undefined;
}

/**
 * Origin of the API where it is not that of the console; undefined where both are served on one
 * address, and where the port is chosen at the start.
 *
 * @param host the header of a call of the console: where the gateway listens on every address, its
 *   name is the one by which the console was reached
 */
export function apiAddress({ listen, console }: Places, host = 'localhost'): string | undefined {
  if (!console.listen || listen.port === 0) return undefined;
  return toOrigin(listen, listen, host.replace(/:\d+$/, ''));
}

/** @param known name of this machine, for a host that means each of its addresses */
function toOrigin(
  { host, port }: Readonly<{ host: string; port: number }>,
  { tls }: Pick<ServerConfig['listen'], 'tls'>,
  known: string,
): string {
  const isEvery = host === '0.0.0.0' || host === '::';
  const name = host.includes(':') ? `[${host}]` : host;
  return `${tls ? 'https' : 'http'}://${isEvery ? known : name}:${port}`;
}
