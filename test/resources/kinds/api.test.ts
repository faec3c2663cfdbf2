import { beforeEach, describe, expect, it } from 'vitest';
import { dump, makeResources } from '../make-resources.ts';
import type { Resources } from '../make-resources.ts';

const CANARY = 'canary-9a4d1c7e';

describe('APIs', () => {
  let resources: Resources;
  let call: Resources['call'];

  beforeEach(() => {
    resources = makeResources();
    call = resources.call;
  });

  const create = (body: object = {}) =>
    call('POST apis', {
      body: { name: 'acme', base_url: 'https://api.example/v1', api_key: CANARY, ...body },
    });

  it('show all but their credential, which is sealed', async () => {
    const { status, body } = await create();
    expect(status).toBe(201);
    expect(body).toMatchObject({
      type: 'api',
      name: 'acme',
      base_url: 'https://api.example/v1',
      auth: { type: 'bearer' },
      methods: ['GET', 'POST'],
      paths: ['/**'],
      headers: {},
      response_headers: [],
      pricing: null,
      usage: {},
      enabled: true,
      api_key_configured: true,
    });
    expect(JSON.stringify(body)).not.toContain(CANARY);
    expect(await dump(resources.store)).not.toContain(CANARY);
    const definition = resources.repository.definitionOf('api');
    const stored = await resources.repository.find(definition, 'acme', { organization: null });
    expect(stored && resources.repository.reveal(stored, 'api_key')).toBe(CANARY);
  });

  it('take a price per call and per number of an answer', async () => {
    const { body } = await create({
      pricing: { per_call: 0.01, input: '2' },
      usage: { input: { field: '$.usage.total_tokens' }, seconds: { field: '$.s', most: 60 } },
    });
    expect(body).toMatchObject({
      pricing: { per_call: '0.01', input: '2.00' },
      usage: {
        input: { field: '$.usage.total_tokens', most: 100_000 },
        seconds: { field: '$.s', most: 60 },
      },
    });
  });

  it.each([
    [422, 'name', { name: 'a/b' }],
    [422, 'name', { name: '..' }],
    [422, 'name', { name: '-a' }],
    [400, 'base_url', { base_url: undefined }],
    [422, 'base_url', { base_url: 'ftp://api.example' }],
    [422, 'base_url', { base_url: 'file:///etc/passwd' }],
    [400, 'base_url', { base_url: 'https://user:pass@api.example' }],
    [400, 'base_url', { base_url: 'https://api.example/#a' }],
    [400, 'auth', { auth: { type: 'basic' } }],
    [400, 'auth.name', { auth: { type: 'header', name: 'Host' } }],
    [422, 'auth.name', { auth: { type: 'header', name: 'a b' } }],
    [400, 'auth.key_id', { auth: { type: 'signature' } }],
    [400, 'headers', { headers: { 'transfer-encoding': 'chunked' } }],
    [400, 'headers', { headers: { 'x-a': 'a\r\nb: c' } }],
    [400, 'methods', { methods: ['DELETE'] }],
    [400, 'methods', { methods: [] }],
    [400, 'paths', { paths: [] }],
    [400, 'paths[1]', { paths: ['/a', 'b'] }],
    [400, 'paths[0]', { paths: ['/a/../b'] }],
    [400, 'paths[0]', { paths: ['/**/b'] }],
    [400, 'paths[0]', { paths: ['/a*'] }],
    [400, 'paths[0]', { paths: ['/a%2fb'] }],
    [400, 'response_headers[0]', { response_headers: ['Set-Cookie'] }],
    [400, 'response_headers[0]', { response_headers: ['x-ratelimit-remaining'] }],
    [400, 'usage.input.field', { usage: { input: { field: 'total' } } }],
    [422, 'usage.input.most', { usage: { input: { field: '$.a', most: 0 } } }],
    [400, 'api_key', { api_key: 'a\nb' }],
  ])('are refused with %i for their %s: %j', async (status, param, body) => {
    const refused = await create(body);
    expect(refused.status, JSON.stringify(refused.body)).toBe(status);
    expect(String(refused.body['param'])).toContain(param);
    expect(JSON.stringify(refused.body)).not.toContain(CANARY);
  });

  it('take their credential later, or none at all', async () => {
    const { body } = await create({ api_key: undefined });
    expect(body['api_key_configured']).toBe(false);
    const later = await call('PATCH apis/acme', { body: { api_key: CANARY } });
    expect(later.body).toMatchObject({ api_key_configured: true, version: 2 });
    const again = await call('PATCH apis/acme', { body: { api_key: CANARY } });
    expect(again.body['version']).toBe(2);
    const none = await create({ name: 'open', api_key: undefined, auth: { type: 'none' } });
    expect(none.status).toBe(201);
  });

  it('have names of their own', async () => {
    await create();
    expect((await create()).status).toBe(409);
    expect((await call('GET apis')).body['data']).toHaveLength(1);
    expect((await call('GET apis/acme')).body['name']).toBe('acme');
    expect((await call('DELETE apis/acme')).status).toBe(200);
    expect((await call('GET apis/acme')).status).toBe(404);
  });
});
