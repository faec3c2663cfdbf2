import { describe, expect, it } from 'vitest';
import { CatalogIndex } from '../../src/routing/catalog-index.ts';
import type { CatalogChanges } from '../../src/routing/catalog-index.ts';
import { fakeAccount } from '../support/catalog.ts';

const DEFAULTS = { timeouts: { firstContent: 1, idle: 1, total: 1 }, firstContentSet: false };
const MADE = '2026-11-21T00:00:00.000Z';
const NOTHING: CatalogChanges = {
  providers: new Map(),
  models: new Map(),
  aliases: new Map(),
  apis: new Map(),
};

interface Declared {
  providers?: Record<string, readonly string[] | null>;
  models?: Record<string, boolean>;
  aliases?: Record<string, string>;
}

function indexOf({ providers = {}, models = {}, aliases = {} }: Declared): CatalogIndex {
  const index = new CatalogIndex(DEFAULTS);
  index.change({
    ...NOTHING,
    providers: new Map(
      Object.entries(providers).map(([name, patterns]) => [
        `prov_${name}`,
        {
          account: fakeAccount(name),
          enabled: true,
          models: patterns,
          created_at: MADE,
          version: 1,
        },
      ]),
    ),
    models: new Map(
      Object.entries(models).map(([name, enabled]) => [name, modelRecord(name, enabled)]),
    ),
    aliases: new Map(
      Object.entries(aliases).map(([name, model]) => [
        name,
        { name, model, enabled: true, version: 1 },
      ]),
    ),
  });
  return index;
}

function modelRecord(name: string, enabled = true) {
  return {
    id: `model_${name}`,
    name,
    model_type: 'llm' as const,
    display_name: null,
    description: null,
    enabled,
    capabilities: [],
    schema: null,
    max_output_tokens: null,
    strategy: 'priority' as const,
    fallbacks: [],
    routes: [],
    version: 1,
    created_at: MADE,
  };
}

const idOf = (declared: Declared, name: string): string | undefined =>
  indexOf(declared).catalog.models.get(name)?.id;

describe('a model whose provider alone changes', () => {
  it('routes to the provider as it is now, and to none that is off', () => {
    const index = new CatalogIndex(DEFAULTS);
    const providerOf = (enabled: boolean, version: number) => {
      const account = fakeAccount('acme', { baseUrl: `http://127.0.0.1:${version}/v1` });
      return { account, enabled, models: null, created_at: MADE, version };
    };
    const put = (enabled: boolean, version: number): string[] => {
      const providers = new Map([['prov_acme', providerOf(enabled, version)]]);
      index.change({ ...NOTHING, providers });
      const routes = index.catalog.models.get('acme/fast')?.routes ?? [];
      return routes.map(({ provider }) => provider.baseUrl);
    };
    put(true, 1);
    const route = {
      provider: 'acme',
      upstream_model: 'fast',
      mapping: 'native' as const,
      priority: 0,
      weight: 1,
      response_model: 'provider' as const,
      enabled: true,
    };
    const model = { ...modelRecord('acme/fast'), routes: [route] };
    index.change({ ...NOTHING, models: new Map([['model_fast', model]]) });
    expect(put(true, 2)).toEqual(['http://127.0.0.1:2/v1']);
    expect(put(false, 3)).toEqual([]);
    expect(put(true, 4)).toEqual(['http://127.0.0.1:4/v1']);
  });
});

