import { describe, expect, it } from 'vitest';
import type { Capabilities } from '../../src/protocols/capabilities/capabilities.ts';
import { defineProvider } from '../../src/providers/define-provider.ts';
import type { ProviderDefinition } from '../../src/providers/define-provider.ts';
import { PROVIDERS } from '../../src/providers/registry.ts';
import { toApi, toApiModel, toModel, toPassedThrough } from '../../src/routing/resolve-model.ts';
import type {
  AccountRecord,
  CatalogDefaults,
  ModelRecord,
} from '../../src/routing/resolve-model.ts';
import { FREE } from '../../src/usage/usage.ts';
import { verifies } from '../requirements.ts';
import { fakeAccount } from '../support/catalog.ts';
import { accountRecord, apiRecord, DEFAULTS, MADE_S, modelRecord, routeRecord } from './records.ts';

const ACME = accountRecord('acme');

const resolve = (
  record: ModelRecord,
  {
    accounts = [ACME],
    ...defaults
  }: Partial<CatalogDefaults> & { accounts?: AccountRecord[] } = {},
) =>
  toModel(record, (name) => accounts.find(({ account }) => account.name === name), {
    ...DEFAULTS,
    ...defaults,
  });

/** Prices of one upstream model of one type of provider. */
const published = (facts: { contextWindow?: number; description?: string } = {}) => ({
  find: (type: string, upstream: string) =>
    type === 'custom' && upstream === 'up'
      ? { pricing: { input: 5 }, contextWindow: undefined, description: undefined, ...facts }
      : undefined,
});

describe('a route', () => {
  const takes = (definition: ProviderDefinition, capabilities?: Partial<Capabilities>) => {
    const server = accountRecord('server', {
      account: { ...fakeAccount('server'), definition },
    });
    const routes = [routeRecord('server', { capabilities })];
    return resolve(modelRecord('m', { routes }), { accounts: [server] }).routes[0]?.capabilities;
  };

  it(
    verifies(
      'capabilities.system-texts',
      'has the capabilities of its type of provider, unless it states others',
    ),
    () => {
      for (const type of ['llamacpp', 'lmstudio', 'sglang', 'vllm', 'ollama', 'custom', 'mistral'])
        expect(takes(PROVIDERS.get(type)!), type).toMatchObject({ system_turns: false });
      expect(takes(PROVIDERS.get('mistral')!)).toMatchObject({ exact_tool_id_length: 9 });
      expect(takes(PROVIDERS.get('openai')!)).toEqual({});
      const stated = { system_turns: true, penalties: false };
      expect(takes(PROVIDERS.get('vllm')!, stated)).toEqual(stated);
    },
  );
});

describe('a model', () => {
  it('is what its record says', () => {
    const record = modelRecord('acme/fast', {
      display_name: 'Fast',
      description: 'Quick answers',
      capabilities: ['vision'],
      schema: { type: 'object' },
      context_window: 100,
      max_output_tokens: 10,
      pricing: { input: '1' },
      strategy: 'sticky',
      fallbacks: ['acme/slow'],
    });
    expect(resolve(record)).toEqual({
      id: 'acme/fast',
      resourceId: 'model_acme/fast',
      type: 'llm',
      displayName: 'Fast',
      description: 'Quick answers',
      vendor: 'acme',
      created: MADE_S,
      capabilities: ['vision'],
      schema: { type: 'object' },
      pricing: { input: 1_000 },
      contextWindow: 100,
      maxOutputTokens: 10,
      strategy: 'sticky',
      fallbacks: ['acme/slow'],
      routes: [],
    });
  });

  it('is shown by its name where no other is declared', () => {
    expect(resolve(modelRecord('acme/fast'))).toMatchObject({
      displayName: 'acme/fast',
      description: null,
      maxOutputTokens: undefined,
    });
  });

  it.each([
    ['acme/fast', 'acme'],
    ['acme/sub/fast', 'acme'],
    ['fast', 'gateway'],
  ])('%s is of the vendor %s', (name, vendor) => {
    expect(resolve(modelRecord(name)).vendor).toBe(vendor);
  });

  it('was made in the whole second that its record tells', () => {
    const record = modelRecord('a', { created_at: '2026-11-21T00:00:00.999Z' });
    expect(resolve(record).created).toBe(MADE_S);
  });

  it('has what its first route publishes where it says nothing itself', () => {
    const prices = published({ contextWindow: 9, description: 'told' });
    const routes = [routeRecord('acme')];
    expect(resolve(modelRecord('a', { routes }), { prices })).toMatchObject({
      contextWindow: 9,
      description: 'told',
    });
    const own = { routes, context_window: 1, description: 'own' };
    expect(resolve(modelRecord('a', own), { prices })).toMatchObject({
      contextWindow: 1,
      description: 'own',
    });
    expect(resolve(modelRecord('a'), { prices }).contextWindow).toBeUndefined();
  });
});

