import type { Agent } from 'undici';
import type { ProxyRules } from './proxy-rules.ts';

const CONNECT_TIMEOUT_MS = 10_000;

/**
 * Has the `fetch` of this process go through proxies: that of storage drivers and of libraries, which
 * take no client of ours. Does nothing where there are none.
 */
export async function useProxiesForFetch(proxies: ProxyRules): Promise<void> {
  if (proxies.isEmpty) return;
  const { setGlobalDispatcher } = await import('undici');
  setGlobalDispatcher(await createAgent(proxies));
}

/**
 * Runs `task` with a `fetch` that goes through proxies, which `fetch` itself does not do. Connections are
 * closed when the task ends.
 */
export async function withProxiedFetch<T>(
  proxies: ProxyRules,
  task: (fetch: typeof globalThis.fetch) => Promise<T>,
): Promise<T> {
  if (proxies.isEmpty) return task(globalThis.fetch);
  const { fetch } = await import('undici');
  const dispatcher = await createAgent(proxies);
  const proxied = (url: never, init: object) => fetch(url, { ...init, dispatcher });
  try {
    return await task(proxied as unknown as typeof globalThis.fetch);
  } finally {
    await dispatcher.destroy();
  }
}

/** Loads large modules that most gateways, having no proxy, never need. */
async function createAgent(proxies: ProxyRules): Promise<Agent> {
  const { Agent: Client, buildConnector } = await import('undici');
  const { connectThrough } = await import('./connect-through.ts');
  const timeoutMs = CONNECT_TIMEOUT_MS;
  const direct = buildConnector({ timeout: timeoutMs });
  const connect: typeof direct = (options, callback) => {
    const secure = options.protocol === 'https:';
    const hostname = options.hostname.replace(/^\[|\]$/g, '');
    const port = Number(options.port || (secure ? 443 : 80));
    const proxy = proxies.proxyFor({ hostname, port, secure });
    if (proxy) connectThrough(proxy, { hostname, port }, { options, callback, timeoutMs });
    else direct(options, callback);
  };
  return new Client({ connect });
}
