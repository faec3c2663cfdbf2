import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually, startGateway } from '../support/gateway.ts';
import type { TestGateway } from '../support/gateway.ts';
import { sendJson, startUpstream } from '../support/upstream.ts';
import type { Upstream } from '../support/upstream.ts';

describe('an API called by path', () => {
  let upstream: Upstream;
  let gateway: TestGateway;
  beforeAll(async () => {
    upstream = await startUpstream((response, request) =>
      sendJson(response, 200, { url: request.url, usage: { total_tokens: 5 } }),
    );
    gateway = await startGateway(
      {
        apis: [
          {
            name: 'acme',
            base_url: `${upstream.url}/base`,
            api_key: '${secret:env:ACME_KEY}',
            pricing: { per_call: '0.5', input: '1' },
            usage: { input: { field: '$.usage.total_tokens' } },
          },
        ],
      },
      { env: { ACME_KEY: 'acme-secret' } },
    );
  });
  afterAll(async () => {
    await gateway.stop();
    await upstream.close();
  });

  it('answers', async () => {
    const answer = await gateway.call('POST', '/v1/api/acme/a/b%2Fc?x=1&key=2', { body: { a: 1 } });
    expect(answer.body).toEqual({ url: '/base/a/b%2Fc?x=1', usage: { total_tokens: 5 } });
    expect(upstream.seen.at(-1)?.headers.authorization).toBe('Bearer acme-secret');
    const record = await eventually(async () => {
      const { body } = await gateway.admin('GET', '/admin/v1/requests');
      return body.data.find((one: any) => one.surface === 'api' && one.result === 'ok');
    });
    expect(record).toMatchObject({ cost: '0.500005', model: 'acme' });
    const list = await gateway.call('GET', '/v1/models?type=api');
    expect(list.body.data).toMatchObject([{ id: 'acme' }]);
  });
});
