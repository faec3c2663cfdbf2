import { describe, expect, it } from 'vitest';
import { openMemoryStore } from '../../../src/store/backends/memory/open-memory-store.ts';
import { openStore } from '../../../src/store/open-store.ts';
import type { Store } from '../../../src/store/store.ts';
import { createLedger } from '../../../src/usage/ledger/ledger-store.ts';
import { usageReport } from '../../../src/usage/requests/usage-report.ts';
import type { UsageGroup, UsageQuery } from '../../../src/usage/requests/usage-report.ts';
import { createCharges } from '../../../src/usage/spend/create-charges.ts';
import { foldParts } from '../../../src/usage/sums/fold-parts.ts';
import { digestDays } from '../../../src/usage/sums/digest-days.ts';
import { storePlaces } from '../../store/support/store-places.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import type { FakeClock } from '../../support/fake-clock.ts';
import { createStarts, DAY, outcome, principal } from '../usage-fixtures.ts';
import { inTurn } from '../../runs.ts';

const places = storePlaces();
const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

const GROUPS: readonly (readonly UsageGroup[])[] = [
  [],
  ['day'],
  ['organization'],
  ['day', 'model'],
  ['key'],
  ['vendor'],
  ['day', 'label:team'],
  ['tag:feature', 'organization'],
  ['agent'],
  ['conversation'],
  ['day', 'organization', 'conversation'],
  ['end_user'],
  ['day', 'key', 'model'],
];

/** Reports of all kinds over a few ranges, as JSON. */
async function reports(store: Store, now: number): Promise<string[]> {
  const ranges: UsageQuery[] = [
    {},
    { from: now - 2 * DAY },
    { to: now - DAY },
    { from: now - 3 * DAY, to: now - 2 * DAY, organization: 'org_2' },
    { organization: 'org_1' },
  ];
  const found: string[] = [];
  found.push(JSON.stringify(await usageReport({ store }, { conversations: ['c1', 'c3', 'none'] })));
  for (const groupBy of GROUPS)
    for (const range of ranges)
      found.push(JSON.stringify(await usageReport({ store }, { groupBy, ...range })));
  return found;
}

/** Calls of two organizations on the four days before this one, and on this one. */
async function trade(store: Store, clock: FakeClock) {
  const start = createStarts(clock);
  const ledger = createLedger({ store, clock, worker: 'w1' });
  const call = (index: number, day: number): void => {
    const payer = principal({
      keyId: `key_${index % 3}`,
      organizationId: index % 4 === 0 ? 'org_2' : 'org_1',
    });
    const origin = {
      ...(index % 2 === 0 && { labels: { team: `t${index % 3}` } }),
      ...(index % 5 === 0 && { tags: { feature: 'search' }, agent: 'agent_1' }),
      conversation: `c${index % 4}`,
    };
    const at = clock.now() - day * DAY;
    const model = `acme/m${index % 2}`;
    ledger
      .begin(start({ at, model, principal: payer, ...(index % 7 > 0 && { origin }) }))
      .settle(outcome({ cost: 10 ** (index % 6), ...(index % 6 === 0 && { result: 'error' }) }));
  };
  for (let index = 0; index < 60; index++) call(index, index % 5);
  await ledger.drain();
  return { ledger, call };
}

/** What a report reads, by the first segment of its keys. */
function watchReads(store: Store): { store: Store; rows: Map<string, number> } {
  const rows = new Map<string, number>();
  return {
    rows,
    store: {
      ...store,
      async list<T>(options: Parameters<Store['list']>[0]) {
        const found = await store.list<T>(options);
        const room = String(options.prefix[0]);
        rows.set(room, (rows.get(room) ?? 0) + found.length);
        return found;
      },
    },
  };
}

