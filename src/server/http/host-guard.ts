import type { IncomingMessage } from 'node:http';
import { isIPv4 } from 'node:net';
import { GatewayError } from '../../core/errors.ts';

export interface HostGuardOptions {
  /** The address that the gateway listens on. */
  listenHost: string;
  /** Accepted host names in addition to loopback (config: server.allowed_hosts). */
  allowedHosts: readonly string[];
  /** Name in `server.public_url`: accepted wherever others are refused. */
  publicHost?: string | undefined;
  /** Origins of browsers that may call (config: server.cors.origins). */
  origins: readonly string[];
}

/**
 * Refuses other than loopback names on a loopback address, so that no web page can reach the
 * gateway through a name of its own (DNS rebinding; requirement ops.cors-and-host). With `isProbe`, any
 * name is accepted on other addresses, since probes of pods and targets name them by their address.
 */
export function createHostGuard(
  options: HostGuardOptions,
): (request: IncomingMessage, isProbe?: boolean) => void {
  const bound = isLoopback(options.listenHost);
  if (!bound && options.allowedHosts.length === 0) return () => undefined;
  const allowed = new Set(options.allowedHosts.map((host) => host.toLowerCase()));
  if (options.publicHost !== undefined) allowed.add(options.publicHost.toLowerCase());
  const origins = new Set(options.origins);
  const accepts = (host: string | undefined): boolean =>
    host !== undefined && (isLoopback(host) || allowed.has(host));
  return ({ headers }, isProbe = false) => {
    if (isProbe && !bound) return;
    const host = headers.host;
    if (host !== undefined && !accepts(hostName(host))) throw new GatewayError('host_not_allowed');
    const { origin } = headers;
    if (origin === undefined || origins.has(origin) || accepts(originHost(origin))) return;
    throw new GatewayError('host_not_allowed', { message: 'origin not allowed' });
  };
}

/** True for names and addresses that reach only this machine. */
export function isLoopback(host: string): boolean {
  const name = host.toLowerCase();
  return (
    name === 'localhost' ||
    name.endsWith('.localhost') ||
    name === '::1' ||
    (isIPv4(name) && name.startsWith('127.'))
  );
}

/** An address in brackets or a name, then perhaps a port (RFC 9110, 7.2), and nothing else. */
const AUTHORITY = /^(?:\[([\da-f:.]+)\]|([\w.-]+))(?::\d{1,5})?$/i;

/** Undefined for text that is no host, such as one with a user, a zone or a path. */
function hostName(host: string): string | undefined {
  const [, address, name = address] = AUTHORITY.exec(host) ?? [];
  return name?.toLowerCase();
}

function originHost(origin: string): string | undefined {
  const [, host] = /^[a-z][a-z\d+.-]*:\/\/(.+)$/i.exec(origin) ?? [];
  return host && hostName(host);
}
