import { createNoProxy } from './no-proxy.ts';
import { parseProxy } from './proxy.ts';
import type { Proxy } from './proxy.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Destination of a connection, as a URL names it. */
export interface Target {
  /** A name or an address without brackets. */
  readonly hostname: string;
  readonly port: number;
  readonly secure: boolean;
}

/** The one module that decides which connections go through which proxy. */
export interface ProxyRules {
  /** True where no connection goes through one, unless a provider names its own. */
  readonly isEmpty: boolean;
  /** Proxy of the environment for a destination; undefined: straight to it. */
  proxyFor(target: Target): Proxy | undefined;
  /**
   * Proxy for a URL whose owner may have declared one (`none`: no proxy, whatever the environment says).
   * A declared one has the credentials that the environment gives for the same address.
   */
  proxyOf(url: string, declared: string | null | undefined): Proxy | undefined;
}

/** A variable that names no proxy; the message names the variable and quotes nothing of its value. */
export class ProxySettingError extends Error {
  override readonly name = 'ProxySettingError';
}

export const NO_PROXIES: ProxyRules = createProxyRules({});

/**
 * Reads `HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY`, each also in lower case, which wins.
 *
 * @throws ProxySettingError
 */
export function createProxyRules(env: Environment): ProxyRules {
  const all = read(env, 'ALL_PROXY');
  const plain = read(env, 'HTTP_PROXY') ?? all;
  const secure = read(env, 'HTTPS_PROXY') ?? all;
  const isExcepted = createNoProxy(valueOf(env, 'NO_PROXY') ?? '');
  const known = [secure, plain, all].filter((proxy) => proxy !== undefined);
  const proxyFor = (target: Target): Proxy | undefined => {
    const proxy = target.secure ? secure : plain;
    return proxy && !isExcepted(target.hostname, target.port) ? proxy : undefined;
  };
  return {
    isEmpty: plain === undefined && secure === undefined,
    proxyFor,
    proxyOf(url, declared) {
      if (declared === 'none') return undefined;
      if (declared === null || declared === undefined) {
        const target = URL.canParse(url) ? toTarget(new URL(url)) : undefined;
        return target && proxyFor(target);
      }
      const proxy = parseProxy(declared);
      return known.find(({ name }) => name === proxy.name) ?? proxy;
    },
  };
}

/** Undefined unless it is http or https. */
export function toTarget({ protocol, hostname, port }: URL): Target | undefined {
  if (protocol !== 'https:' && protocol !== 'http:') return undefined;
  const secure = protocol === 'https:';
  return {
    hostname: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? (secure ? 443 : 80) : Number(port),
    secure,
  };
}

function valueOf(env: Environment, name: string): string | undefined {
  const value = env[name.toLowerCase()] ?? env[name];
  return value === '' ? undefined : value;
}

function read(env: Environment, name: string): Proxy | undefined {
  const value = valueOf(env, name);
  if (value === undefined) return undefined;
  try {
    return parseProxy(value);
  } catch (cause) {
    const reason = (cause as Error).message;
    throw new ProxySettingError(`the variable ${name} names no proxy: ${reason}`, { cause });
  }
}