describe('the routes of a model', () => {
  it('are the enabled ones of enabled providers, named by their place in the record', () => {
    const routes = [
      routeRecord('acme', { enabled: false }),
      routeRecord('gone'),
      routeRecord('off'),
      routeRecord('acme', { upstream_model: 'other' }),
    ];
    const accounts = [ACME, accountRecord('off', { enabled: false })];
    const found = resolve(modelRecord('a', { routes }), { accounts }).routes;
    expect(found.map(({ id }) => id)).toEqual(['acme/other#3']);
  });

  it('are what their records say', () => {
    const routes = [
      routeRecord('acme', {
        mapping: 'translated',
        priority: 3,
        weight: 4,
        response_model: 'logical',
        capabilities: { tool_id_length: 20 },
        min_throughput: { bytes_per_second: 7, over: '2s' },
      }),
    ];
    expect(resolve(modelRecord('a', { routes })).routes).toEqual([
      {
        id: 'acme/up#0',
        provider: ACME.account,
        upstreamModel: 'up',
        protocols: new Set(['chat']),
        mapping: 'translated',
        priority: 3,
        weight: 4,
        pricing: {},
        timeouts: { firstContent: 1, wholeAnswer: 3, idle: 2, total: 3 },
        minThroughput: { bytesPerSecond: 7, over: 2_000 },
        responseModel: 'logical',
        capabilities: { tool_id_length: 20 },
        declared: { tool_id_length: 20 },
      },
    ]);
  });

  it('have no least throughput and no capabilities of their own unless they say so', () => {
    const routes = [routeRecord('acme', { capabilities: null })];
    const [route] = resolve(modelRecord('a', { routes })).routes;
    expect(route).toMatchObject({ minThroughput: undefined, capabilities: {} });
  });

  it('speak those of their protocols that their provider speaks', () => {
    const routes = [routeRecord('acme', { protocols: ['messages', 'chat'] })];
    const [route] = resolve(modelRecord('a', { routes })).routes;
    expect([...(route?.protocols ?? [])]).toEqual(['chat']);
    const none = [routeRecord('acme', { protocols: ['messages'] })];
    expect(resolve(modelRecord('a', { routes: none })).routes[0]?.protocols.size).toBe(0);
  });
});

describe('the timeouts of a route', () => {
  const server = { firstContent: 1, idle: 2, total: 3 };
  const timeoutsOf = (
    [route, model, provider]: readonly (string | null | undefined)[],
    name: 'first_content' | 'idle' | 'total',
    firstContentSet = false,
  ) => {
    const record = modelRecord('a', {
      timeouts: { [name]: model },
      routes: [routeRecord('acme', { timeouts: { [name]: route } })],
    });
    const accounts = [accountRecord('acme', { timeouts: { [name]: provider } })];
    const found = resolve(record, { accounts, timeouts: server, firstContentSet });
    return found.routes[0]?.timeouts;
  };

  it.each([
    [['5ms', '6ms', '7ms'], 5],
    [[null, '6ms', '7ms'], 6],
    [[undefined, null, '7ms'], 7],
    [['0ms', '6ms', '7ms'], 0],
  ] as const)('of %j are the nearest', (levels, expected) => {
    expect(timeoutsOf(levels, 'idle')).toMatchObject({ idle: expected, total: 3 });
    expect(timeoutsOf(levels, 'total')).toMatchObject({ total: expected, idle: 2 });
    expect(timeoutsOf(levels, 'first_content')).toMatchObject({
      firstContent: expected,
      wholeAnswer: expected,
    });
  });

  it('are the ones of the server where nobody says others', () => {
    const none = [null, undefined, null];
    expect(timeoutsOf(none, 'idle')).toEqual({ ...server, wholeAnswer: 3 });
    expect(timeoutsOf(none, 'idle', true)).toEqual({ ...server, wholeAnswer: 1 });
  });

  it('bound a whole answer by the total where nobody set the first content', () => {
    expect(timeoutsOf(['9ms'], 'total')?.wholeAnswer).toBe(9);
  });
});

