import { Buffer } from 'node:buffer';
import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { createHttp1Transport } from '../../../src/upstream/http1/http1-transport.ts';
import { withProxiedFetch } from '../../../src/upstream/proxy/proxied-fetch.ts';
import { proxyIn } from '../../../src/upstream/proxy/proxy-error.ts';
import { createProxyRules } from '../../../src/upstream/proxy/proxy-rules.ts';
import type { ProxyRules } from '../../../src/upstream/proxy/proxy-rules.ts';
import type { UpstreamError } from '../../../src/upstream/transport.ts';

const URL_BEHIND = 'http://192.0.2.1/v1';
const PASSWORD = 'hush-hush';

/** A proxy that does this with whoever connects; undefined: nobody listens. */
async function proxiesTo(play: ((socket: Socket) => void) | undefined): Promise<ProxyRules> {
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket.on('error', () => undefined));
    play?.(socket);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  const close = () =>
    new Promise<void>((done) => {
      server.close(() => done());
      for (const socket of open) socket.destroy();
    });
  if (play) onTestFinished(close);
  else await close();
  return createProxyRules({ HTTP_PROXY: `http://scout:${PASSWORD}@127.0.0.1:${port}` });
}

function failureOf(proxies: ProxyRules): Promise<UpstreamError> {
  const http = createHttp1Transport({ connectTimeoutMs: 100 });
  onTestFinished(() => http.close());
  return new Promise((resolve, reject) => {
    const never = (): void => reject(new Error('an answer'));
    http
      .reaching({ proxy: proxies.proxyOf(URL_BEHIND, null) })
      .send(
        { url: new URL(URL_BEHIND), method: 'GET', headers: [], body: undefined },
        { onHead: never, onData: never, onEnd: never, onError: resolve },
      );
  });
}

const answering = (text: string) => (socket: Socket) =>
  void socket.once('data', () => socket.write(text));

it.each([
  {
    of: 'one that wants other credentials',
    play: answering('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n'),
    cause: /^PROXY_REFUSED, proxy http:\/\/127\.0\.0\.1:\d+ answered 407$/,
  },
  {
    of: 'one that hangs up',
    play: (socket: Socket) => void socket.end(),
    cause: /^PROXY_REFUSED, proxy http:\/\/127\.0\.0\.1:\d+ closed the connection$/,
  },
  {
    of: 'one that nobody runs',
    play: undefined,
    cause: /^ECONNREFUSED, proxy http:\/\/127\.0\.0\.1:\d+ cannot be reached$/,
  },
  {
    of: 'one that is silent',
    play: () => undefined,
    cause: /^ETIMEDOUT, proxy http:\/\/127\.0\.0\.1:\d+ gave no tunnel in time$/,
  },
  {
    of: 'one that is no proxy',
    play: answering('220 mail.example ESMTP\r\n\r\n'),
    cause: /^PROXY_PROTOCOL, proxy http:\/\/127\.0\.0\.1:\d+ did not answer in HTTP$/,
  },
])('the failure of a proxy is told as its own, without credentials: $of', async (row) => {
  const proxies = await proxiesTo(row.play);
  const failure = await failureOf(proxies);
  expect(failure.kind).toBe('connect');
  expect(failure.detail).toMatch(row.cause);
  const secrets = [PASSWORD, Buffer.from(`scout:${PASSWORD}`).toString('base64')];
  const everything = JSON.stringify([
    failure.message,
    failure.detail,
    failure.stack,
    failure.cause,
  ]);
  for (const secret of secrets) expect(everything).not.toContain(secret);
  if (row.cause.source.includes('ETIMEDOUT')) return;
  const thrown = await withProxiedFetch(proxies, (fetch) => fetch(URL_BEHIND)).catch(
    (error: unknown) => error,
  );
  const { cause } = thrown as Error;
  expect(row.cause.source).toContain((cause as { code?: string }).code);
  expect(proxyIn(cause)).toBe(failure.detail?.replace(/^\w+, /, ''));
});
