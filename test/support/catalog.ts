import type { ProviderAccount } from '../../src/providers/account.ts';
import { defineProvider } from '../../src/providers/define-provider.ts';
import type { Catalog, Model, Route } from '../../src/routing/catalog.ts';

export function fakeAccount(
  name: string,
  overrides: Partial<ProviderAccount> = {},
): ProviderAccount {
  const definition = defineProvider({
    id: 'custom',
    displayName: name,
    auth: { type: 'bearer' },
    protocols: { chat: { path: '/chat/completions' } },
  });
  return {
    id: `prov_${name}`,
    name,
    definition,
    baseUrl: 'http://127.0.0.1:9/v1',
    auth: definition.auth,
    credential: 'upstream-secret-value',
    protocols: definition.protocols,
    headers: {},
    quirks: {},
    headerSpelling: 'vendor',
    dropBetas: [],
    refuseBetas: [],
    noStreamUsage: false,
    mock: undefined,
    ...overrides,
  };
}

export function fakeRoute(provider: string, overrides: Partial<Route> = {}): Route {
  return {
    id: `${provider}/model`,
    provider: fakeAccount(provider),
    upstreamModel: 'model',
    protocols: new Set(['chat']),
    mapping: 'native',
    priority: 0,
    weight: 1,
    pricing: {},
    timeouts: { firstContent: 120_000, wholeAnswer: 600_000, idle: 120_000, total: 600_000 },
    minThroughput: undefined,
    declared: {},
    responseModel: 'provider',
    capabilities: {},
    ...overrides,
  };
}

export function fakeModel(id: string, routes: Route[], overrides: Partial<Model> = {}): Model {
  return {
    id,
    resourceId: `model_${id}`,
    type: 'llm',
    displayName: id,
    description: null,
    vendor: id.split('/')[0] ?? id,
    created: 1,
    capabilities: [],
    schema: null,
    pricing: {},
    maxOutputTokens: undefined,
    strategy: 'priority',
    fallbacks: [],
    routes,
    ...overrides,
  };
}

export function fakeCatalog(...models: Model[]): Catalog {
  return {
    fingerprint: 'test',
    models: new Map(models.map((model) => [model.id, model])),
    apis: new Map(),
    accounts: models.flatMap(({ routes }) => routes.map(({ provider }) => provider)),
    open: [],
    shown: () => models,
    withAnyVendor: (name) => models.filter(({ id, vendor }) => id === `${vendor}/${name}`),
    stepsTo: (name) =>
      models.some(({ id }) => id === name) ? [{ rule: 'model', by: name, gives: name }] : [],
  };
}
