import { describe, expect, it } from 'vitest';
import { FREE } from '../../src/usage/usage.ts';
import { createModelGet, createModelsList, isVisible } from '../../src/surfaces/models.ts';
import { fakeModel, fakeRoute } from '../support/catalog.ts';
import { verifies } from '../requirements.ts';
import { codeOf, principal } from '../usage/usage-fixtures.ts';
import { bodyOf, KEY, modelsDeps } from './model-requests.ts';

const MODELS = [
  fakeModel('b/two', [], { created: 3, displayName: 'Second' }),
  fakeModel('a/one', [], { created: 3, displayName: 'First' }),
  fakeModel('a/image', [], { created: 5, type: 'image' }),
  fakeModel('c/three', [], { created: 1 }),
];

async function idsOf(search = '', listing = {}): Promise<string[]> {
  const { deps } = modelsDeps({ models: MODELS, ...listing });
  const body = (await bodyOf(createModelsList(deps), { search })) as { data: { id: string }[] };
  return body.data.map(({ id }) => id);
}

describe('the list of models', () => {
  it('shows language models in the order of their ids', async () => {
    const { deps, inFlight } = modelsDeps({ models: MODELS.slice(1, 2) });
    expect(await bodyOf(createModelsList(deps))).toEqual({
      object: 'list',
      data: [{ id: 'a/one', object: 'model', created: 3, owned_by: 'a' }],
      has_more: false,
    });
    expect(inFlight()).toBe(0);
  });

  it(
    verifies(
      'models.open',
      'names providers that serve more, and why a list failed to admins alone',
    ),
    async () => {
      const open = [{ provider: 'up', patterns: ['*'], listed: 0, problem: 'refused' }];
      const openFor = async (payer: object) => {
        const { deps } = modelsDeps({ models: MODELS, open, payer });
        const body = await bodyOf(createModelsList(deps), { search: '?details=true' });
        return (body as { open: unknown }).open;
      };
      const { problem: _problem, ...shown } = open[0] ?? expect.fail();
      expect(await openFor({ scopes: new Set(['models', 'admin']) })).toEqual(open);
      expect(await openFor({ scopes: null })).toEqual([shown]);
      expect(await openFor({ allowedModels: ['a/*'] })).toEqual([]);
      expect(await openFor({ allowedModels: ['up/*'] })).toEqual([shown]);
    },
  );

  it.each([
    ['', ['a/one', 'b/two', 'c/three']],
    ['?order=', ['a/one', 'b/two', 'c/three']],
    ['?order=asc', ['a/one', 'b/two', 'c/three']],
    ['?order=desc', ['c/three', 'b/two', 'a/one']],
    ['?order=newest', ['a/one', 'b/two', 'c/three']],
    ['?order=oldest', ['c/three', 'a/one', 'b/two']],
    ['?type=image', ['a/image']],
    ['?type=', ['a/image', 'a/one', 'b/two', 'c/three']],
    ['?vendor=b', ['b/two']],
    ['?vendor=', ['a/one', 'b/two', 'c/three']],
    ['?q=ONE', ['a/one']],
    ['?q=second', ['b/two']],
    ['?q=', ['a/one', 'b/two', 'c/three']],
    ['?q=nothing', []],
    ['?q=t&vendor=c', ['c/three']],
  ])('with %j shows %j', async (search, ids) => {
    expect(await idsOf(search)).toEqual(ids);
  });

  it('shows a key the models that it may use alone', async () => {
    expect(await idsOf('', { payer: { allowedModels: ['b/*'] } })).toEqual(['b/two']);
  });

  it('refuses an order that there is not', async () => {
    const { deps } = modelsDeps({ models: MODELS });
    const refused = bodyOf(createModelsList(deps), { search: '?order=best' });
    await expect(refused).rejects.toMatchObject({ code: 'invalid_request', param: 'order' });
  });

  it('takes keys of other clients where every carrier is read', async () => {
    const headers = { 'x-api-key': KEY };
    const ask = (readsEveryCarrier: boolean) => {
      const { deps } = modelsDeps({ models: MODELS, readsEveryCarrier });
      return bodyOf(createModelsList(deps), { headers });
    };
    expect(await ask(true)).toMatchObject({ object: 'list' });
    expect(await codeOf(ask(false))).toBe('missing_api_key');
  });

  it('demands the scope of models', async () => {
    const { deps } = modelsDeps({ models: MODELS, payer: { scopes: new Set(['inference']) } });
    expect(await codeOf(bodyOf(createModelsList(deps)))).toBe('insufficient_scope');
  });
});

