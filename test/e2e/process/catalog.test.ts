import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verifies } from '../../requirements.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';

const TYPES = ['llm', 'embedding', 'image', 'video', 'audio', 'api'];

describe('the model catalog', () => {
  let gateway: TestGateway;

  beforeAll(async () => {
    const clock = createFakeClock();
    const routes = [{ provider: 'secret-account' }];
    gateway = await startGateway(
      {
        providers: [{ name: 'secret-account', type: 'mock' }],
        models: [
          { name: 'acme/fast', display_name: 'Lightning', routes },
          { name: 'acme/slow', routes },
          { name: 'Acme/loud', routes },
          { name: 'zeta/deep/er', routes },
          ...TYPES.slice(1).map((type) => ({ name: `acme/${type}`, type, routes })),
          {
            name: 'acme/rich',
            type: 'llm',
            description: 'Does much.',
            capabilities: ['tools', 'vision'],
            schema: { type: 'object', required: ['messages'] },
            max_output_tokens: 4096,
            pricing: { input: '1.25', output: '10', per_call: '0.01' },
            routes,
          },
          { name: 'acme/off', enabled: false, routes },
        ],
      },
      { clock },
    );
    clock.step(60_000);
    const late = await gateway.admin('POST', '/admin/v1/models', { name: 'acme/new', routes });
    expect(late.status).toBe(201);
  });
  afterAll(() => gateway.stop());

  const list = async (query = ''): Promise<string[]> => {
    const { status, body } = await gateway.call('GET', `/v1/models${query}`);
    expect(status).toBe(200);
    return body.data.map(({ id }: { id: string }) => id);
  };
  const LLMS = ['Acme/loud', 'acme/fast', 'acme/new', 'acme/rich', 'acme/slow', 'zeta/deep/er'];

  it(
    verifies(
      'catalog.list.items',
      'catalog.list.envelope',
      'lists items of four members in one envelope, without a word of providers',
    ),
    async () => {
      const { body } = await gateway.call('GET', '/v1/models?type=');
      expect(Object.keys(body).sort()).toEqual(['data', 'has_more', 'object']);
      expect(body).toMatchObject({ object: 'list', has_more: false });
      for (const item of body.data) {
        expect(Object.keys(item).sort()).toEqual(['created', 'id', 'object', 'owned_by']);
        expect(item).toMatchObject({ object: 'model', owned_by: item.id.split('/')[0] });
        expect(Number.isInteger(item.created)).toBe(true);
      }
      expect(JSON.stringify(body)).not.toContain('secret-account');
      const { body: detail } = await gateway.call('GET', '/v1/models/acme/rich');
      expect(JSON.stringify(detail)).not.toContain('secret-account');
    },
  );

  it(
    verifies('catalog.list.envelope', 'is one page to an unmodified chat-style client'),
    async () => {
      const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.clientKey });
      const seen: string[] = [];
      for await (const model of await client.models.list()) seen.push(model.id);
      expect(seen).toEqual(LLMS);
      expect(await client.models.retrieve('acme/fast')).toMatchObject({ id: 'acme/fast' });
    },
  );

  it(
    verifies(
      'catalog.list.type',
      'catalog.list.type-empty-all',
      'lists language models, the type asked for, or all',
    ),
    async () => {
      expect(await list()).toEqual(LLMS);
      for (const type of TYPES.slice(1))
        expect(await list(`?type=${type}`)).toEqual([`acme/${type}`]);
      expect(await list('?type=llm')).toEqual(LLMS);
      expect(await list('?type=nothing')).toEqual([]);
      const all = [...LLMS, ...TYPES.slice(1).map((type) => `acme/${type}`)].sort();
      expect(await list('?type=')).toEqual(all);
    },
  );

  it(
    verifies(
      'catalog.list.q',
      'catalog.list.vendor-exact',
      'filters by text in any case and by the exact vendor, together',
    ),
    async () => {
      expect(await list('?q=FAST')).toEqual(['acme/fast']);
      expect(await list('?q=lightn')).toEqual(['acme/fast']);
      expect(await list('?q=.*')).toEqual([]);
      expect(await list('?vendor=Acme')).toEqual(['Acme/loud']);
      expect(await list('?vendor=acm')).toEqual([]);
      expect(await list('?q=e&vendor=zeta')).toEqual(['zeta/deep/er']);
      expect(await list('?q=acme/&vendor=acme&type=image')).toEqual(['acme/image']);
      expect(await list('?q=fast&type=image')).toEqual([]);
    },
  );

  it(verifies('catalog.list.order', 'orders by id or age'), async () => {
    expect(await list('?order=asc')).toEqual(LLMS);
    expect(await list('?order=desc')).toEqual(LLMS.toReversed());
    expect((await list('?order=newest'))[0]).toBe('acme/new');
    expect((await list('?order=oldest')).at(-1)).toBe('acme/new');
    const bad = await gateway.call('GET', '/v1/models?order=sideways');
    expect(bad).toMatchObject({ status: 400, body: { error: expect.stringContaining('order') } });
  });

  it(verifies('catalog.list.not-paginated', 'holds every model in one answer'), async () => {
    expect(await list('?limit=1&page=2&after=acme/fast')).toEqual(LLMS);
  });

  it(verifies('catalog.get.slashes', 'finds a model by its name, encoded or not'), async () => {
    for (const path of ['acme/fast', 'acme%2Ffast', 'acme%2ffast'])
      expect((await gateway.call('GET', `/v1/models/${path}`)).body.id).toBe('acme/fast');
    expect((await gateway.call('GET', '/v1/models/zeta/deep%2Fer')).body.id).toBe('zeta/deep/er');
  });

  it(
    verifies('catalog.get.metadata', 'adds capabilities, schema and prices; else 404'),
    async () => {
      const { body: item } = await gateway.call('GET', '/v1/models/acme/rich');
      expect(item).toMatchObject({
        id: 'acme/rich',
        object: 'model',
        owned_by: 'acme',
        type: 'llm',
        description: 'Does much.',
        capabilities: ['tools', 'vision'],
        schema: { type: 'object', required: ['messages'] },
        max_output_tokens: 4096,
        pricing: { currency: 'USD', input: '1.25', output: '10.00', per_call: '0.01' },
      });
      for (const path of ['acme/none', 'acme', 'acme/off', '%ff', 'acme/fast//'])
        expect(await gateway.call('GET', `/v1/models/${path}`)).toMatchObject({
          status: 404,
          body: { error: 'model not found' },
        });
    },
  );
});
