import { describe, expect, it } from 'vitest';
import { CatalogIndex } from '../../src/routing/catalog-index.ts';
import type { CatalogChanges } from '../../src/routing/catalog-index.ts';
import { accountRecord, apiRecord, DEFAULTS, modelRecord, routeRecord } from './records.ts';

type Change = {
  [K in keyof CatalogChanges]?: [
    string,
    CatalogChanges[K] extends ReadonlyMap<string, infer V> ? V : never,
  ][];
};

const changesOf = ({ providers, models, aliases, apis }: Change): CatalogChanges => ({
  providers: new Map(providers),
  models: new Map(models),
  aliases: new Map(aliases),
  apis: new Map(apis),
});

function indexOf(...changes: Change[]): CatalogIndex {
  const index = new CatalogIndex(DEFAULTS);
  for (const change of changes) index.change(changesOf(change));
  return index;
}

const alias = (model: string, { enabled = true, version = 1 } = {}) => ({
  name: 'x',
  model,
  enabled,
  version,
});

const routesOf = (index: CatalogIndex, name: string): string[] =>
  (index.catalog.models.get(name)?.routes ?? []).map(({ provider }) => provider.name);

describe('the index of the catalog', () => {
  it('gives the same catalog until something changes', () => {
    const index = indexOf();
    const { catalog } = index;
    expect(index.catalog).toBe(catalog);
    index.change(changesOf({}));
    expect(index.catalog).not.toBe(catalog);
    const changed = index.catalog;
    index.list('prov_acme', []);
    expect(index.catalog).not.toBe(changed);
  });

  it('gives the accounts of enabled providers, with models or without', () => {
    const index = indexOf({
      providers: [
        ['prov_one', accountRecord('one')],
        ['prov_open', accountRecord('open', { models: ['*'] })],
        ['prov_off', accountRecord('off', { enabled: false })],
      ],
    });
    const { catalog } = index;
    expect(catalog.accounts.map(({ name }) => name)).toEqual(['one', 'open']);
    index.change(changesOf({ providers: [['prov_one', undefined]] }));
    expect(catalog.accounts).toHaveLength(2);
    expect(index.catalog.accounts.map(({ name }) => name)).toEqual(['open']);
  });

  it('finds accounts by id and by name, the id first', () => {
    const [one, two] = [accountRecord('one'), accountRecord('two')];
    const index = indexOf({
      providers: [
        ['two', one],
        ['prov_2', two],
      ],
    });
    expect(index.account('two')).toBe(one);
    expect(index.account('one')).toBe(one);
    expect(index.account('prov_2')).toBe(two);
    expect(index.account('three')).toBeUndefined();
  });

  it('tells the enabled providers that serve models without declarations', () => {
    const off = accountRecord('off', { models: ['*'], enabled: false });
    const open = accountRecord('open', { models: [] });
    const index = indexOf({
      providers: [
        ['1', off],
        ['2', open],
        ['3', accountRecord('closed')],
      ],
    });
    expect([...index.open()].map(({ account }) => account.name)).toEqual(['open']);
  });
});

describe('a provider that changes', () => {
  const models: Change['models'] = [
    ['m1', modelRecord('by-name', { routes: [routeRecord('acme')] })],
    ['m2', modelRecord('by-id', { routes: [routeRecord('prov_1')] })],
  ];

  it('is known to the models that route to it by name and by id', () => {
    const index = indexOf({ models }, { providers: [['prov_1', accountRecord('acme')]] });
    expect(routesOf(index, 'by-name')).toEqual(['acme']);
    expect(routesOf(index, 'by-id')).toEqual(['acme']);
    index.change(changesOf({ providers: [['prov_1', undefined]] }));
    expect(routesOf(index, 'by-name')).toEqual([]);
    expect(routesOf(index, 'by-id')).toEqual([]);
  });

  it('is followed by models that named it as it was called before', () => {
    const index = indexOf({ models }, { providers: [['prov_1', accountRecord('acme')]] });
    index.change(changesOf({ providers: [['prov_1', accountRecord('renamed')]] }));
    expect(routesOf(index, 'by-name')).toEqual([]);
    expect(routesOf(index, 'by-id')).toEqual(['renamed']);
    index.change(changesOf({ providers: [['prov_1', accountRecord('acme')]] }));
    expect(routesOf(index, 'by-name')).toEqual(['acme']);
  });

  it('leaves the models of others the same objects', () => {
    const index = indexOf({
      providers: [
        ['prov_1', accountRecord('acme')],
        ['prov_2', accountRecord('other')],
      ],
      models: [['m1', modelRecord('a', { routes: [routeRecord('acme')] })]],
    });
    const before = index.catalog.models.get('a');
    index.change(changesOf({ providers: [['prov_2', accountRecord('other')]] }));
    expect(index.catalog.models.get('a')).toBe(before);
    index.change(changesOf({ providers: [['prov_1', accountRecord('acme')]] }));
    expect(index.catalog.models.get('a')).not.toBe(before);
  });

  it('is no concern of a model that routes elsewhere now', () => {
    const index = indexOf(
      { providers: [['prov_1', accountRecord('acme')]], models },
      { models: [['m1', modelRecord('by-name')]] },
    );
    const before = index.catalog.models.get('by-name');
    index.change(changesOf({ providers: [['prov_1', accountRecord('acme')]] }));
    expect(index.catalog.models.get('by-name')).toBe(before);
  });

  it('opens and closes at once', () => {
    const index = indexOf({ providers: [['prov_1', accountRecord('acme', { models: ['*'] })]] });
    expect(index.catalog.models.has('acme/x')).toBe(true);
    index.change(changesOf({ providers: [['prov_1', accountRecord('acme')]] }));
    expect(index.catalog.models.has('acme/x')).toBe(false);
  });
});

