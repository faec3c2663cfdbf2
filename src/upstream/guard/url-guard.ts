import { lookup as dnsLookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import type { Dispatcher } from 'undici';
import { lazy } from '../../core/lazy.ts';
import { NO_PROXIES } from '../proxy/proxy-rules.ts';
import type { ProxyRules } from '../proxy/proxy-rules.ts';
import { isPublicAddress } from './address-ranges.ts';
import { bareHost, createAllowList } from './allow-list.ts';
import { UrlGuardError } from './url-guard-error.ts';

export interface UrlGuardOptions {
  /** The operator's exceptions; see `createAllowList` for their forms. Default none. */
  allow?: readonly string[];
  /** All addresses of a name. Default the system's resolver. */
  lookup?: (host: string) => Promise<readonly string[]>;
  /** Proxies of connections; every address is checked all the same. Default none. */
  proxies?: ProxyRules | undefined;
  /** Default 10,000 ms. */
  connectTimeoutMs?: number;
}

/** The one gate for URLs that a user supplied (requirements upstream.url-guard, ops.ssrf.guard). */
export interface UrlGuard {
  /** The parsed URL. Throws `UrlGuardError` when it must not be called, or not at the moment. */
  check(url: string): Promise<URL>;
  /**
   * Addresses of a host outside of a URL, for ports of its protocol; the connection goes to one of them. Throws
   * as `check`.
   */
  addresses(host: string, port: number, ports: ReadonlySet<number>): Promise<readonly string[]>;
  /**
   * Makes connections only to addresses that passed the guard at that moment: for `fetch` and clients
   * that take an undici dispatcher. A refused connection fails with `UrlGuardError`.
   */
  dispatcher(): Promise<Dispatcher>;
  close(): Promise<void>;
}

/** Names of this machine, of its network and of cloud metadata services. */
const LOCAL_NAME = /(^|\.)(localhost|local|localdomain|internal|intranet|home\.arpa)$/;

/** Web ports, and the ones that need no privilege: everything else speaks something else. */
const isWebPort = (port: number): boolean => port === 80 || port === 443 || port >= 1024;

/** Throws `TypeError` for an entry of `allow` that cannot be read. */
export function createUrlGuard(options: UrlGuardOptions = {}): UrlGuard {
  const { lookup = systemLookup, connectTimeoutMs = 10_000, proxies = NO_PROXIES } = options;
  const allow = createAllowList(options.allow ?? []);

  const resolve = async (host: string): Promise<readonly string[]> => {
    if (isIP(host) !== 0) return [host];
    const addresses = await lookup(host).catch((cause: unknown) => unresolved(host, cause));
    return addresses.length > 0 ? addresses : unresolved(host);
  };

  const admit = async (
    hostname: string,
    port: number,
    more?: ReadonlySet<number>,
  ): Promise<readonly string[]> => {
    const host = bareHost(hostname.toLowerCase());
    if (allow.hasHost(host, port)) return resolve(host);
    if (!isWebPort(port) && !more?.has(port))
      throw new UrlGuardError('port', `port ${port} is not allowed`);
    const local = LOCAL_NAME.test(host);
    if (local && allow.hasNoAddress) throw refusedHost('host', host);
    const addresses = await resolve(host);
    // One bad address is enough: which of them is used is not ours to choose.
    for (const address of addresses) {
      if (allow.addresses.has(address) || (!local && isPublicAddress(address))) continue;
      throw refusedHost(local ? 'host' : 'address', host);
    }
    return addresses;
  };

  const dispatcher = lazy('the client for URLs of users', async () => {
    const { createGuardedAgent } = await import('./guarded-agent.ts');
    return createGuardedAgent(admit, { timeoutMs: connectTimeoutMs, proxies });
  });

  return {
    async check(text) {
      const url = parse(text);
      await admit(url.hostname, portOf(url));
      return url;
    },
    addresses: admit,
    dispatcher,
    close: async () => (await dispatcher.begun())?.destroy(),
  };
}

function parse(text: string): URL {
  if (!URL.canParse(text)) throw new UrlGuardError('syntax', 'not a valid URL');
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new UrlGuardError('scheme', 'the URL must be http or https');
  }
  if (url.username || url.password) {
    throw new UrlGuardError('credentials', 'the URL must not contain a user name or password');
  }
  return url;
}

function portOf(url: URL): number {
  return url.port ? Number(url.port) : url.protocol === 'https:' ? 443 : 80;
}

async function systemLookup(host: string): Promise<string[]> {
  return (await dnsLookup(host, { all: true })).map((found) => found.address);
}

function unresolved(host: string, cause?: unknown): never {
  throw new UrlGuardError('unresolved', `the host ${host} could not be resolved`, { cause });
}

function refusedHost(reason: 'host' | 'address', host: string): UrlGuardError {
  return new UrlGuardError(reason, `the host ${host} is not a public address`);
}