describe('a provider that serves models without declarations', () => {
  const all = { providers: { openai: ['*'] } };

  it('makes provider/model a model with one route, the name passed through', () => {
    const model = indexOf(all).catalog.models.get('openai/gpt-5-mini');
    expect(model).toMatchObject({ id: 'openai/gpt-5-mini', vendor: 'openai', type: 'llm' });
    expect(model?.routes).toMatchObject([
      { upstreamModel: 'gpt-5-mini', provider: { name: 'openai' }, mapping: 'native' },
    ]);
  });

  it('keeps slashes of the name of the provider', () => {
    const model = indexOf({ providers: { router: ['*'] } }).catalog.models.get('router/a/b:free');
    expect(model?.routes[0]?.upstreamModel).toBe('a/b:free');
  });

  it.each([
    ['openai/gpt-5', 'openai/gpt-5'],
    ['openai/o3', 'openai/o3'],
    ['openai/o3-pro', undefined],
    ['openai/', undefined],
    ['gpt-5', undefined],
    ['other/gpt-5', undefined],
    [`openai/gpt-${'x'.repeat(300)}`, undefined],
    ['openai/gpt-5 mini', undefined],
  ])('%s of the patterns gpt-* and o3 is %s', (name, expected) => {
    expect(idOf({ providers: { openai: ['gpt-*', 'o3'] } }, name)).toBe(expected);
  });

  it('takes the type from the name', () => {
    const { models } = indexOf(all).catalog;
    expect(models.get('openai/text-embedding-3-small')?.type).toBe('embedding');
    expect(models.get('openai/gpt-image-1')?.type).toBe('image');
    expect(models.get('openai/tts-1')?.type).toBe('audio');
    expect(models.get('openai/sora-2')?.type).toBe('video');
  });

  it('gives the same object until something changes, and keeps a bounded number', () => {
    const index = indexOf(all);
    const { catalog } = index;
    expect(catalog.models.get('openai/a')).toBe(catalog.models.get('openai/a'));
    const first = catalog.models.get('openai/a');
    for (let i = 0; i < 2_000; i++) catalog.models.get(`openai/m${i}`);
    expect(catalog.models.get('openai/a')).not.toBe(first);
    index.list('prov_openai', []);
    expect(index.catalog).not.toBe(catalog);
  });

  it('shows what it lists and matches, and not what is declared', () => {
    const index = indexOf({ providers: { openai: ['gpt-*'] }, models: { 'openai/gpt-5': true } });
    index.list('prov_openai', [
      { name: 'gpt-5' },
      { name: 'gpt-5-mini', created: 7 },
      { name: 'o3' },
    ]);
    const shown = index.catalog.shown().map(({ id, created }) => [id, created]);
    expect(shown).toEqual([
      ['openai/gpt-5', Date.parse(MADE) / 1000],
      ['openai/gpt-5-mini', 7],
    ]);
    index.list('prov_openai', undefined);
    expect(index.catalog.shown()).toHaveLength(1);
  });

  it('does not bring a model back that is switched off', () => {
    const declared = {
      ...all,
      models: { 'openai/gpt-5': false },
      aliases: { fast: 'openai/gpt-5', 'openai/*': 'openai/*' },
    };
    expect(idOf(declared, 'openai/gpt-5')).toBeUndefined();
    expect(idOf(declared, 'fast')).toBeUndefined();
    const index = indexOf(declared);
    index.list('prov_openai', [{ name: 'gpt-5' }]);
    expect(index.catalog.shown()).toEqual([]);
  });
});

describe('the order of the rules', () => {
  const declared: Declared = {
    providers: { anthropic: ['*'], openai: ['*'] },
    models: { 'acme/fast': true, 'claude-own': true },
    aliases: {
      'claude-*': 'anthropic/claude-*',
      'claude-opus-*': 'openai/opus-*',
      'claude-opus-4': 'acme/fast',
      'openai/gpt-4*': 'openai/gpt-5*',
      chain: 'claude-opus-4',
      gone: 'nobody/knows',
      '*-latest': 'anthropic/*',
    },
  };

  it.each([
    ['claude-own', 'claude-own', ['model']],
    ['claude-opus-4', 'acme/fast', ['alias', 'model']],
    ['claude-opus-5', 'openai/opus-5', ['alias', 'provider']],
    ['claude-haiku-4-5', 'anthropic/claude-haiku-4-5', ['alias', 'provider']],
    ['openai/gpt-4o', 'openai/gpt-5o', ['alias', 'provider']],
    ['openai/gpt-5', 'openai/gpt-5', ['provider']],
    ['sonnet-latest', 'anthropic/sonnet', ['alias', 'provider']],
    ['claude-$&-latest', 'anthropic/claude-$&-latest', ['alias', 'provider']],
    ['chain', undefined, ['alias']],
    ['gone', undefined, ['alias']],
    ['nothing', undefined, []],
  ])('%s is %s', (name, expected, rules) => {
    const { catalog } = indexOf(declared);
    expect(catalog.models.get(name)?.id).toBe(expected);
    expect(catalog.stepsTo(name).map(({ rule }) => rule)).toEqual(rules);
  });

  it('shows aliases without * that lead to a model, as other names of it', () => {
    const shown = indexOf(declared).catalog.shown();
    const names = shown.map(({ id, aliasOf = '' }) => `${id} ${aliasOf}`.trim());
    expect(names.toSorted()).toEqual(['acme/fast', 'claude-opus-4 acme/fast', 'claude-own']);
  });

  it('is the same for whoever adds a vendor to a bare name', () => {
    const found = [...indexOf(declared).catalog.withAnyVendor('fast')].map(({ id }) => id);
    expect(found).toEqual(['acme/fast', 'anthropic/fast', 'openai/fast']);
  });

  it('a catalog of before stays as it was', () => {
    const index = indexOf(declared);
    const before = index.catalog;
    index.change({ ...NOTHING, aliases: new Map([['claude-*', undefined]]) });
    expect(before.models.get('claude-haiku-4-5')?.id).toBe('anthropic/claude-haiku-4-5');
    expect(index.catalog.models.get('claude-haiku-4-5')).toBeUndefined();
    expect(index.catalog.fingerprint).not.toBe(before.fingerprint);
  });
});