describe('a declared model', () => {
  it('is found by its new name alone when it is renamed', () => {
    const index = indexOf({ models: [['m1', modelRecord('a')]] });
    index.change(changesOf({ models: [['m1', modelRecord('b')]] }));
    expect([...index.catalog.models.keys()]).toEqual(['b']);
  });

  it('is gone when it is switched off or removed', () => {
    const index = indexOf({ models: [['m1', modelRecord('a')]] });
    index.change(changesOf({ models: [['m1', modelRecord('a', { enabled: false })]] }));
    expect(index.catalog.models.has('a')).toBe(false);
    index.change(changesOf({ models: [['m1', modelRecord('a')]] }));
    expect(index.catalog.models.has('a')).toBe(true);
    index.change(changesOf({ models: [['m1', undefined]] }));
    expect(index.catalog.models.has('a')).toBe(false);
  });

  it('gives its name to an open provider only once it is removed', () => {
    const providers: Change['providers'] = [['p', accountRecord('acme', { models: ['*'] })]];
    const off = modelRecord('acme/x', { enabled: false });
    const index = indexOf({ providers, models: [['m1', off]] });
    expect(index.catalog.models.has('acme/x')).toBe(false);
    index.change(changesOf({ models: [['m1', undefined]] }));
    expect(index.catalog.models.get('acme/x')?.vendor).toBe('acme');
  });
});

describe('an alias', () => {
  it('leads nowhere once it is switched off', () => {
    const models: Change['models'] = [['m1', modelRecord('a')]];
    const index = indexOf({ models, aliases: [['x', alias('a')]] });
    expect(index.catalog.models.get('x')?.id).toBe('a');
    index.change(changesOf({ aliases: [['x', alias('a', { enabled: false, version: 2 })]] }));
    expect(index.catalog.models.has('x')).toBe(false);
  });
});

describe('an API', () => {
  it('is called by its name and listed as a model while it is enabled', () => {
    const index = indexOf({ apis: [['1', apiRecord('weather')]] });
    const { apis, models } = index.catalog;
    expect(apis.get('weather')).toMatchObject({ name: 'weather', timeouts: { total: 3 } });
    expect(models.get('weather')?.type).toBe('api');
    index.change(changesOf({ apis: [['1', apiRecord('weather', { enabled: false })]] }));
    expect(index.catalog.apis.has('weather')).toBe(false);
    expect(index.catalog.models.has('weather')).toBe(false);
  });

  it('that is switched off keeps its name from open providers', () => {
    const index = indexOf({
      providers: [['p', accountRecord('acme', { models: ['*'] })]],
      apis: [['1', apiRecord('acme/x', { enabled: false })]],
    });
    expect(index.catalog.models.has('acme/x')).toBe(false);
  });

  it('stands behind a model of its name, which is shown in its place', () => {
    const index = indexOf({ apis: [['1', apiRecord('a')]], models: [['m1', modelRecord('a')]] });
    expect(index.catalog.models.get('a')?.type).toBe('llm');
    expect(index.catalog.apis.has('a')).toBe(true);
    index.change(changesOf({ models: [['m1', modelRecord('a', { enabled: false })]] }));
    expect(index.catalog.models.get('a')?.type).toBe('api');
  });

  it('is gone by the name that it had', () => {
    const index = indexOf({ apis: [['1', apiRecord('a')]] });
    index.change(changesOf({ apis: [['1', apiRecord('b')]] }));
    expect([...index.catalog.apis.keys()]).toEqual(['b']);
    expect([...index.catalog.models.keys()]).toEqual(['b']);
  });
});

describe('the fingerprint', () => {
  const print = (...changes: Change[]): string => indexOf(...changes).catalog.fingerprint;
  const one: Change = { models: [['m1', modelRecord('a')]] };
  const two: Change = { models: [['m2', modelRecord('b')]] };

  it('is the same for the same contents, whatever way led there', () => {
    const gone: Change = { models: [['m2', undefined]] };
    expect(print(one)).toMatch(/^[0-9a-f]{16}$/);
    expect(print(one, two)).toBe(print(two, one));
    expect(print(one, two, gone)).toBe(print(one));
    expect(print()).not.toBe(print(one));
  });

  it.each<[string, (version: number) => Change]>([
    ['a provider', (version) => ({ providers: [['p', accountRecord('a', { version })]] })],
    ['a model', (version) => ({ models: [['m', modelRecord('a', { version })]] })],
    ['an alias', (version) => ({ aliases: [['x', alias('a', { version })]] })],
    ['an API', (version) => ({ apis: [['w', apiRecord('w', { version })]] })],
  ])('tells versions of %s apart', (_, change) => {
    expect(print(change(1), change(2))).toBe(print(change(2)));
    expect(print(change(1))).not.toBe(print(change(2)));
    expect(print(change(1))).not.toBe(print());
  });

  it('is another one with other defaults', () => {
    const other = new CatalogIndex({ ...DEFAULTS, firstContentSet: true });
    expect(other.catalog.fingerprint).not.toBe(print());
  });
});
