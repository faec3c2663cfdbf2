import type { ProxyRules } from './proxy-rules.ts';

const CONNECT_TIMEOUT_MS = 10_000;

/**
 * Has the `fetch` of this process go through proxies: that of storage drivers and of libraries, which
 * take no client of ours. Does nothing where there are none.
 */
export async function useProxiesForFetch(proxies: ProxyRules): Promise<void> {
  if (proxies.isEmpty) return;
  // Both are large, and most gateways have no proxy.
  const { Agent, buildConnector, setGlobalDispatcher } = await import('undici');
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
  setGlobalDispatcher(new Agent({ connect }));
}
