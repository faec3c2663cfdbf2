import { describe, expect, it, vi } from 'vitest';
import type { Catalog, Model } from '../../../src/routing/catalog.ts';
import { createChangeFeed } from '../../../src/resources/changes/change-feed.ts';
import type { ChangeFeed } from '../../../src/resources/changes/change-feed.ts';
import { createKeyDirectory } from '../../../src/resources/kinds/key-directory.ts';
import type { KeyDirectory } from '../../../src/resources/kinds/key-directory.ts';
import { createLiveCatalog } from '../../../src/server/compose/live-catalog.ts';
import type { LiveCatalog } from '../../../src/server/compose/live-catalog.ts';
import { createLivePrices } from '../../../src/usage/prices/live-prices.ts';
import type { Store } from '../../../src/store/store.ts';
import { verifies } from '../../requirements.ts';
import { makeResources } from '../../resources/make-resources.ts';
import type { Resources } from '../../resources/make-resources.ts';

interface Served {
  catalog: LiveCatalog;
  keys: KeyDirectory;
  feed: ChangeFeed;
  bad: string[];
  /** Rows that were read since it was last asked. */
  rowsRead(): number;
}

/** One process that serves from the store of these resources. */
async function serve(resources: Resources): Promise<Served> {
  let count = 0;
  const store: Store = {
    ...resources.store,
    async get(key) {
      count += 1;
      return resources.store.get(key);
    },
    async list(options) {
      const found = await resources.store.list(options);
      count += found.length;
      return found as never;
    },
  };
  const { repository } = makeResources({ ...resources, store });
  const bad: string[] = [];
  const catalog = createLiveCatalog({
    repository,
    defaults: { timeouts: { firstContent: 1, idle: 1, total: 1 }, firstContentSet: false },
    prices: createLivePrices({ clock: resources.clock, stored: async () => undefined }),
    onBadProvider: (name) => bad.push(name),
    onBadApi: (name) => bad.push(name),
  });
  const keys = createKeyDirectory({ ...resources, repository });
  const feed = createChangeFeed({
    store,
    clock: resources.clock,
    onError: (error) => bad.push(String(error)),
  });
  feed.subscribe((changes) => catalog.update(changes));
  feed.subscribe((changes) => keys.update(changes));
  await feed.catchUp();
  const rowsRead = (): number => {
    const read = count;
    count = 0;
    return read;
  };
  rowsRead();
  return { catalog, keys, feed, bad, rowsRead };
}

async function send(resources: Resources, request: string, body?: object): Promise<string> {
  const answer = await resources.call(request, { body });
  if (answer.status > 299) throw new Error(`${request}: ${JSON.stringify(answer.body)}`);
  return answer.body['id'];
}

/** Providers `p0` … each with one model `v/m0` … */
async function fill(resources: Resources, count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    await send(resources, 'POST providers', { name: `p${i}`, type: 'mock' });
    await send(resources, 'POST models', { name: `v/m${i}`, routes: [{ provider: `p${i}` }] });
  }
}

function resolvedAnew(before: Catalog, after: Catalog): string[] {
  const isNew = (model: Model): boolean => before.models.get(model.id) !== model;
  return [...after.models.values()].filter(isNew).map(({ id }) => id);
}

