import { describe, expect, it } from 'vitest';
import { openMemoryStore } from '../../../src/store/backends/memory/open-memory-store.ts';
import { openStore } from '../../../src/store/open-store.ts';
import type { Store } from '../../../src/store/store.ts';
import { createLedger } from '../../../src/usage/ledger/ledger-store.ts';
import type { RequestOrigin } from '../../../src/usage/origin.ts';
import { recoverOpen } from '../../../src/usage/recovery/recover-open.ts';
import { createRequestSweep } from '../../../src/usage/requests/request-sweep.ts';
import { listRequests } from '../../../src/usage/requests/request-log.ts';
import { usageReport } from '../../../src/usage/requests/usage-report.ts';
import type { UsageGroup } from '../../../src/usage/requests/usage-report.ts';
import { createCharges } from '../../../src/usage/spend/create-charges.ts';
import { verifies } from '../../requirements.ts';
import { storePlaces } from '../../store/support/store-places.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { createFaultyStore, createStarts, DAY, outcome, principal } from '../usage-fixtures.ts';
import { inTurn } from '../../runs.ts';

const places = storePlaces();

const ORIGINS: readonly (RequestOrigin | undefined)[] = [
  { conversation: 'one', endUser: 'alice', labels: { team: 'core' }, tags: { feature: 'search' } },
  { conversation: 'one', labels: { team: 'core' }, agent: 'agent_1', service: 'ep_1' },
  { conversation: 'two', endUser: 'bob', labels: { team: 'web' }, schedule: 'depl_1' },
  { endUser: 'alice', tags: { feature: 'chat' } },
  undefined,
];

const costs = async (store: Store, group: UsageGroup): Promise<Record<string, string | null>> => {
  const rows = await usageReport({ store }, { groupBy: [group] });
  return Object.fromEntries(rows.map((row) => [String(row[group]), row.cost]));
};

