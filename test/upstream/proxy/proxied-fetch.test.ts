import { createServer } from 'node:http';
import { getGlobalDispatcher, setGlobalDispatcher } from 'undici';
import { expect, it, onTestFinished } from 'vitest';
import { useProxiesForFetch } from '../../../src/upstream/proxy/proxied-fetch.ts';
import { createProxyRules, NO_PROXIES } from '../../../src/upstream/proxy/proxy-rules.ts';
import { startConnectProxy } from '../../support/stage/connect-proxy.ts';

it('the fetch of the process goes through the proxy, as storage drivers use it', async () => {
  const former = getGlobalDispatcher();
  onTestFinished(() => setGlobalDispatcher(former));
  const server = createServer((_request, response) => response.end('kept'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const proxy = await startConnectProxy({ credentials: 'u:p' });
  onTestFinished(() => proxy.close());
  const { port } = server.address() as { port: number };
  await useProxiesForFetch(NO_PROXIES);
  expect(getGlobalDispatcher()).toBe(former);
  await useProxiesForFetch(createProxyRules({ HTTP_PROXY: proxy.authorizedUrl }));
  for (const method of ['PUT', 'GET']) {
    const body = method === 'PUT' ? 'kept' : null;
    const answer = await fetch(`http://127.0.0.1:${port}/one`, { method, body });
    expect(await answer.text()).toBe('kept');
  }
  expect(new Set(proxy.asked)).toEqual(new Set([`127.0.0.1:${port}`]));
});
