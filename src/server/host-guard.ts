import type { IncomingMessage } from 'node:http';
import { GatewayError } from '../core/errors.ts';

export interface HostGuardOptions {
  /** The address that the gateway listens on. */
  listenHost: string;
  /** Accepted host names beside loopback (config: server.allowed_hosts). */
  allowedHosts: readonly string[];
  /** Origins of browsers that may call (config: server.cors.origins). */
  origins: readonly string[];
}

/**
 * On a loopback address only loopback names may be asked for, so that no web page can reach the
 * gateway through a name of its own (DNS rebinding; requirement ops.cors-and-host).
 */
export function createHostGuard(options: HostGuardOptions): (request: IncomingMessage) => void {
  const bound = isLoopback(options.listenHost);
  if (!bound && options.allowedHosts.length === 0) return () => undefined;
  const allowed = new Set(options.allowedHosts.map((host) => host.toLowerCase()));
  const origins = new Set(options.origins);
  const accepts = (host: string): boolean => isLoopback(host) || allowed.has(host);
  return ({ headers }) => {
    const host = headers.host;
    if (host !== undefined && !accepts(hostName(host))) throw new GatewayError('host_not_allowed');
    const { origin } = headers;
    if (origin === undefined || origins.has(origin) || accepts(originHost(origin))) return;
    throw new GatewayError('host_not_allowed', { message: 'origin not allowed' });
  };
}

/** True for the names and addresses of this machine alone. */
export function isLoopback(host: string): boolean {
  const name = host.toLowerCase();
  return (
    name === 'localhost' ||
    name.endsWith('.localhost') ||
    name === '::1' ||
    /^127(\.\d{1,3}){3}$/.test(name)
  );
}

function hostName(host: string): string {
  if (host.startsWith('[')) return host.slice(1, host.indexOf(']')).toLowerCase();
  return host.replace(/:\d+$/, '').toLowerCase();
}

function originHost(origin: string): string {
  return URL.canParse(origin) ? hostName(new URL(origin).host) : '';
}
