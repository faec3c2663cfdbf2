import { describe, expect, it } from 'vitest';
import { openMemoryStore } from '../../../src/store/backends/memory/open-memory-store.ts';
import { leaseKey } from '../../../src/usage/ledger/ledger-keys.ts';
import { createLedger } from '../../../src/usage/ledger/ledger-store.ts';
import type { RequestOutcome, RequestStart } from '../../../src/usage/ledger/ledger.ts';
import { readSpend } from '../../../src/usage/spend/read-spend.ts';
import { recoverOpen } from '../../../src/usage/recovery/recover-open.ts';
import { getRequest, listRequests } from '../../../src/usage/requests/request-log.ts';
import { createRequestSweep, removedUntil } from '../../../src/usage/requests/request-sweep.ts';
import { usageReport } from '../../../src/usage/requests/usage-report.ts';
import { createWorkerLease } from '../../../src/usage/ledger/worker-lease.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { sweepRound } from '../../support/sweep-round.ts';
import { createStarts, DAY, outcome, principal } from '../usage-fixtures.ts';

async function setUp() {
  const clock = createFakeClock(Date.parse('2026-11-21T00:00:00Z'));
  const store = openMemoryStore(clock);
  const lease = createWorkerLease({ store, clock, worker: 'w1' });
  await lease.start();
  const ledger = createLedger({ store, clock, worker: 'w1' });
  const start = createStarts(clock);
  return {
    clock,
    store,
    ledger,
    start,
    sweep: createRequestSweep(store),
    async record(request: Partial<RequestStart> = {}, how: Partial<RequestOutcome> = {}) {
      const begun = start(request);
      const entry = ledger.begin(begun);
      await entry.durable;
      entry.settle(outcome(how));
      await ledger.drain();
      return begun.id;
    },
    ids: async () => (await listRequests({ store }, { limit: 1_000 })).data.map(({ id }) => id),
  };
}

describe('the sweep of request records', () => {
  it('removes those past their age, the oldest first, step by step', async () => {
    const { clock, store, sweep, record, ids } = await setUp();
    for (let i = 0; i < 5; i++) await record();
    const until = clock.now() + 1;
    expect(await removedUntil(store)).toBeUndefined();
    expect(await listRequests({ store })).not.toHaveProperty('removed_before');
    clock.step(DAY);
    const young = await record();
    const round = await sweepRound(sweep, clock.now() - DAY / 2, 2);
    expect(round).toMatchObject({ removed: 5, steps: 3 });
    expect(await ids()).toEqual([young]);
    expect(await removedUntil(store)).toBe(until);
    const removed_before = new Date(until).toISOString();
    expect(await listRequests({ store })).toMatchObject({ next_page: null, removed_before });
    const later = await listRequests({ store }, { from: until });
    expect(later).not.toHaveProperty('removed_before');
    expect(await sweepRound(sweep, clock.now() - DAY / 2, 2)).toMatchObject({
      removed: 0,
      steps: 1,
    });
  });

  it('keeps what was spent and used', async () => {
    const { clock, store, sweep, record } = await setUp();
    const strict = principal({ keyId: 'key_2', keySpend: { lifetime: 1_000 } });
    await record({ principal: strict, bound: 500 }, { cost: 300 });
    await record({}, { cost: 7, result: 'error', status: 502 });
    const scopes = [
      { kind: 'key', id: 'key_1' },
      { kind: 'key', id: 'key_2' },
      { kind: 'organization', id: 'org_1' },
    ] as const;
    const money = () =>
      Promise.all(scopes.map((scope) => readSpend({ store }, scope, clock.now())));
    const used = () => usageReport({ store }, { groupBy: ['day', 'key', 'model'] });
    const before = [await money(), await used()];
    const { removed } = await sweepRound(sweep, clock.now() + 1);
    expect(removed).toBe(2);
    expect([await money(), await used()]).toEqual(before);
    expect((await money()).map(({ lifetime }) => lifetime.settled)).toEqual([7, 300, 307]);
  });

  it('leaves calls alone that go on, and those that began in one commit with them', async () => {
    const { clock, store, ledger, start, sweep, ids } = await setUp();
    const [ended, open] = [start(), start()];
    const entries = [ledger.begin(ended), ledger.begin(open)];
    await Promise.all(entries.map(({ durable }) => durable));
    entries[0]?.settle(outcome({ cost: 5 }));
    await ledger.drain();
    clock.step(DAY);
    expect(await sweepRound(sweep, clock.now() - 1)).toMatchObject({ removed: 0 });
    expect(await getRequest({ store }, ended.id)).toMatchObject({ result: 'ok' });
    expect(await getRequest({ store }, open.id)).toMatchObject({ result: 'pending' });
    // Its worker dies: the one that ended is not taken for interrupted, and both may go then.
    await store.commit([{ type: 'delete', key: leaseKey('w1') }]);
    await recoverOpen({ store });
    expect(await getRequest({ store }, ended.id)).toMatchObject({ result: 'ok' });
    expect(await getRequest({ store }, open.id)).toMatchObject({ result: 'interrupted' });
    expect(await sweepRound(sweep, clock.now() - 1)).toMatchObject({ removed: 2 });
    expect(await ids()).toEqual([]);
    await recoverOpen({ store });
    expect(await ids()).toEqual([]);
  });
});