describe('the pricing of a route', () => {
  const pricingOf = (
    model: ModelRecord['pricing'],
    route: ModelRecord['pricing'],
    options: Parameters<typeof resolve>[1] = { prices: published() },
  ) => {
    const routes = [routeRecord('acme', { pricing: route })];
    return resolve(modelRecord('a', { pricing: model, routes }), options).routes[0]?.pricing;
  };
  const definition = defineProvider({
    id: 'custom',
    displayName: 'own',
    auth: { type: 'bearer' },
    protocols: { chat: { path: '/chat' } },
    isFree: true,
  });
  const free = accountRecord('acme', { account: fakeAccount('acme', { definition }) });

  it('is the declared one alone, without what is published', () => {
    expect(pricingOf({ output: '1' }, null)).toEqual({ output: 1_000 });
    expect(pricingOf(null, { output: '2' })).toEqual({ output: 2_000 });
  });

  it('is the published one where none is declared', () => {
    expect(pricingOf(null, undefined)).toEqual({ input: 5 });
    expect(pricingOf(null, undefined, {})).toEqual({});
  });

  it('is nothing for a provider that is free, unless a price is declared', () => {
    const options = { accounts: [free], prices: published() };
    expect(pricingOf(null, null, options)).toBe(FREE);
    expect(pricingOf({ input: '1' }, null, options)).toEqual({ input: 1_000 });
  });
});

describe('the pricing that is shown of a model', () => {
  const routes = [routeRecord('acme')];

  it('is its own', () => {
    const record = modelRecord('a', { pricing: { input: '1' }, routes });
    expect(resolve(record, { prices: published() }).pricing).toEqual({ input: 1_000 });
  });

  it('is the one of its first route where nobody declares any', () => {
    const record = modelRecord('a', { routes });
    expect(resolve(record, { prices: published() }).pricing).toEqual({ input: 5 });
    expect(resolve(modelRecord('a'), { prices: published() }).pricing).toEqual({});
  });

  it('is unknown where its routes declare prices of their own', () => {
    const priced = [...routes, routeRecord('acme', { pricing: { input: '3' } })];
    const record = modelRecord('a', { routes: priced });
    expect(resolve(record, { prices: published() }).pricing).toEqual({});
  });
});

describe('a model that nobody declared', () => {
  it('is called by its provider, a slash and the name there', () => {
    const model = toPassedThrough(ACME, { name: 'sub/tts-1' }, DEFAULTS);
    expect(model).toMatchObject({
      id: 'acme/sub/tts-1',
      resourceId: 'prov_acme',
      type: 'audio',
      vendor: 'acme',
      displayName: 'acme/sub/tts-1',
      created: MADE_S,
      strategy: 'priority',
      routes: [
        {
          id: 'acme/sub/tts-1#0',
          provider: ACME.account,
          upstreamModel: 'sub/tts-1',
          mapping: 'native',
          priority: 0,
          weight: 1,
          responseModel: 'provider',
        },
      ],
    });
  });

  it('has the vendor that its provider is, and the time that the list tells', () => {
    const record = accountRecord('a/b');
    const model = toPassedThrough(record, { name: 'x', created: 0 }, DEFAULTS);
    expect(model).toMatchObject({ vendor: 'a/b', created: 0 });
  });
});

describe('an API', () => {
  it('has its pricing, and the timeouts of its own before those of the server', () => {
    const record = apiRecord('weather', { pricing: { per_call: '1' }, timeouts: { total: '9ms' } });
    expect(toApi(record, DEFAULTS)).toEqual({
      ...record.target,
      pricing: { perCall: 1_000_000_000 },
      timeouts: { firstContent: 1, wholeAnswer: 9, idle: 2, total: 9 },
    });
  });

  it('is listed as a model without routes', () => {
    expect(toApiModel(apiRecord('weather', { pricing: { per_call: '1' } }))).toMatchObject({
      id: 'weather',
      resourceId: 'api_weather',
      type: 'api',
      displayName: 'weather',
      description: null,
      vendor: 'weather',
      created: MADE_S,
      schema: {
        properties: { method: { enum: ['GET'] } },
        required: ['path'],
        additionalProperties: false,
      },
      pricing: { perCall: 1_000_000_000 },
      routes: [],
    });
    const named = apiRecord('weather', { display_name: 'Weather', description: 'Of today' });
    expect(toApiModel(named)).toMatchObject({ displayName: 'Weather', description: 'Of today' });
  });
});
