import { describe, expect, it } from 'vitest';
import { openStore } from '../../../src/store/open-store.ts';
import { openMemoryStore } from '../../../src/store/backends/memory/open-memory-store.ts';
import { createLedger } from '../../../src/usage/ledger/ledger-store.ts';
import type { LedgerEntry } from '../../../src/usage/ledger/ledger.ts';
import { hasSpendingLimit } from '../../../src/usage/ledger/ledger-call.ts';
import { createCharges } from '../../../src/usage/spend/create-charges.ts';
import { readSpend } from '../../../src/usage/spend/read-spend.ts';
import { recoverOpen } from '../../../src/usage/recovery/recover-open.ts';
import { verifies } from '../../requirements.ts';
import { storePlaces } from '../../store/support/store-places.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { codeOf, createStarts, DAY, fateOf, outcome, principal } from '../usage-fixtures.ts';

const places = storePlaces();
const guarded = principal({ conversationSpend: 1_000 });
const scopeOf = (conversation: string) =>
  ({ kind: 'conversation', id: `key_1/${conversation}` }) as const;

describe('a limit of the spending of each conversation', () => {
  it.each(places.drivers)(
    verifies(
      'limits.conversation-spending',
      'is never exceeded by 50 calls at once over two workers, on %s',
    ),
    async (driver) => {
      const clock = createFakeClock();
      const config = await places.fresh(driver);
      const store = await openStore(config, { clock });
      const ledgers = ['w1', 'w2'].map((worker) => createLedger({ store, clock, worker }));
      const start = createStarts(clock);
      const origin = { conversation: 'one' };
      const entries = Array.from({ length: 50 }, (_, index) => {
        const [first, second] = ledgers;
        return (index % 2 ? first : second)?.begin(
          start({ principal: guarded, origin, bound: 100 }),
        ) as LedgerEntry;
      });
      const fates = await Promise.all(entries.map(fateOf));
      expect(fates.filter((fate) => fate === 'admitted')).toHaveLength(10);
      expect(fates.filter((fate) => fate === 'key_spending_limit')).toHaveLength(40);
      for (const [index, entry] of entries.entries())
        if (fates[index] === 'admitted') entry.settle(outcome({ cost: 100 }));
      await Promise.all(ledgers.map((ledger) => ledger.drain()));
      expect((await readSpend({ store }, scopeOf('one'), clock.now())).lifetime).toEqual({
        settled: 1_000,
        reserved: 0,
      });
      const more = ledgers[0]?.begin(start({ principal: guarded, origin })) as LedgerEntry;
      expect(await fateOf(more)).toBe('key_spending_limit');
      const other = { principal: guarded, origin: { conversation: 'two' }, bound: 100 };
      expect(await fateOf(ledgers[0]?.begin(start(other)) as LedgerEntry)).toBe('admitted');
      const stranger = principal({ keyId: 'key_2', conversationSpend: 1_000 });
      const same = { principal: stranger, origin, bound: 100 };
      expect(await fateOf(ledgers[0]?.begin(start(same)) as LedgerEntry)).toBe('admitted');
      await store.close();
    },
  );

  it(
    verifies(
      'limits.conversation-spending',
      'leaves the limit of the key as it is, whatever ids the client sends',
    ),
    async () => {
      const clock = createFakeClock();
      const store = openMemoryStore(clock);
      const ledger = createLedger({ store, clock, worker: 'w1' });
      const start = createStarts(clock);
      const both = principal({ conversationSpend: 1_000, keySpend: { lifetime: 1_500 } });
      const fates: string[] = [];
      for (let index = 0; index < 20; index++) {
        const origin = { conversation: `c${index}` };
        const entry = ledger.begin(start({ principal: both, origin, bound: 100 }));
        const fate = await fateOf(entry);
        fates.push(fate);
        entry.settle(outcome({ cost: fate === 'admitted' ? 100 : 0 }));
      }
      await ledger.drain();
      expect(fates.filter((fate) => fate === 'admitted')).toHaveLength(15);
      const { lifetime } = await readSpend({ store }, { kind: 'key', id: 'key_1' }, clock.now());
      expect(lifetime).toEqual({ settled: 1_500, reserved: 0 });
      expect(await codeOf(ledger.begin(start({ principal: both })).admitted)).toBe(
        'key_spending_limit',
      );
    },
  );

  it('is one of the limits for which a route must have a price, where there is a conversation', () => {
    expect(hasSpendingLimit(guarded, { model: 'acme/one', origin: { conversation: 'one' } })).toBe(
      true,
    );
    expect(hasSpendingLimit(guarded, { model: 'acme/one', origin: undefined })).toBe(false);
    expect(
      hasSpendingLimit(principal(), { model: 'acme/one', origin: { conversation: 'one' } }),
    ).toBe(false);
  });

  it('is charged for a call whose process died, by what it had reserved', async () => {
    const clock = createFakeClock();
    const store = openMemoryStore(clock);
    await store.commit([{ type: 'put', key: ['roster', 'w1'], value: null }]);
    const ledger = createLedger({ store, clock, worker: 'w1' });
    const start = createStarts(clock);
    const origin = { conversation: 'one' };
    await ledger.begin(start({ principal: guarded, origin, bound: 400 })).admitted;
    await recoverOpen({ store, clock });
    expect((await readSpend({ store }, scopeOf('one'), clock.now())).lifetime).toEqual({
      settled: 400,
      reserved: 0,
    });
  });

  it('holds for work that outlives its call, and counts what that cost', async () => {
    const clock = createFakeClock();
    const store = openMemoryStore(clock);
    const charges = createCharges({ store });
    const task = {
      id: 'video_1',
      principal: guarded,
      origin: { conversation: 'one' },
      at: clock.now(),
    };
    await charges.hold({ ...task, bound: 700 });
    const spend = () => readSpend({ store }, scopeOf('one'), clock.now());
    expect((await spend()).lifetime).toEqual({ settled: 0, reserved: 700 });
    const call = { surface: 'videos', model: 'acme/one', outcome: outcome({ cost: 500 }) };
    await charges.charge({ ...task, ...call });
    expect((await spend()).lifetime).toEqual({ settled: 500, reserved: 0 });
  });

  it('is forgotten by the store when the conversation has spent nothing for 90 days', async () => {
    const clock = createFakeClock();
    const store = openMemoryStore(clock);
    const ledger = createLedger({ store, clock, worker: 'w1' });
    const start = createStarts(clock);
    const origin = { conversation: 'one' };
    ledger.begin(start({ principal: guarded, origin, bound: 100 })).settle(outcome({ cost: 100 }));
    await ledger.drain();
    clock.advance(89 * DAY);
    expect((await readSpend({ store }, scopeOf('one'), clock.now())).lifetime.settled).toBe(100);
    clock.advance(2 * DAY);
    expect((await readSpend({ store }, scopeOf('one'), clock.now())).lifetime.settled).toBe(0);
  });
});