describe('digestDays', () => {
  it.each(inTurn('days of usage', places.drivers))('changes no report, on %s', async (driver) => {
    const clock = createFakeClock();
    const store = await openStore(await places.fresh(driver), { clock });
    const { ledger, call } = await trade(store, clock);
    const expected = await reports(store, clock.now());
    expect(await digestDays(store, dayOf(clock.now()))).toBe(4);
    expect(await reports(store, clock.now())).toEqual(expected);
    expect(await digestDays(store, dayOf(clock.now()))).toBe(0);

    // What is counted on a day that is summed already, and on one that had no use, is told at once.
    for (const day of [2, 9, 0]) call(1, day);
    const charge = { id: 'video_1', principal: principal(), at: clock.now() - 3 * DAY };
    const video = { surface: 'videos', model: 'acme/one', outcome: outcome({ cost: 77 }) };
    await createCharges({ store }).charge({ ...charge, ...video, origin: undefined });
    await ledger.drain();
    const changed = await reports(store, clock.now());
    expect(changed).not.toEqual(expected);
    const [total] = await usageReport({ store }, {});
    expect(total?.requests).toBe(64);
    expect(await digestDays(store, dayOf(clock.now()))).toBe(3);
    expect(await reports(store, clock.now())).toEqual(changed);
    await store.close();
  });

  it('makes a report read a row of a day by its dimension, however many there are', async () => {
    const clock = createFakeClock();
    const plain = openMemoryStore(clock);
    const { ledger } = await trade(plain, clock);
    const start = createStarts(clock);
    const at = clock.now() - DAY;
    for (let index = 0; index < 700; index++)
      ledger
        .begin(
          start({ at, model: `acme/m${index % 10}`, principal: principal({ keyId: `k${index}` }) }),
        )
        .settle(outcome({ cost: 1 }));
    await ledger.drain();
    await digestDays(plain, dayOf(clock.now()));
    const { store, rows } = watchReads(plain);
    const past = { to: clock.now() - DAY + 1 };
    await usageReport({ store }, { groupBy: ['day', 'model'], ...past });
    expect(rows.get('usage') ?? 0).toBe(0);
    expect(rows.get('usage-digest')).toBeLessThan(16);
    await usageReport({ store }, { groupBy: ['conversation'], ...past });
    expect(rows.get('usage-by') ?? 0).toBe(0);
    // More values than a row holds.
    const byKey = await usageReport({ store }, { groupBy: ['key'], ...past });
    expect(byKey.length).toBeGreaterThan(700);
    expect(rows.get('usage') ?? 0).toBe(0);
  });

  it('goes with values that are folded before it and after it', async () => {
    const clock = createFakeClock();
    const store = openMemoryStore(clock);
    const { ledger, call } = await trade(store, clock);
    await foldParts(store, 3);
    await digestDays(store, dayOf(clock.now()));
    const byTalk = (): Promise<unknown[]> =>
      usageReport({ store }, { groupBy: ['day', 'conversation'] });
    const before = await byTalk();
    await foldParts(store, 1);
    const folded = await byTalk();
    expect(folded).not.toEqual(before);
    await digestDays(store, dayOf(clock.now()));
    expect(await byTalk()).toEqual(folded);
    const requests = (rows: unknown[]): number =>
      rows.reduce((sum: number, row) => sum + (row as { requests: number }).requests, 0);
    expect(requests(folded)).toBe(60);
    // A worker goes on with values that were taken out of their days.
    for (let index = 1; index < 30; index++) call(index, index % 5);
    await ledger.drain();
    const more = await byTalk();
    expect(requests(more)).toBe(89);
    await digestDays(store, dayOf(clock.now()));
    expect(await byTalk()).toEqual(more);
  });

  it('enters the sums of older versions into their days', async () => {
    const clock = createFakeClock();
    const store = openMemoryStore(clock);
    await trade(store, clock);
    const expected = await reports(store, clock.now());
    const entered = await store.list({ prefix: ['usage-on'], limit: 1_000 });
    expect(entered.length).toBeGreaterThan(10);
    await store.commit(entered.map(({ key }) => ({ type: 'delete', key })));
    expect(await reports(store, clock.now())).toEqual(expected);
    await digestDays(store, dayOf(clock.now()));
    expect(await store.list({ prefix: ['usage-on'], limit: 1_000 })).toHaveLength(entered.length);
    expect(await reports(store, clock.now())).toEqual(expected);
  });

  it('leaves a day alone that others keep counting on', async () => {
    const clock = createFakeClock();
    const plain = openMemoryStore(clock);
    const { ledger, call } = await trade(plain, clock);
    const busy: Store = {
      ...plain,
      async commit(ops) {
        call(3, 2);
        await ledger.drain();
        return plain.commit(ops);
      },
    };
    await digestDays(busy, dayOf(clock.now()));
    const { store, rows } = watchReads(plain);
    const [day] = await usageReport(
      { store },
      { from: clock.now() - 2 * DAY, to: clock.now() - 2 * DAY + 1 },
    );
    expect(day?.requests).toBeGreaterThan(20);
    expect(rows.get('usage')).toBeGreaterThan(0);
  });
});
