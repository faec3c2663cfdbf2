import { describe, expect, it } from 'vitest';
import type { Model, Route } from '../../../src/routing/catalog.ts';
import type { RouteHealth } from '../../../src/routing/health.ts';
import { createOwnRecord, writeRuntime } from '../../../src/core/process/runtime-file.ts';
import { VERSION } from '../../../src/server/process/gateway-version.ts';
import { reportStatus } from '../../../src/server/routes/status-report.ts';
import { openMemoryStore } from '../../../src/store/backends/memory/open-memory-store.ts';
import type { Store } from '../../../src/store/store.ts';
import { fakeCatalog, fakeModel, fakeRoute } from '../../support/catalog.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { directoryOfTest } from '../../support/process/directory-of-test.ts';
import { verifies } from '../../requirements.ts';

const WELL: RouteHealth = {
  state: 'available',
  until: undefined,
  consecutiveFaults: 0,
  latencyMs: undefined,
};

interface Setting {
  readonly models?: readonly Model[];
  /** Health by the name of the upstream model. Default: well. */
  readonly health?: Readonly<Record<string, Partial<RouteHealth>>>;
  readonly store?: Partial<Store>;
  /** Instants since which workers live, by their ids. */
  readonly workers?: Readonly<Record<string, number>>;
  readonly jobs?: readonly (readonly [kind: string, id: string])[];
  readonly dataDir?: string;
}

async function report({
  models = [],
  health = {},
  store = {},
  workers = {},
  jobs = [],
  dataDir = '/none',
}: Setting = {}) {
  const clock = createFakeClock();
  const memory = openMemoryStore(clock);
  for (const [id, since] of Object.entries(workers))
    await memory.commit([{ type: 'put', key: ['worker', id], value: { since } }]);
  for (const [kind, id] of jobs)
    await memory.commit([{ type: 'put', key: ['job-due', kind, 0, id], value: null }]);
  return reportStatus({
    store: { ...memory, ...store },
    clock,
    catalog: () => fakeCatalog(...models),
    health: { look: ({ upstreamModel }: Route) => ({ ...WELL, ...health[upstreamModel] }) },
    config: { dataDir },
    ownRecord: createOwnRecord(),
  });
}

const route = (provider: string, upstreamModel: string) => fakeRoute(provider, { upstreamModel });

describe('the status', () => {
  it('tells what runs, and on which store', async () => {
    expect(await report()).toEqual({
      type: 'status',
      version: VERSION,
      node: process.version,
      configuration: 'test',
      follows: null,
      store: { driver: 'memory', scope: 'process', state: 'ok', warnings: [] },
      workers: [],
      providers: [],
      work: { turns: 0, triggers: 0, runs: 0, webhooks: 0 },
      unpriced: [],
    });
  });

  it(
    verifies('process.status', 'the status names the files that the gateway follows'),
    async () => {
      const folder = await directoryOfTest();
      const facts = { url: 'http://127.0.0.1:1', since: 'now', version: '1', watch: true };
      await writeRuntime(folder, { ...facts, files: ['/a/gateway.yaml'] });
      const { follows } = await report({ dataDir: folder });
      expect(follows).toEqual({ files: ['/a/gateway.yaml'], watch: true });
    },
  );

  it('counts the jobs that are begun or wait', async () => {
    const jobs = [
      ['session-turn', 's1'],
      ['session-turn', 's2'],
      ['webhook', 'w'],
    ] as const;
    expect((await report({ jobs })).work).toEqual({ turns: 2, triggers: 0, runs: 0, webhooks: 1 });
  });

  it('tells of a store that fails or warns', async () => {
    const ping = () => Promise.reject(new Error('no space left'));
    const { store } = await report({ store: { ping, warnings: ['it is slow'] } });
    expect(store).toMatchObject({ state: 'failing', warnings: ['it is slow'] });
  });

  it('lists the processes that share the store', async () => {
    const at = Date.UTC(2026, 10, 20, 1, 2, 3);
    expect((await report({ workers: { w1: at, w2: 0 } })).workers).toEqual([
      { id: 'w1', since: '2026-11-20T01:02:03.000Z' },
      { id: 'w2', since: '1970-01-01T00:00:00.000Z' },
    ]);
  });
});

describe('the status of routes', () => {
  it('shows each with its health, by provider', async () => {
    const models = [
      fakeModel('acme/one', [route('acme', 'one'), route('spare', 'eins')]),
      fakeModel('acme/two', [route('acme', 'two')]),
    ];
    const health = { one: { latencyMs: 12.5, consecutiveFaults: 2 } };
    const well = { state: 'available', until: null, consecutive_faults: 0, latency_ms: null };
    expect((await report({ models, health })).providers).toEqual([
      {
        name: 'acme',
        routes: [
          {
            ...well,
            model: 'acme/one',
            upstream_model: 'one',
            consecutive_faults: 2,
            latency_ms: 13,
          },
          { ...well, model: 'acme/two', upstream_model: 'two' },
        ],
      },
      { name: 'spare', routes: [{ ...well, model: 'acme/one', upstream_model: 'eins' }] },
    ]);
  });

  it('begins with those that are not available', async () => {
    const models = [
      fakeModel('acme/one', [route('acme', 'one'), route('spare', 'eins')]),
      fakeModel('acme/two', [route('acme', 'two'), route('spare', 'zwei')]),
    ];
    const until = Date.UTC(2026, 10, 21, 0, 1);
    const health = {
      two: { state: 'cooled', until },
      zwei: { state: 'probing' },
      eins: { state: 'probing' },
    } as const;
    const { providers } = await report({ models, health });
    const told = providers.map(({ name, routes }) => [
      name,
      ...routes.map((one) => `${one.upstream_model} ${one.state} ${one.until}`),
    ]);
    expect(told).toEqual([
      ['spare', 'eins probing null', 'zwei probing null'],
      ['acme', 'two cooled 2026-11-21T00:01:00.000Z', 'one available null'],
    ]);
  });

  it('takes an alias for no model of its own', async () => {
    const models = [
      fakeModel('acme/one', [route('acme', 'one')]),
      fakeModel('old', [route('acme', 'one')], { aliasOf: 'acme/one' }),
    ];
    const [acme] = (await report({ models })).providers;
    expect(acme?.routes.map(({ model }) => model)).toEqual(['acme/one']);
  });

  it('shows five hundred at most, and none that is well in the place of one that is not', async () => {
    const names = Array.from({ length: 501 }, (_, index) => `m${index}`);
    const models = names.map((name) => fakeModel(`acme/${name}`, [route('acme', name)]));
    const ofAll = (await report({ models })).providers.flatMap(({ routes }) => routes);
    expect(ofAll.map((one) => one.upstream_model)).toEqual(names.slice(0, 500));
    const health = { m500: { state: 'probing' } } as const;
    const [first, ...others] = (await report({ models, health })).providers[0]?.routes ?? [];
    expect(first?.upstream_model).toBe('m500');
    expect(others.map((one) => one.upstream_model)).toEqual(names.slice(0, 499));
  });

  it('names five hundred without a price at most', async () => {
    const names = Array.from({ length: 501 }, (_, index) => `m${1_000 + index}`);
    const models = names.map((name) => fakeModel(name, [route('acme', name)]));
    const { unpriced } = await report({ models });
    expect(unpriced).toHaveLength(500);
    expect([unpriced[0], unpriced.at(-1)]).toEqual(['m1000 (acme)', 'm1499 (acme)']);
  });
});