describe('use by dimension', () => {
  it.each(inTurn('dimensions of usage', places.drivers))(
    verifies(
      'usage.by-dimension',
      'usage.sums-kept',
      'is summed by each dimension, adds up to the total, and stays when its records are gone, on %s',
    ),
    async (driver) => {
      const clock = createFakeClock();
      const store = await openStore(await places.fresh(driver), { clock });
      const start = createStarts(clock);
      for (const worker of ['w1', 'w2']) {
        const ledger = createLedger({ store, clock, worker });
        for (const [index, origin] of ORIGINS.entries()) {
          const provider = index === 0 ? 'backup' : 'acme';
          const answeredBy = { model: 'acme/one', provider, upstreamModel: 'one' };
          ledger.begin(start({ origin })).settle(outcome({ cost: 10 ** index, answeredBy }));
        }
        await ledger.drain();
      }
      const expected: Partial<Record<UsageGroup, Record<string, string>>> = {
        vendor: { backup: '0.000000002', acme: '0.00002222' },
        'label:team': { core: '0.000000022', web: '0.0000002', null: '0.000022' },
        'tag:feature': { search: '0.000000002', chat: '0.000002', null: '0.00002022' },
        agent: { agent_1: '0.00000002', null: '0.000022202' },
        service: { ep_1: '0.00000002', null: '0.000022202' },
        schedule: { depl_1: '0.0000002', null: '0.000022022' },
        conversation: { one: '0.000000022', two: '0.0000002', null: '0.000022' },
        end_user: { alice: '0.000002002', bob: '0.0000002', null: '0.00002002' },
      };
      const expectAll = async (): Promise<void> => {
        for (const [group, sums] of Object.entries(expected)) {
          const found = await costs(store, group as UsageGroup);
          const told = Object.entries(found).map(([name, cost]) => [name, Number(cost)]);
          expect(Object.fromEntries(told), group).toEqual(
            Object.fromEntries(
              Object.entries(sums ?? {}).map(([name, cost]) => [name, Number(cost)]),
            ),
          );
        }
        const [total] = await usageReport({ store }, {});
        expect(total).toMatchObject({ requests: 10, cost: '0.000022222' });
      };
      await expectAll();
      const sweep = createRequestSweep(store);
      await sweep({ before: clock.now() + DAY, cursor: null, limit: 500 });
      expect((await listRequests({ store })).data).toEqual([]);
      await expectAll();
      await store.close();
    },
  );

  it(
    verifies('usage.sums-cost', 'takes one sum for a call, and two more for who talked in what'),
    async () => {
      const clock = createFakeClock();
      const store = createFaultyStore(openMemoryStore(clock));
      const ledger = createLedger({ store, clock, worker: 'w1' });
      const start = createStarts(clock);
      const settle = async (origin?: RequestOrigin): Promise<unknown[]> => {
        store.takeCommits();
        ledger.begin(start({ origin })).settle(outcome({ cost: 1 }));
        await ledger.drain();
        const written = store.takeCommits().flat();
        return written.filter(({ type }) => type === 'put').map(({ key }) => key[0]);
      };
      const sumsIn = (rooms: unknown[]) =>
        rooms.filter((room) => /^usage(-by)?$/.test(String(room)));
      const everything = { ...ORIGINS[0], ...ORIGINS[1], ...ORIGINS[2] };
      expect(sumsIn(await settle())).toEqual(['usage']);
      const first = await settle(everything);
      expect(sumsIn(first)).toEqual(['usage', 'usage-by', 'usage-by']);
      // The facets themselves are stored once.
      expect(first).toContain('usage-facets');
      expect(await settle(everything)).not.toContain('usage-facets');
    },
  );

  it('counts what others closed or charged for a call, by the same dimensions', async () => {
    const clock = createFakeClock();
    const store = openMemoryStore(clock);
    await store.commit([{ type: 'put', key: ['roster', 'w1'], value: null }]);
    const ledger = createLedger({ store, clock, worker: 'w1' });
    const start = createStarts(clock);
    const [origin] = ORIGINS;
    const estimate = { input: 5, output: 0, cost: 50 };
    await ledger.begin(start({ origin, estimate })).durable;
    await recoverOpen({ store, clock });
    const charge = { id: 'video_1', principal: principal(), origin, at: clock.now() };
    const call = { surface: 'videos', model: 'acme/one', outcome: outcome({ cost: 7 }) };
    await createCharges({ store }).charge({ ...charge, ...call });
    for (const group of ['conversation', 'end_user', 'label:team', 'tag:feature'] as const) {
      const [row, ...others] = await usageReport({ store }, { groupBy: [group] });
      expect(row, group).toMatchObject({ requests: 2, cost: '0.000000057' });
      expect(others).toEqual([]);
    }
  });

  it('moves what a sleeping worker has counted to the dimensions of its own record', async () => {
    const clock = createFakeClock();
    const store = openMemoryStore(clock);
    await store.commit([{ type: 'put', key: ['roster', 'w1'], value: null }]);
    const ledger = createLedger({ store, clock, worker: 'w1' });
    const start = createStarts(clock);
    const [origin] = ORIGINS;
    const entry = ledger.begin(start({ origin, estimate: { input: 5, output: 0, cost: 50 } }));
    await entry.durable;
    await recoverOpen({ store, clock });
    entry.settle(outcome({ cost: 20 }));
    const drained = ledger.drain();
    for (let i = 0; i < 5; i++) {
      clock.advance(1_000);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await drained;
    expect(await costs(store, 'vendor')).toEqual({ acme: '0.00000002' });
    expect(await costs(store, 'conversation')).toEqual({ one: '0.00000002' });
    expect(await costs(store, 'label:team')).toEqual({ core: '0.00000002' });
  });

  it(
    verifies(
      'usage.tags-allow-list',
      'takes no more than 1,000 combinations of tags of a day apart, so that clients make no endless series',
    ),
    async () => {
      const clock = createFakeClock();
      const store = openMemoryStore(clock);
      const ledger = createLedger({ store, clock, worker: 'w1' });
      const start = createStarts(clock);
      for (let index = 0; index < 1_200; index++) {
        const origin = { tags: { feature: `f${index}` } };
        ledger.begin(start({ origin })).settle(outcome({ cost: 1 }));
      }
      await ledger.drain();
      const rows = await usageReport({ store }, { groupBy: ['tag:feature'] });
      expect(rows).toHaveLength(1_001);
      expect(rows.find((row) => row['tag:feature'] === 'other')?.requests).toBe(200);
    },
  );

  it('tells the use of one conversation, and of the dearest of many', async () => {
    const clock = createFakeClock();
    const store = openMemoryStore(clock);
    const ledger = createLedger({ store, clock, worker: 'w1' });
    const start = createStarts(clock);
    for (let index = 1; index <= 5; index++) {
      const origin = { conversation: `c${index}` };
      ledger.begin(start({ origin })).settle(outcome({ cost: index }));
    }
    ledger.begin(start({ origin: { conversation: 'c2' } })).settle(outcome({ cost: 1 }));
    await ledger.drain();
    const [own] = await usageReport({ store }, { conversations: ['c2'] });
    expect(own).toMatchObject({ requests: 2, cost: '0.000000003' });
    expect(await usageReport({ store }, { conversations: ['c9'] })).toEqual([]);
    const ranked = await usageReport({ store }, { groupBy: ['conversation'], limit: 3 });
    expect(ranked.map(({ conversation, cost }) => [conversation, cost])).toEqual([
      ['c4', '0.000000004'],
      ['c5', '0.000000005'],
      ['other', '0.000000007'],
    ]);
    clock.advance(DAY);
    for (const cost of [1, 2])
      ledger.begin(start({ origin: { conversation: `d${cost}` } })).settle(outcome({ cost }));
    await ledger.drain();
    const byDay = await usageReport({ store }, { groupBy: ['day', 'conversation'], limit: 2 });
    expect(byDay.map(({ conversation, cost }) => [conversation, cost])).toEqual([
      ['c5', '0.000000005'],
      ['other', '0.000000011'],
      ['other', '0.000000003'],
    ]);
    expect(new Set(byDay.map(({ day }) => day)).size).toBe(2);
  });
});