describe('the work of a change', () => {
  async function workOf(size: number) {
    const resources = makeResources();
    await fill(resources, size);
    const organization = await send(resources, 'POST organizations', { name: 'home' });
    for (let i = 0; i < size; i++) {
      await send(resources, 'POST keys', { name: `k${i}`, organization });
    }
    const served = await serve(resources);
    const work: Record<string, unknown> = {};
    const steps: [string, object?][] = [
      ['PATCH providers/p3', { enabled: false }],
      ['PATCH providers/p3', { enabled: true }],
      ['PATCH models/v%2Fm4', { display_name: 'Four' }],
      ['POST models', { name: 'v/new', routes: [{ provider: 'p5' }] }],
      ['DELETE models/v%2Fnew'],
      ['PATCH organizations/home', { enabled: false }],
      ['POST keys', { name: 'new', organization }],
      ['POST agents', { name: 'somebody', organization, model: 'v/m0' }],
    ];
    for (const [index, [request, body]] of steps.entries()) {
      const before = served.catalog.current();
      served.rowsRead();
      await send(resources, request, body);
      await served.feed.catchUp();
      const rows = served.rowsRead();
      const models = resolvedAnew(before, served.catalog.current());
      work[`${index}: ${request}`] = { rows, models };
    }
    served.feed.close();
    return work;
  }

  it(
    verifies(
      'admin.reload.changed-rows',
      'is the same with 10 rows and with 829: rows that are read, and models that are resolved',
    ),
    async () => {
      const few = await workOf(10);
      expect(few['0: PATCH providers/p3']).toMatchObject({ models: ['v/m3'] });
      expect(few['2: PATCH models/v%2Fm4']).toMatchObject({ models: ['v/m4'] });
      expect(few['5: PATCH organizations/home']).toMatchObject({ models: [] });
      expect(await workOf(829)).toEqual(few);
    },
    120_000,
  );

  it('is done once for what changes in a burst', async () => {
    const resources = makeResources();
    await fill(resources, 20);
    const silent: Store = { ...resources.store, watch: () => () => undefined };
    const { catalog, feed, rowsRead } = await serve({ ...resources, store: silent });
    const before = catalog.account('p1');
    for (let round = 0; round < 50; round++) {
      await send(resources, 'PATCH providers/p1', { headers: { 'x-round': `${round}` } });
    }
    await feed.catchUp();
    expect(catalog.account('p1')).not.toBe(before);
    const log = { epoch: 1, heads: 1, entries: 50 };
    expect(rowsRead()).toBe(log.epoch + log.heads + log.entries + 1);
    feed.close();
  });
});