it('finds a model whose path ends with a slash', async () => {
  const { deps } = modelsDeps({ models: MODELS });
  const ask = (path: string) => bodyOf(createModelGet(deps), { path: `/v1/models/${path}` });
  expect(await ask('a/one/')).toEqual(await ask('a/one'));
  expect(await codeOf(ask('a/one//'))).toBe('model_not_found');
});

describe('the details of a list', () => {
  const route = fakeRoute('main', { upstreamModel: 'up', pricing: FREE });
  const model = fakeModel('a/one', [route], { contextWindow: 9, maxOutputTokens: 8 });
  const rowOf = async (scopes: ReadonlySet<string> | null, one = model, asked = 'true') => {
    const { deps } = modelsDeps({ models: [one], payer: { scopes } });
    const search = `?details=${asked}`;
    const { data } = (await bodyOf(createModelsList(deps), { search })) as { data: unknown[] };
    return data[0];
  };

  it('leave out what routes cost and who serves them', async () => {
    expect(await rowOf(null)).toMatchObject({
      id: 'a/one',
      display_name: 'a/one',
      type: 'llm',
      context_window: 9,
      max_output_tokens: 8,
      pricing: { currency: 'USD', per_call: null },
      protocols: ['chat', 'messages'],
    });
    expect(await rowOf(null)).toHaveProperty('routes', [{ protocols: ['chat'] }]);
  });

  it('tell administrators', async () => {
    expect(await rowOf(new Set(['admin', 'models']))).toHaveProperty('routes', [
      {
        protocols: ['chat'],
        provider: 'main',
        upstream_model: 'up',
        pricing: expect.objectContaining({ per_call: '0.00' }) as unknown,
      },
    ]);
  });

  it('are null where a size is not known', async () => {
    expect(await rowOf(null, fakeModel('a', []))).toMatchObject({
      context_window: null,
      max_output_tokens: null,
    });
  });

  it('are shown on demand alone', async () => {
    expect(await rowOf(null, model, 'false')).not.toHaveProperty('routes');
  });
});

describe('one model', () => {
  const get = (path: string, model = MODELS[1] ?? fakeModel('a/one', []), payer = {}) => {
    const { deps, inFlight } = modelsDeps({ models: [model], payer });
    const body = bodyOf(createModelGet(deps), { path: `/v1/models/${path}` });
    return body.finally(() => expect(inFlight()).toBe(0));
  };

  it('is shown whole', async () => {
    const model = fakeModel('a/one', [fakeRoute('main')], {
      description: 'told',
      capabilities: ['vision'],
      contextWindow: 9,
      maxOutputTokens: 8,
      schema: { type: 'string' },
    });
    expect(await get('a/one', model)).toMatchObject({
      id: 'a/one',
      object: 'model',
      created: 1,
      owned_by: 'a',
      display_name: 'a/one',
      description: 'told',
      type: 'llm',
      capabilities: ['vision'],
      context_window: 9,
      max_output_tokens: 8,
      schema: { type: 'string' },
      pricing: { currency: 'USD' },
      protocols: { chat: [{ provider_protocol: 'chat', translated: false }] },
      routes: [{ capabilities: { chat: {} } }],
    });
  });

  it('takes any object and has no known sizes unless it says so', async () => {
    expect(await get('a/one')).toMatchObject({
      schema: { type: 'object' },
      context_window: null,
      max_output_tokens: null,
    });
  });

  it('is found by its name, percent-encoded or not', async () => {
    expect(await get('a%2Fone')).toMatchObject({ id: 'a/one' });
    expect(await codeOf(get('a'))).toBe('model_not_found');
    expect(await codeOf(get('%zz'))).toBe('model_not_found');
  });

  it('is not found with a key that may not use it', async () => {
    const refused = get('a/one', undefined, { allowedModels: ['b/*'] });
    expect(await codeOf(refused)).toBe('model_not_found');
  });
});

it.each([
  [['x', 'a/one'], 'x', true],
  [['x'], 'x', false],
  [['a/one'], 'x', false],
  [['a/one'], undefined, true],
])('a key of %j may see a model by the name %s: %s', (allowedModels, asked, visible) => {
  expect(isVisible(fakeModel('a/one', []), principal({ allowedModels }), asked)).toBe(visible);
});

it('a key that sees another name of a model must be allowed the model too', () => {
  const model = { ...fakeModel('fast', []), aliasOf: 'a/one' };
  expect(isVisible(model, principal({ allowedModels: ['fast'] }))).toBe(false);
  expect(isVisible(model, principal({ allowedModels: ['fast', 'a/one'] }))).toBe(true);
});
