import { expect, it, onTestFinished } from 'vitest';
import { ask, startGateway } from '../../support/gateway.ts';
import { startUpstream } from '../../support/stage/upstream.ts';
import { signIn } from './console-client.ts';

const PAGE = '<script>fetch("/console/api/admin/v1/keys")</script>';
const PATH = '/v1/api/vend/page';

async function start() {
  const upstream = await startUpstream((response) => {
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(PAGE);
  });
  const gateway = await startGateway({
    apis: [{ name: 'vend', base_url: upstream.url, auth: { type: 'none' } }],
  });
  onTestFinished(async () => {
    await gateway.stop();
    await upstream.close();
  });
  const client = await signIn(gateway, { key: gateway.clientKey });
  const load = (headers: Record<string, string>) =>
    ask(`${gateway.url}/console/api${PATH}`, { headers: { cookie: client.cookie, ...headers } });
  return { upstream, gateway, client, load };
}

it('is no way for a page of an API to act as the operator', async () => {
  const { upstream, load } = await start();
  for (const use of ['document', 'iframe', 'image', 'script', 'video', 'worker']) {
    const headers = { 'sec-fetch-site': 'none', 'sec-fetch-dest': use };
    const { status, body } = await load(headers);
    expect([use, status]).toEqual([use, 403]);
    expect(body.error).toMatchObject({ message: expect.stringContaining(`loaded as ${use}`) });
  }
  expect(upstream.seen).toEqual([]);
});

it('hands answers on as what no browser takes for a page', async () => {
  const { gateway, client, load } = await start();
  for (const answer of [
    await load({ 'sec-fetch-site': 'same-origin', 'sec-fetch-dest': 'empty' }),
    await load({}),
    await client.call('GET', '/v1/models'),
    await client.call('GET', '/together?read=/v1/models'),
  ]) {
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-security-policy')).toBe("default-src 'none'; sandbox");
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
  }
  const direct = await ask(gateway.url + PATH, { key: gateway.clientKey });
  expect(direct).toMatchObject({ status: 200, body: PAGE });
  expect(direct.headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(direct.headers.get('content-security-policy')).toBeNull();
  expect(direct.headers.get('x-content-type-options')).toBeNull();
});