describe('createLiveCatalog', () => {
  async function setUp() {
    const resources = makeResources();
    const served = await serve(resources);
    const change = async (request: string, body?: object): Promise<string> => {
      const id = await send(resources, request, body);
      await served.feed.catchUp();
      return id;
    };
    const routesOf = (model: string) =>
      served.catalog
        .current()
        .models.get(model)
        ?.routes.map(({ provider }) => provider.name);
    return { ...served, resources, change, routesOf };
  }

  it('keeps the catalog that a request has', async () => {
    const { catalog, change, feed } = await setUp();
    await change('POST providers', { name: 'p', type: 'mock' });
    await change('POST models', { name: 'v/m', routes: [{ provider: 'p' }] });
    const held = catalog.current();
    await change('PATCH models/v%2Fm', { display_name: 'Other' });
    await change('POST models', { name: 'v/n', routes: [{ provider: 'p' }] });
    await change('DELETE models/v%2Fm');
    expect([...held.models.keys()]).toEqual(['v/m']);
    expect(held.models.get('v/m')?.displayName).toBe('v/m');
    expect([...catalog.current().models.keys()]).toEqual(['v/n']);
    feed.close();
  });

  it('follows a provider that is switched off and on, whatever routes call it', async () => {
    const { change, routesOf, catalog, feed } = await setUp();
    const id = await change('POST providers', { name: 'p', type: 'mock' });
    await change('POST models', { name: 'v/by-name', routes: [{ provider: 'p' }] });
    await change('POST models', { name: 'v/by-id', routes: [{ provider: id }] });
    await change('PATCH providers/p', { enabled: false });
    expect([routesOf('v/by-name'), routesOf('v/by-id')]).toEqual([[], []]);
    expect(catalog.account('p')).toBeUndefined();
    await change('PATCH providers/p', { enabled: true });
    expect([routesOf('v/by-name'), routesOf('v/by-id')]).toEqual([['p'], ['p']]);
    feed.close();
  });

  it('follows a provider that is renamed', async () => {
    const { change, routesOf, catalog, feed } = await setUp();
    const id = await change('POST providers', { name: 'old', type: 'mock' });
    await change('POST models', { name: 'v/m', routes: [{ provider: id }] });
    await change('PATCH providers/old', { name: 'new' });
    expect(routesOf('v/m')).toEqual(['new']);
    expect(catalog.account('old')).toBeUndefined();
    expect(catalog.account('new')?.id).toBe(id);
    const other = await change('POST providers', { name: 'old', type: 'mock' });
    expect(catalog.account('old')?.id).toBe(other);
    feed.close();
  });

  it('gives a name that moved to the row that has it now', async () => {
    const { change, resources, catalog, feed } = await setUp();
    const first = await change('POST providers', { name: 'a', type: 'mock' });
    const second = await change('POST providers', { name: 'b', type: 'mock' });
    await send(resources, 'PATCH providers/b', { name: 'c' });
    await send(resources, 'PATCH providers/a', { name: 'b' });
    await feed.catchUp();
    expect(catalog.account('b')?.id).toBe(first);
    expect(catalog.account('c')?.id).toBe(second);
    expect(catalog.account('a')).toBeUndefined();
    feed.close();
  });

  it('follows models: new names, new routes, disabled, deleted', async () => {
    const { change, routesOf, catalog, feed } = await setUp();
    await change('POST providers', { name: 'p', type: 'mock' });
    await change('POST providers', { name: 'q', type: 'mock' });
    await change('POST models', { name: 'v/m', routes: [{ provider: 'p' }] });
    await change('PATCH models/v%2Fm', { name: 'v/n' });
    expect([...catalog.current().models.keys()]).toEqual(['v/n']);
    await change('PATCH models/v%2Fn', { routes: [{ provider: 'q' }] });
    expect(routesOf('v/n')).toEqual(['q']);
    const before = catalog.current();
    await change('PATCH providers/p', { enabled: false });
    expect(resolvedAnew(before, catalog.current())).toEqual([]);
    await change('PATCH models/v%2Fn', { enabled: false });
    expect(catalog.current().models.size).toBe(0);
    await change('PATCH models/v%2Fn', { enabled: true });
    await change('DELETE models/v%2Fn');
    expect(catalog.current().models.size).toBe(0);
    feed.close();
  });

  it('shows an API until a model of its name stands before it, and again afterwards', async () => {
    const { change, catalog, feed } = await setUp();
    const typeOf = (name: string) => catalog.current().models.get(name)?.type;
    await change('POST providers', { name: 'p', type: 'mock' });
    const auth = { type: 'none' };
    await change('POST apis', { name: 'weather', base_url: 'https://weather.example', auth });
    expect(typeOf('weather')).toBe('api');
    await change('POST models', { name: 'weather', routes: [{ provider: 'p' }] });
    expect(typeOf('weather')).toBe('llm');
    await change('PATCH models/weather', { enabled: false });
    expect(typeOf('weather')).toBe('api');
    await change('PATCH apis/weather', { enabled: false });
    expect(typeOf('weather')).toBeUndefined();
    expect(catalog.current().apis.size).toBe(0);
    feed.close();
  });

  it('has one fingerprint for one content, however it came about', async () => {
    const { change, catalog, feed, resources } = await setUp();
    const empty = catalog.current().fingerprint;
    await change('POST providers', { name: 'p', type: 'mock' });
    await change('POST models', { name: 'v/m', routes: [{ provider: 'p' }] });
    const one = catalog.current().fingerprint;
    await change('PATCH models/v%2Fm', { display_name: 'Other' });
    const two = catalog.current().fingerprint;
    expect(new Set([empty, one, two]).size).toBe(3);
    const fresh = await serve(resources);
    expect(fresh.catalog.current().fingerprint).toBe(two);
    await change('DELETE models/v%2Fm');
    await change('DELETE providers/p');
    expect(catalog.current().fingerprint).toBe(empty);
    fresh.feed.close();
    feed.close();
  });

  it('keeps the account of a provider that did not change, also when everything is read anew', async () => {
    const { change, catalog, feed } = await setUp();
    await change('POST providers', { name: 'p', type: 'mock' });
    await change('POST providers', { name: 'q', type: 'mock' });
    const [p, q] = [catalog.account('p'), catalog.account('q')];
    await change('PATCH providers/q', { headers: { 'x-team': 'other' } });
    await catalog.update('everything');
    expect(catalog.account('p')).toBe(p);
    expect(catalog.account('q')).not.toBe(q);
    feed.close();
  });

  it(
    verifies('ops.reload.streams', 'a reading that began earlier never replaces a later one'),
    async () => {
      const { change, catalog, feed, resources } = await setUp();
      await change('POST providers', { name: 'p', type: 'mock' });
      const looks = [];
      for (let i = 0; i < 20; i++) {
        await send(resources, 'POST models', { name: `v/m${i}`, routes: [{ provider: 'p' }] });
        looks.push(
          feed.catchUp().then(() => expect(catalog.current().models.has(`v/m${i}`)).toBe(true)),
        );
      }
      await Promise.all(looks);
      expect(catalog.current().models.size).toBe(20);
      feed.close();
    },
  );

  it('sees what another process changed, also when no bell rings', async () => {
    const resources = makeResources();
    const served = await serve({
      ...resources,
      store: { ...resources.store, watch: () => () => {} },
    });
    await fill(resources.other(), 3);
    resources.clock.advance(500);
    await vi.waitFor(() => expect(served.catalog.current().models.size).toBe(3));
    served.feed.close();
  });
});
