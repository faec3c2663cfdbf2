import { describe, expect, it, onTestFinished } from 'vitest';
import type { Alert } from '../../src/alerts/alert.ts';
import { raiseOutages } from '../../src/alerts/outage-alerts.ts';
import { openMemoryStore } from '../../src/store/backends/memory/open-memory-store.ts';
import { createFakeClock } from '../support/fake-clock.ts';

function setUp() {
  const clock = createFakeClock();
  const store = openMemoryStore(clock);
  onTestFinished(() => store.close());
  const cool = (name: string, openings: number, ms = 60_000) =>
    store.commit([
      { type: 'put', key: ['cooldown', name], value: { until: clock.now() + ms, openings } },
    ]);
  const heal = (name: string) => store.commit([{ type: 'delete', key: ['cooldown', name] }]);
  /** Looks once, and gives the alerts that were raised. */
  const look = async (): Promise<Alert[]> => {
    const raised: Alert[] = [];
    await raiseOutages(
      {
        store,
        nameOf: async (provider) => `name of ${provider}`,
        home: async () => 'org_home',
        toRaise(alert) {
          raised.push(alert);
          return [{ type: 'put', key: ['alert', alert.id], value: 1, ifAbsent: true }];
        },
      },
      clock.now(),
    );
    return raised;
  };
  return { clock, store, cool, heal, look };
}

describe('the alert of an outage', () => {
  it('is raised once when a breaker opens, and once more when it has closed', async () => {
    const { clock, cool, heal, look, store } = setUp();
    await cool('prov_1\nlarge', 1);
    const since = clock.now();
    const text = 'Provider name of prov_1, model large';
    const data = {
      provider: 'name of prov_1',
      model: 'large',
      since: new Date(since).toISOString(),
    };
    expect(await look()).toEqual([
      {
        id: `outage/prov_1/large/${since}/begun`,
        type: 'alert.outage',
        organization: 'org_home',
        at: since,
        text: `${text}: fails and is left out`,
        data,
      },
    ]);
    clock.advance(5_000);
    expect(await look()).toEqual([]);
    await heal('prov_1\nlarge');
    expect(await look()).toEqual([
      {
        id: `outage/prov_1/large/${since}/over`,
        type: 'alert.recovery',
        organization: 'org_home',
        at: since + 5_000,
        text: `${text}: serves again`,
        data,
      },
    ]);
    expect(await look()).toEqual([]);
    expect(await store.list({ prefix: ['alert'] })).toHaveLength(2);
  });

  it('begins anew with the next outage', async () => {
    const { clock, cool, heal, look } = setUp();
    await cool('prov_1\nlarge', 1);
    const [first] = await look();
    await heal('prov_1\nlarge');
    await look();
    clock.advance(1);
    await cool('prov_1\nlarge', 2);
    const [second] = await look();
    expect(second?.type).toBe('alert.outage');
    expect(second?.id).not.toBe(first?.id);
  });

  it('of a whole provider names no model', async () => {
    const { cool, look, clock } = setUp();
    await cool('prov_1', 0);
    expect(await look()).toMatchObject([
      {
        id: `outage/prov_1//${clock.now()}/begun`,
        text: 'Provider name of prov_1: fails and is left out',
        data: { model: null },
      },
    ]);
  });

  it.each<[string, string, number, number, number]>([
    ['a route that is only told to wait', 'prov_1\nlarge', 0, 60_000, 0],
    ['a breaker that has opened', 'prov_1\nlarge', 1, 60_000, 1],
    ['an account whose credential is refused', 'prov_1', 0, 60_000, 1],
    ['one that still cools for a millisecond', 'prov_1\nlarge', 1, 1, 1],
    ['one that has cooled', 'prov_1\nlarge', 1, 0, 0],
  ])('is that of %s', async (...[, name, openings, ms, count]) => {
    const { cool, look } = setUp();
    await cool(name, openings, ms);
    expect(await look()).toHaveLength(count);
  });

  it('is not over as long as the breaker is there, open or not', async () => {
    const { cool, look, clock } = setUp();
    await cool('prov_1\nlarge', 1, 1_000);
    await look();
    clock.advance(2_000);
    expect(await look()).toEqual([]);
  });

  it('is told of each provider and model', async () => {
    const { cool, look, heal } = setUp();
    await cool('prov_1\nlarge', 1);
    await cool('prov_1\nsmall', 1);
    await cool('prov_2\nlarge', 1);
    expect((await look()).map(({ data }) => `${data['provider']} ${data['model']}`)).toEqual([
      'name of prov_1 large',
      'name of prov_1 small',
      'name of prov_2 large',
    ]);
    await heal('prov_1\nsmall');
    expect(await look()).toMatchObject([{ type: 'alert.recovery', data: { model: 'small' } }]);
  });
});
