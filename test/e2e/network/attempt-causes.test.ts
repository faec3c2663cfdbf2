import { createServer } from 'node:net';
import type { AddressInfo, Server } from 'node:net';
import { createServer as createTlsServer } from 'node:https';
import { afterAll, expect, it, onTestFinished } from 'vitest';
import { verifies } from '../../requirements.ts';
import { createAuthority } from '../../support/certificates.ts';
import { eventually, startGateway } from '../../support/gateway.ts';
import { startConnectProxy } from '../../support/stage/connect-proxy.ts';

const authority = createAuthority('Causes');
afterAll(() => authority.dispose());

async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

it(
  verifies('attempts.cause', 'a record tells of each attempt that failed why'),
  async () => {
    const issued = authority.issue('models.example');
    const untrusted = await listening(createTlsServer(issued));
    const old = await listening(
      createTlsServer({
        ...issued,
        minVersion: 'TLSv1',
        maxVersion: 'TLSv1.1',
        ciphers: 'DEFAULT@SECLEVEL=0',
      }),
    );
    const closed = createServer();
    const free = await listening(closed);
    await new Promise((resolve) => closed.close(resolve));
    const proxy = await startConnectProxy({ refuse: () => 403 });
    const locked = await startConnectProxy({ credentials: 'scout:hush-hush' });
    onTestFinished(() => Promise.all([proxy.close(), locked.close()]).then(() => undefined));
    const providers = [
      { name: 'refused', base_url: `http://127.0.0.1:${free}/v1` },
      { name: 'unresolved', base_url: 'http://nobody.invalid/v1' },
      { name: 'untrusted', base_url: `https://127.0.0.1:${untrusted}/v1` },
      { name: 'old', base_url: `https://127.0.0.1:${old}/v1` },
      { name: 'proxied', base_url: `http://127.0.0.1:${free}/v1`, proxy: proxy.url },
      { name: 'locked', base_url: `http://127.0.0.1:${free}/v1`, proxy: locked.url },
      { name: 'absent', base_url: 'http://192.0.2.1/v1', proxy: `http://127.0.0.1:${free}` },
    ];
    const gateway = await startGateway({
      providers: providers.map((one) => ({ type: 'custom', auth: { type: 'none' }, ...one })),
      models: [
        {
          name: 'm/all',
          routes: providers.map(({ name }, priority) => ({
            provider: name,
            upstream_model: 'm',
            priority,
          })),
        },
      ],
    });
    onTestFinished(async () => void (await gateway.stop()));
    expect((await gateway.chat('m/all')).status).toBeGreaterThanOrEqual(500);
    const attempts = await eventually(async () => {
      const { body } = await gateway.admin('GET', '/admin/v1/requests?limit=1');
      const [{ result, attempts: made }] = body.data;
      return result !== 'pending' && (made as { provider: string; cause: string | null }[]);
    });
    const causesOf = (name: string): unknown[] =>
      attempts.filter(({ provider }) => provider === name).map(({ cause }) => cause);
    const expected: Record<string, RegExp> = {
      refused: /^ECONNREFUSED$/,
      unresolved: /^(ENOTFOUND|EAI_AGAIN)$/,
      untrusted: /^UNABLE_TO_\w+, certificate of models\.example by Causes/,
      old: /^ERR_SSL_\w*(PROTOCOL|VERSION)/,
      proxied: /^PROXY_REFUSED, proxy http:\/\/127\.0\.0\.1:\d+ answered 403$/,
      locked: /^PROXY_REFUSED, proxy http:\/\/127\.0\.0\.1:\d+ answered 407$/,
      absent: /^ECONNREFUSED, proxy http:\/\/127\.0\.0\.1:\d+ cannot be reached$/,
    };
    for (const [name, cause] of Object.entries(expected)) {
      expect(causesOf(name), JSON.stringify(attempts)).not.toHaveLength(0);
      for (const one of causesOf(name)) expect(one).toMatch(cause);
    }
  },
  30_000,
);
