import { describe, expect, it } from 'vitest';
import { NO_USAGE } from '../../../src/core/usage.ts';
import { openMemoryStore } from '../../../src/store/backends/memory/open-memory-store.ts';
import type { Charge } from '../../../src/usage/spend/charges.ts';
import { createCharges } from '../../../src/usage/spend/create-charges.ts';
import { createLedger } from '../../../src/usage/ledger/ledger-store.ts';
import { readSpend } from '../../../src/usage/spend/read-spend.ts';
import { getRequest, listRequests } from '../../../src/usage/requests/request-log.ts';
import { usageReport } from '../../../src/usage/requests/usage-report.ts';
import { verifies } from '../../requirements.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import {
  codeOf,
  createFaultyStore,
  createStarts,
  fateOf,
  outcome,
  principal,
} from '../usage-fixtures.ts';

const KEY = { kind: 'key', id: 'key_1' } as const;
const ORGANIZATION = { kind: 'organization', id: 'org_1' } as const;

function setUp() {
  const clock = createFakeClock();
  const store = createFaultyStore(openMemoryStore(clock));
  const charge = (overrides: Partial<Charge> = {}): Charge => ({
    id: 'video_1',
    at: clock.now(),
    principal: principal(),
    surface: 'videos',
    model: 'acme/film',
    outcome: outcome({ cost: 400, usage: { ...NO_USAGE, seconds: 4 } }),
    ...overrides,
  });
  const spent = async (scope: typeof KEY | typeof ORGANIZATION = KEY) =>
    (await readSpend({ store }, scope, clock.now())).day;
  const records = async () => (await listRequests({ store })).data;
  return { clock, store, charge, spent, records };
}

describe('a late charge', () => {
  it('is a record, spending of key and organization, and usage', async () => {
    const { store, charge, spent, records } = setUp();
    const seen: string[] = [];
    const charges = createCharges({ store, observe: (_, id) => void seen.push(id) });
    await charges.charge(charge());
    const [record] = await records();
    expect(seen).toEqual([record?.id]);
    expect(await getRequest({ store }, seen[0] ?? '')).toMatchObject({
      surface: 'videos',
      model: 'acme/film',
      result: 'ok',
      cost: '0.0000004',
      usage: { seconds: 4 },
      organization: 'org_1',
    });
    expect(await spent(KEY)).toEqual({ settled: 400, reserved: 0 });
    expect(await spent(ORGANIZATION)).toEqual({ settled: 400, reserved: 0 });
    expect(await usageReport({ store }, { groupBy: ['model'] })).toMatchObject([
      { model: 'acme/film', requests: 1, errors: 0, cost: '0.0000004', usage: { seconds: 4 } },
    ]);
  });

  it(
    verifies('video.tasks.charged-once', 'counts once however many processes ask at once'),
    async () => {
      const { clock, store, charge, spent, records } = setUp();
      const all = Array.from({ length: 8 }, () => createCharges({ store }));
      await Promise.all(all.map((charges) => charges.charge(charge())));
      clock.advance(60_000);
      await all[0]?.charge(charge({ at: clock.now() }));
      expect(await spent()).toEqual({ settled: 400, reserved: 0 });
      expect(await records()).toHaveLength(1);
    },
  );

  it('adds up with others of the same day, and of the ledger', async () => {
    const { clock, store, charge, spent } = setUp();
    const limited = principal({ keySpend: { lifetime: 100_000 } });
    const ledger = createLedger({ store, clock, worker: 'a' });
    const starts = createStarts(clock);
    const one = createCharges({ store });
    const two = createCharges({ store });
    const calls = Array.from({ length: 20 }, async (_, index) => {
      await (index % 2 === 0 ? one : two).charge(charge({ id: `video_${index}` }));
      const entry = ledger.begin(starts({ principal: limited, bound: 10 }));
      await entry.admitted;
      entry.settle(outcome({ cost: 7 }));
    });
    await Promise.all(calls);
    await ledger.drain();
    expect(await spent()).toEqual({ settled: 20 * 407, reserved: 0 });
    const [row] = await usageReport({ store }, {});
    expect(row).toMatchObject({ requests: 40, usage: { seconds: 80 } });
  });

  it.each(['before', 'after'] as const)(
    'is made in full when it is repeated behind a store that failed %s the write',
    async (how) => {
      const { store, charge, spent, records } = setUp();
      const charges = createCharges({ store });
      await charges.hold({
        id: 'video_1',
        at: charge().at,
        principal: principal({ keySpend: { day: 1_000 } }),
        bound: 900,
      });
      store.fail(how);
      expect(await codeOf(charges.charge(charge()))).toBe('persistence_failed');
      store.fail(undefined);
      await charges.charge(charge());
      expect(await spent()).toEqual({ settled: 400, reserved: 0 });
      expect(await records()).toHaveLength(1);
    },
  );

  it('costs nothing when its cost is nonsense', async () => {
    const { store, charge, spent, records } = setUp();
    const nonsense = outcome({ cost: Number.NaN, usage: { ...NO_USAGE, seconds: Infinity } });
    await createCharges({ store }).charge(charge({ outcome: nonsense }));
    expect(await spent()).toEqual({ settled: 0, reserved: 0 });
    expect(await records()).toMatchObject([{ estimated: true, usage: { seconds: 0 } }]);
  });
});

