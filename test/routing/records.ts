import type {
  AccountRecord,
  ApiRecord,
  CatalogDefaults,
  ModelRecord,
  RouteRecord,
} from '../../src/routing/resolve-model.ts';
import { fakeAccount } from '../support/catalog.ts';

export const MADE = '2026-11-21T00:00:00.000Z';
export const MADE_S = Date.parse(MADE) / 1000;

export const DEFAULTS: CatalogDefaults = {
  timeouts: { firstContent: 1, idle: 2, total: 3 },
  firstContentSet: false,
};

export function routeRecord(provider: string, overrides: Partial<RouteRecord> = {}): RouteRecord {
  return {
    provider,
    upstream_model: 'up',
    mapping: 'native',
    priority: 0,
    weight: 1,
    response_model: 'provider',
    enabled: true,
    ...overrides,
  };
}

export function modelRecord(name: string, overrides: Partial<ModelRecord> = {}): ModelRecord {
  return {
    id: `model_${name}`,
    name,
    model_type: 'llm',
    display_name: null,
    description: null,
    enabled: true,
    capabilities: [],
    schema: null,
    max_output_tokens: null,
    strategy: 'priority',
    fallbacks: [],
    routes: [],
    version: 1,
    created_at: MADE,
    ...overrides,
  };
}

export function accountRecord(name: string, overrides: Partial<AccountRecord> = {}): AccountRecord {
  return {
    account: fakeAccount(name),
    enabled: true,
    models: null,
    created_at: MADE,
    version: 1,
    ...overrides,
  };
}

export function apiRecord(name: string, overrides: Partial<ApiRecord> = {}): ApiRecord {
  return {
    id: `api_${name}`,
    target: {
      name,
      origin: 'http://127.0.0.1:9',
      basePath: '',
      baseQuery: '',
      auth: { type: 'none' },
      secret: undefined,
      headers: {},
      methods: ['GET'],
      paths: [],
      responseHeaders: [],
      usage: [],
    },
    display_name: null,
    description: null,
    enabled: true,
    version: 1,
    created_at: MADE,
    ...overrides,
  };
}
