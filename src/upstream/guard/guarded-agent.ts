import { isIPv6 } from 'node:net';
import type { LookupFunction } from 'node:net';
import { Agent, buildConnector } from 'undici';
import type { Dispatcher } from 'undici';
import { connectThrough } from '../proxy/connect-through.ts';
import type { ProxyRules } from '../proxy/proxy-rules.ts';
import { bareHost } from './allow-list.ts';

/** The addresses that a host may be called at now; throws `UrlGuardError`. */
export type Admit = (hostname: string, port: number) => Promise<readonly string[]>;

export interface GuardedAgentOptions {
  /** Time limit for a whole connection, a tunnel included. */
  timeoutMs: number;
  proxies: ProxyRules;
}

/** Makes connections only to admitted addresses; loaded apart, because its client is large. */
export function createGuardedAgent(admit: Admit, options: GuardedAgentOptions): Dispatcher {
  return new Agent({
    connect: createGuardedConnector(admit, options),
    keepAliveTimeout: 1000,
    connections: 32,
    maxOrigins: 1024,
  });
}

/**
 * Connects to the very addresses that were admitted: a name is resolved once, so a resolver that
 * changes its answer between the check and the connection gains nothing (DNS rebinding).
 */
function createGuardedConnector(
  admit: Admit,
  { timeoutMs, proxies }: GuardedAgentOptions,
): buildConnector.connector {
  const connect = async (
    options: buildConnector.Options,
    callback: buildConnector.Callback,
  ): Promise<void> => {
    const secure = options.protocol === 'https:';
    const port = Number(options.port || (secure ? 443 : 80));
    const hostname = bareHost(options.hostname);
    let addresses: readonly string[];
    try {
      addresses = await admit(options.hostname, port);
    } catch (error) {
      callback(error instanceof Error ? error : new Error(String(error)), null);
      return;
    }
    const proxy = proxies.proxyFor({ hostname, port, secure });
    const [address] = addresses;
    if (proxy && address !== undefined) {
      // The address that was checked, never the name: the proxy may know another one for it.
      return connectThrough(proxy, { hostname: address, port }, { options, callback, timeoutMs });
    }
    buildConnector({ timeout: timeoutMs, lookup: fixedLookup(addresses) })(options, callback);
  };
  return (options, callback) => void connect(options, callback);
}

function fixedLookup(addresses: readonly string[]): LookupFunction {
  const found = addresses.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }));
  return (_hostname, options, callback) => {
    const [first] = found;
    if (options.all) callback(null, found);
    else callback(null, first?.address ?? '', first?.family);
  };
}
