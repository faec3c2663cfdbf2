import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';

const PATH = '/admin/v1/prices';
const LIST = JSON.stringify({
  providers: [
    {
      id: 'openai',
      models: [{ id: 'm', match: { equals: 'm' }, prices: { input_mtok: 2, output_mtok: 4 } }],
    },
  ],
});
const sumOf = (text: string): string => createHash('sha256').update(text).digest('hex');
const GIVEN = { text: LIST, sha256: sumOf(LIST), from: 'list.json' };

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startGateway(
    {
      providers: [
        {
          name: 'openai',
          type: 'openai',
          base_url: 'http://127.0.0.1:9/v1',
          api_key: '${secret:env:VENDOR}',
        },
      ],
      models: [{ name: 'acme/m', routes: [{ provider: 'openai', upstream_model: 'm' }] }],
    },
    { env: { VENDOR: 'sk-never-used' } },
  );
});
afterAll(() => gateway.stop());

const inputPrice = async (): Promise<unknown> =>
  (await gateway.call('GET', '/v1/models/acme/m')).body.pricing.input;

describe('the list of published prices over HTTP', () => {
  it('is shown, replaced and dropped, and holds from the answer on', async () => {
    expect(await inputPrice()).toBeNull();
    const shipped = await gateway.admin('GET', PATH);
    expect(shipped.body).toEqual({
      type: 'price_list',
      in_use: 'shipped',
      shipped_version: expect.stringMatching(/^\d/),
      sha256: null,
      from: null,
      kept_at: null,
      vendors: null,
      models: null,
    });
    const kept = await gateway.admin('PUT', PATH, GIVEN);
    expect([kept.status, kept.body.in_use, kept.body.models]).toEqual([200, 'kept', 1]);
    expect(await inputPrice()).toBe('2.00');
    expect((await gateway.admin('PUT', PATH, GIVEN)).body).toEqual(kept.body);
    expect((await gateway.admin('GET', PATH)).body).toEqual(kept.body);
    expect((await gateway.admin('DELETE', PATH)).body).toEqual(shipped.body);
    expect(await inputPrice()).toBeNull();
  });

  it.each<[string, object, string]>([
    ['no body', {}, 'text'],
    ['a sum that is none', { ...GIVEN, sha256: 'abc' }, 'sha256'],
    ['another sum', { ...GIVEN, sha256: sumOf('x') }, 'sha256'],
    ['no origin', { ...GIVEN, from: '' }, 'from'],
    ['a member that nobody knows', { ...GIVEN, forse: true }, 'forse'],
    ['a list that is none', { ...GIVEN, text: '7', sha256: sumOf('7') }, 'text'],
  ])('refuses %s, and changes nothing', async (_, body, param) => {
    const refused = await gateway.admin('PUT', PATH, body);
    expect([400, 422]).toContain(refused.status);
    expect(JSON.stringify(refused.body)).toContain(param);
    expect((await gateway.admin('GET', PATH)).body.in_use).toBe('shipped');
  });

  it('refuses what is too large', async () => {
    const text = ' '.repeat(9 * 1024 * 1024);
    const refused = await gateway.admin('PUT', PATH, { ...GIVEN, text });
    expect(refused.status).toBe(413);
  });

  it('is for keys with the scope admin alone, and knows no other method', async () => {
    for (const method of ['GET', 'PUT', 'DELETE'])
      expect(
        (await gateway.call(method, PATH, method === 'GET' ? {} : { body: GIVEN })).status,
        method,
      ).toBe(403);
    expect((await gateway.call('GET', PATH, { key: 'sk-nobody' })).status).toBe(401);
    expect((await gateway.admin('POST', PATH, GIVEN)).status).toBe(405);
  });
});
