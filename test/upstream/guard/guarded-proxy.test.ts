import { createServer } from 'node:http';
import type { Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { createSecureContext } from 'node:tls';
import { afterAll, expect, it, onTestFinished } from 'vitest';
import { guardedFetch } from '../../../src/upstream/guard/guarded-fetch.ts';
import { createUrlGuard } from '../../../src/upstream/guard/url-guard.ts';
import type { UrlGuard } from '../../../src/upstream/guard/url-guard.ts';
import { createProxyRules } from '../../../src/upstream/proxy/proxy-rules.ts';
import { verifies } from '../../requirements.ts';
import { createAuthority } from '../../support/certificates.ts';
import { startConnectProxy } from '../../support/stage/connect-proxy.ts';
import type { ConnectProxy, ConnectProxyOptions } from '../../support/stage/connect-proxy.ts';

const authority = createAuthority('Guarded');
afterAll(() => authority.dispose());

const PUBLIC = '93.184.216.34';

async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as { port: number }).port;
}

/** A guard for which every name has the address, behind a proxy that leads that to this machine. */
async function behind(
  address: string,
  options: ConnectProxyOptions = {},
): Promise<{ guard: UrlGuard; proxy: ConnectProxy }> {
  const resolve = (target: string): string => target.replace(PUBLIC, '127.0.0.1');
  const proxy = await startConnectProxy({ resolve, ...options });
  onTestFinished(() => proxy.close());
  const proxies = createProxyRules({ ALL_PROXY: proxy.url });
  const guard = createUrlGuard({ lookup: async () => [address], proxies });
  onTestFinished(() => guard.close());
  return { guard, proxy };
}

it(
  verifies(
    'net.proxy.guard-kept',
    'CONNECT asks for the checked address, TLS for the name, and no refusal is lost',
  ),
  async () => {
    const port = await listening(createServer((_, response) => response.end('ok')));
    const { guard, proxy } = await behind(PUBLIC);
    const got = await guardedFetch(guard, `http://files.example:${port}/`);
    expect(got.body.toString()).toBe('ok');
    expect(proxy.asked).toEqual([`${PUBLIC}:${port}`]);

    const names: string[] = [];
    const issued = authority.issue('files.example');
    const secure = await listening(
      createTlsServer({
        ...issued,
        SNICallback: (name, done) => {
          names.push(name);
          done(null, createSecureContext(issued));
        },
      }),
    );
    // Its authority is trusted by nobody: a tunnel does not soften that.
    await expect(guardedFetch(guard, `https://files.example:${secure}/`)).rejects.toMatchObject({
      reason: 'network',
    });
    expect(names).toEqual(['files.example']);
    expect(proxy.asked.at(-1)).toBe(`${PUBLIC}:${secure}`);

    const inside = await behind('10.0.0.7');
    for (const url of [
      'http://files.example/',
      'http://10.0.0.7/',
      'http://127.0.0.1:8080/',
      'http://[::1]:8080/',
      'http://localhost:8080/',
      'http://169.254.169.254/',
      'http://a.example:22/',
    ])
      await expect(guardedFetch(inside.guard, url)).rejects.toMatchObject({
        name: 'UrlGuardError',
      });
    expect(inside.proxy.asked).toEqual([]);

    let direct = 0;
    const own = await listening(
      createServer((_, response) => void ((direct += 1), response.end())),
    );
    const refusing = await behind(PUBLIC, { refuse: () => 403 });
    await expect(
      guardedFetch(refusing.guard, `http://files.example:${own}/`),
    ).rejects.toMatchObject({
      reason: 'network',
      message: 'the proxy refused the connection',
    });
    expect(refusing.proxy.asked).toEqual([`${PUBLIC}:${own}`]);
    expect(direct).toBe(0);
  },
);
