import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually, startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { startUpstream } from '../../support/stage/upstream.ts';
import type { Upstream } from '../../support/stage/upstream.ts';

let upstream: Upstream;
let gateway: TestGateway;
let lenient: TestGateway;

async function start(unpriced: 'refuse' | 'allow'): Promise<TestGateway> {
  const api = { base_url: upstream.url, auth: { type: 'none' } };
  return startGateway({
    server: { limits: { unpriced } },
    organizations: [{ name: 'poor', spending_limit: { month: '5' } }],
    apis: [
      { name: 'unknown', ...api },
      { name: 'gratis', ...api, pricing: 'free' },
      { name: 'priced', ...api, pricing: { per_call: '0.5' } },
    ],
  });
}

beforeAll(async () => {
  upstream = await startUpstream((response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end('{"sunny":true}');
  });
  gateway = await start('refuse');
  lenient = await start('allow');
});
afterAll(async () => {
  await gateway.stop();
  await lenient.stop();
  await upstream.close();
});

async function keyOf(at: TestGateway, settings: object): Promise<string> {
  const made = await at.admin('POST', '/admin/v1/keys', { name: `k${Math.random()}`, ...settings });
  expect(made.status, JSON.stringify(made.body)).toBe(201);
  return made.body.value;
}

async function recordOf(at: TestGateway, id: string | null) {
  return eventually(async () => {
    const { body } = await at.admin('GET', `/admin/v1/requests/${id}`);
    return body.result && body.result !== 'pending' && body;
  });
}

const MESSAGE = 'the API unknown has no known price; set pricing, or server.limits.unpriced: allow';

describe('an API without pricing', () => {
  it.each([
    ['key', { spending_limit: { lifetime: '5' } }],
    ['organization', { organization: 'poor' }],
  ])('is refused where the %s has a spending limit, and leaves a record', async (_, settings) => {
    const key = await keyOf(gateway, settings);
    const before = upstream.seen.length;
    const refused = await gateway.call('GET', '/v1/api/unknown/now', { key });
    expect([refused.status, refused.body]).toEqual([402, { error: MESSAGE }]);
    expect(refused.headers.get('x-should-retry')).toBe('false');
    expect(upstream.seen.length).toBe(before);
    const id = refused.headers.get('x-request-id');
    expect(await recordOf(gateway, id)).toMatchObject({
      surface: 'api',
      model: 'unknown',
      status: 402,
      result: 'error',
      error_code: 'unpriced',
    });
    await eventually(() => gateway.log().includes(String(id)));
    for (const name of ['gratis', 'priced'])
      expect((await gateway.call('GET', `/v1/api/${name}/now`, { key })).status, name).toBe(200);
  });

  it('is served without a limit, at a cost that is not zero but unknown', async () => {
    const { status, headers } = await gateway.call('GET', '/v1/api/unknown/now');
    expect(status).toBe(200);
    const record = await recordOf(gateway, headers.get('x-request-id'));
    expect(record).toMatchObject({ result: 'ok', cost: null });
    const free = await gateway.call('GET', '/v1/api/gratis/now');
    expect(await recordOf(gateway, free.headers.get('x-request-id'))).toMatchObject({
      cost: '0.00',
    });
  });

  it('is served under a limit where the operator allows it', async () => {
    const key = await keyOf(lenient, { spending_limit: { lifetime: '5' } });
    expect((await lenient.call('GET', '/v1/api/unknown/now', { key })).status).toBe(200);
  });

  it('leaves a record as well when it is not offered at all', async () => {
    for (const [path, code] of [
      ['/v1/api/nowhere/x', 'not_found'],
      ['/v1/api/unknown/../../x', 'not_found'],
    ] as const) {
      const refused = await gateway.call('GET', path);
      expect(refused.status).toBe(404);
      if (!path.includes('..')) {
        const record = await recordOf(gateway, refused.headers.get('x-request-id'));
        expect(record).toMatchObject({ surface: 'api', model: 'nowhere', error_code: code });
      }
    }
  });
});
