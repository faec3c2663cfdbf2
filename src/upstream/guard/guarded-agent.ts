import { isIPv6 } from 'node:net';
import type { LookupFunction } from 'node:net';
import { Agent, buildConnector } from 'undici';
import type { Dispatcher } from 'undici';

/** The addresses that a host may be called at now; throws `UrlGuardError`. */
export type Admit = (hostname: string, port: number) => Promise<readonly string[]>;

/** Makes connections to admitted addresses alone; loaded apart, because its client is large. */
export function createGuardedAgent(admit: Admit, timeoutMs: number): Dispatcher {
  return new Agent({
    connect: createGuardedConnector(admit, timeoutMs),
    keepAliveTimeout: 1000,
    connections: 32,
    maxOrigins: 1024,
  });
}

/**
 * Connects to the very addresses that were admitted: a name is resolved once, so a resolver that
 * changes its answer between the check and the connection gains nothing (DNS rebinding).
 */
function createGuardedConnector(admit: Admit, timeoutMs: number): buildConnector.connector {
  const connect = async (
    options: buildConnector.Options,
    callback: buildConnector.Callback,
  ): Promise<void> => {
    const port = Number(options.port || (options.protocol === 'https:' ? 443 : 80));
    let addresses: readonly string[];
    try {
      addresses = await admit(options.hostname, port);
    } catch (error) {
      callback(error instanceof Error ? error : new Error(String(error)), null);
      return;
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
