import type { ServerConfig } from '../../config/schema/server-config.ts';
import { isLoopback } from '../http/host-guard.ts';
import { CONSOLE_PATH } from './console-front.ts';

type Places = Pick<ServerConfig, 'listen' | 'console'>;

/**
 * True where `server.console.enabled` says so. Without it: on a loopback address, and on an address that
 * is given for the console alone.
 */
export function isConsoleServed({ listen, console }: Places): boolean {
  return console.enabled ?? (console.listen !== null || isLoopback(listen.host));
}

/** Address of the console for people; `url` is the gateway's. Undefined where it is not served. */
export function consoleUrl(config: Places, url: string): string | undefined {
  if (!isConsoleServed(config)) return undefined;
  return `${ownAddress(config) ?? url}${CONSOLE_PATH}`;
}

/** Origin of an address that serves the console alone; undefined where there is none. */
export function ownAddress({ listen, console }: Places): string | undefined {
  if (!console.listen) return undefined;
  const { host, port } = console.listen;
  const isEvery = host === '0.0.0.0' || host === '::';
  const name = host.includes(':') ? `[${host}]` : host;
  return `${listen.tls ? 'https' : 'http'}://${isEvery ? 'localhost' : name}:${port}`;
}