describe('what a task may still cost', () => {
  const limited = principal({ keySpend: { day: 1_000 }, organizationSpend: null });

  it('is kept from other calls until the task is charged', async () => {
    const { clock, store, charge, spent } = setUp();
    const charges = createCharges({ store });
    const ledger = createLedger({ store, clock, worker: 'a' });
    const starts = createStarts(clock);
    const hold = { id: 'video_1', at: clock.now(), principal: limited, bound: 900 };
    await Promise.all([charges.hold(hold), createCharges({ store }).hold(hold)]);
    expect(await spent()).toEqual({ settled: 0, reserved: 900 });
    const ask = () => fateOf(ledger.begin(starts({ principal: limited, bound: 200 })));
    expect(await ask()).toBe('key_spending_limit');
    await charges.charge(charge());
    expect(await spent()).toEqual({ settled: 400, reserved: 0 });
    expect(await ask()).toBe('admitted');
  });

  it('is given back once for a task that costs nothing', async () => {
    const { clock, store, spent } = setUp();
    const charges = createCharges({ store });
    await charges.hold({ id: 'video_1', at: clock.now(), principal: limited, bound: 900 });
    await Promise.all([charges.release('video_1'), createCharges({ store }).release('video_1')]);
    await charges.release('video_2');
    expect(await spent()).toEqual({ settled: 0, reserved: 0 });
    expect(await store.list({ prefix: ['hold'] })).toEqual([]);
  });

  it('is neither kept nor charged any more once it was given back', async () => {
    const { clock, store, charge, spent, records } = setUp();
    const charges = createCharges({ store });
    await charges.release('video_1');
    await charges.hold({ id: 'video_1', at: clock.now(), principal: limited, bound: 900 });
    await charges.charge(charge());
    expect(await spent()).toEqual({ settled: 0, reserved: 0 });
    expect(await records()).toEqual([]);
  });

  it('is not kept once the task is charged, nor where no limit is', async () => {
    const { clock, store, charge, spent } = setUp();
    const charges = createCharges({ store });
    await charges.charge(charge());
    await charges.hold({ id: 'video_1', at: clock.now(), principal: limited, bound: 900 });
    await charges.hold({ id: 'video_2', at: clock.now(), principal: principal(), bound: 900 });
    expect(await spent()).toEqual({ settled: 400, reserved: 0 });
    expect(await store.list({ prefix: ['hold'] })).toEqual([]);
  });
});
