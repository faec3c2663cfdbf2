import { beforeEach, describe, expect, it } from 'vitest';
import { verifies } from '../requirements.ts';
import { dump, makeResources, MASTER_KEY } from './make-resources.ts';
import type { Resources } from './make-resources.ts';

const CANARY = 'canary-5f1c0e9d';

describe('providers', () => {
  let resources: Resources;
  let call: Resources['call'];

  beforeEach(() => {
    resources = makeResources();
    call = resources.call;
  });

  const create = (body: object = {}) =>
    call('POST providers', { body: { name: 'one', type: 'openai', api_key: CANARY, ...body } });
  const revealed = async (from = resources) => {
    const definition = from.repository.definitionOf('provider');
    const stored = await from.repository.find(definition, 'one', { organization: null });
    return stored && from.repository.reveal(stored, 'api_key');
  };

  it('show that a key is configured, and give it to nobody but the gateway', async () => {
    const { body } = await create();
    expect(body).toMatchObject({ provider_type: 'openai', api_key_configured: true });
    expect(body).not.toHaveProperty('api_key');
    expect(await revealed()).toBe(CANARY);
  });

  it('count a key as changed only when it is another one', async () => {
    await create();
    const sealed = await dump(resources.store);
    const same = await call('PATCH providers/one', { body: { api_key: CANARY } });
    expect(same.body['version']).toBe(1);
    expect(await dump(resources.store)).toBe(sealed);
    const other = await call('PATCH providers/one', { body: { api_key: 'another-key' } });
    expect(other.body['version']).toBe(2);
    expect(await revealed()).toBe('another-key');
    const kept = await call('PATCH providers/one', { body: { enabled: false } });
    expect(kept.body['api_key_configured']).toBe(true);
    const none = await call('PATCH providers/one', { body: { api_key: null } });
    expect(none.body['api_key_configured']).toBe(false);
    expect(await revealed()).toBeUndefined();
  });

  it(
    verifies(
      'store.secrets.key-rotation',
      'open under the former master key beside a new one, and can be written anew without it',
    ),
    async () => {
      await create();
      const next = Buffer.from('a newer master key of 32 letters');
      expect(await revealed(resources.other([next, MASTER_KEY]))).toBe(CANARY);
      const alone = resources.other([next]);
      await expect(revealed(alone)).rejects.toThrow(/another master key/);
      expect((await alone.call('PATCH providers/one', { body: { api_key: CANARY } })).status).toBe(
        200,
      );
      expect(await revealed(alone)).toBe(CANARY);
    },
  );

  it('take type and provider_type, so that a view can be sent back', async () => {
    const { body } = await create();
    const { id, ...view } = body;
    expect((await call(`PATCH providers/${id}`, { body: view })).body['version']).toBe(1);
    const other = await call('POST providers', {
      body: { name: 'two', provider_type: 'anthropic', api_key: 'k' },
    });
    expect(other.body['provider_type']).toBe('anthropic');
    const list = await call('GET providers', { query: 'provider_type=anthropic' });
    expect(list.body['data']).toHaveLength(1);
  });

  it.each([
    [400, 'type', { type: undefined }],
    [400, 'type', { type: 'opnai' }],
    [400, 'base_url', { type: 'custom' }],
    [400, 'headers', { headers: { host: 'elsewhere' } }],
    [400, 'auth', { auth: { type: 'magic' } }],
    [400, 'auth', { auth: { type: 'header' } }],
    [400, 'auth', { api_key: null, auth: { type: 'client', name: 'x-key' } }],
    [400, 'headers', { api_key: null, auth: { type: 'client' }, headers: { authorization: 'x' } }],
    [400, 'protocols', { protocols: { telepathy: true } }],
    [400, 'stream_usage', { stream_usage: 1 }],
    [422, 'base_url', { base_url: 'not a url' }],
  ])('answer %i for a bad %s', async (status, field, body) => {
    const refused = await create(body);
    expect([refused.status, refused.body['param']?.split(/[.[]/)[0]]).toEqual([status, field]);
    expect(JSON.stringify(refused.body)).not.toContain(CANARY);
    expect((await call('GET providers')).body['data']).toEqual([]);
  });

  it(
    verifies('providers.client-auth', 'lose their key where clients send theirs, and take none'),
    async () => {
      const auth = { type: 'client' };
      await create();
      const changed = await call('PATCH providers/one', { body: { auth } });
      expect(changed.body).toMatchObject({ auth, api_key_configured: false });
      expect(await revealed()).toBeUndefined();
      const refused = await call('PATCH providers/one', { body: { api_key: CANARY } });
      expect(refused).toMatchObject({ status: 400, body: { param: 'api_key' } });
      const back = { auth: null, api_key: CANARY };
      expect((await call('PATCH providers/one', { body: back })).status).toBe(200);
      expect(await revealed()).toBe(CANARY);
      const both = await call('PATCH providers/one', { body: { auth, api_key: 'other' } });
      expect(both).toMatchObject({ status: 400, body: { param: 'api_key' } });
    },
  );

  it('put no write-only value into an error', async () => {
    for (const key of [[CANARY], { key: CANARY }, `${CANARY}\r\nx-injected: 1`]) {
      const refused = await create({ api_key: key });
      expect(refused.status).toBe(400);
      expect(JSON.stringify(refused.body)).not.toContain(CANARY);
    }
  });
});

describe('models', () => {
  let call: Resources['call'];

  beforeEach(async () => {
    call = makeResources().call;
    await call('POST providers', { body: { name: 'one', type: 'mock' } });
  });

  it('fill in the defaults of a route and show amounts and durations in one form', async () => {
    const { body } = await call('POST models', {
      body: {
        name: 'acme/fast',
        pricing: { input: 0.15, output: '10' },
        timeouts: { idle: 30 },
        routes: [
          { provider: 'one', pricing: { per_call: '0.000000001' }, timeouts: { total: '5m' } },
        ],
      },
    });
    expect(body).toMatchObject({
      model_type: 'llm',
      pricing: { input: '0.15', output: '10.00' },
      timeouts: { idle: '30s' },
      routes: [
        {
          provider: 'one',
          protocols: null,
          mapping: 'native',
          priority: 0,
          weight: 1,
          pricing: { per_call: '0.000000001' },
          timeouts: { total: '5m' },
          min_throughput: null,
          response_model: 'provider',
          enabled: true,
        },
      ],
    });
    const { id, ...view } = body;
    expect((await call(`PATCH models/${id}`, { body: view })).body).toEqual(body);
  });

  it('replace a list or an object whole', async () => {
    const body = { name: 'm', capabilities: ['tools', 'vision'], pricing: { input: 1, output: 2 } };
    await call('POST models', { body });
    const patch = { capabilities: ['vision'], pricing: { input: '1.00' } };
    expect((await call('PATCH models/m', { body: patch })).body).toMatchObject(patch);
    const view = (await call('GET models/m')).body;
    expect([view['pricing'], view['version']]).toEqual([{ input: '1.00' }, 2]);
  });

  it(
    verifies('resource.body.unknown-fields', 'leave out unknown members at any depth'),
    async () => {
      const { body } = await call('POST models', {
        body: { name: 'm', routes: [{ provider: 'one', future: 1 }], pricing: { future: 2 } },
      });
      expect(JSON.stringify(body)).not.toContain('future');
    },
  );

  it.each([
    [400, 'type', { type: 'telepathy' }],
    [400, 'routes[0].provider', { routes: [{}] }],
    [400, 'routes[0].mapping', { routes: [{ provider: 'one', mapping: 'x' }] }],
    [400, 'routes[0].protocols[0]', { routes: [{ provider: 'one', protocols: ['x'] }] }],
    [400, 'pricing.input', { pricing: { input: true } }],
    [422, 'routes[0].weight', { routes: [{ provider: 'one', weight: 0 }] }],
    [422, 'routes[0].priority', { routes: [{ provider: 'one', priority: -1 }] }],
    [422, 'pricing.input', { pricing: { input: '-1' } }],
    [422, 'timeouts.idle', { timeouts: { idle: 'soon' } }],
    [422, 'timeouts.idle', { timeouts: { idle: -1 } }],
    [422, 'name', { name: 'with a blank' }],
  ])('answer %i at %s', async (status, param, body) => {
    const refused = await call('POST models', { body: { name: 'm', ...body } });
    expect([refused.status, refused.body['param']]).toEqual([status, param]);
  });

  it('are listed by the time of their creation', async () => {
    const resources = makeResources();
    for (const name of ['a', 'b', 'c']) {
      await resources.call('POST models', { body: { name } });
      resources.clock.advance(1000);
    }
    const names = async (query: string) =>
      (await resources.call('GET models', { query })).body['data'].map((one: any) => one.name);
    expect(await names('created_at[gte]=2026-11-21T00:00:01Z')).toEqual(['b', 'c']);
    expect(await names('created_at[gt]=2026-11-21T01:00:01%2B01:00')).toEqual(['c']);
    expect(await names('created_at[lt]=2026-11-21T00:00:01Z')).toEqual(['a']);
    expect(await names('created_at[lte]=2026-11-21T00:00:01Z&created_at[gt]=2026-11-21')).toEqual([
      'b',
    ]);
    const bad = await resources.call('GET models', { query: 'created_at[gt]=yesterday' });
    expect(bad).toMatchObject({ status: 400, body: { param: 'created_at[gt]' } });
  });
});
