import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { NO_USAGE } from '../../../src/core/usage.ts';
import { openMemoryStore } from '../../../src/store/backends/memory/open-memory-store.ts';
import type { Budget } from '../../../src/usage/budgets/budget.ts';
import { budgetScope } from '../../../src/usage/budgets/extra-payers.ts';
import { foldJournal } from '../../../src/usage/journal/fold-journal.ts';
import { createLedger } from '../../../src/usage/ledger/ledger-store.ts';
import type { LedgerEntry } from '../../../src/usage/ledger/ledger.ts';
import type { Scope } from '../../../src/usage/ledger/ledger-keys.ts';
import { recoverOpen } from '../../../src/usage/recovery/recover-open.ts';
import { createCharges } from '../../../src/usage/spend/create-charges.ts';
import { readSpend } from '../../../src/usage/spend/read-spend.ts';
import { verifies } from '../../requirements.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import {
  codeOf,
  createFaultyStore,
  createStarts,
  DAY,
  fateOf,
  outcome,
  principal,
  turns,
} from '../usage-fixtures.ts';
import { sampleBudget } from './sample-budget.ts';

function setUp() {
  const clock = createFakeClock();
  const store = createFaultyStore(openMemoryStore(clock));
  const open = (worker: string) => createLedger({ store, clock, worker });
  const spentIn = async (scope: Scope) => (await readSpend({ store }, scope, clock.now())).lifetime;
  const spent = (budget: Budget) => spentIn(budgetScope(budget, budget.windowAt(clock.now())));
  return { clock, store, open, ledger: open('w1'), start: createStarts(clock), spent, spentIn };
}

const count = async (entries: readonly LedgerEntry[]): Promise<Record<string, number>> => {
  const fates = await Promise.all(entries.map(fateOf));
  return Object.fromEntries(
    [...new Set(fates)].map((fate) => [fate, fates.filter((one) => one === fate).length]),
  );
};

describe('a budget', () => {
  it('lets in as many calls at once, of two workers and of several keys, as fit into it', async () => {
    const { open, start, spent } = setUp();
    const team = sampleBudget({ amount: 1_000 });
    const entries = ['w1', 'w2'].flatMap((worker) => {
      const ledger = open(worker);
      return Array.from({ length: 50 }, (_, index) =>
        ledger.begin(
          start({
            principal: principal({ keyId: `key_${index % 5}`, budgets: [team] }),
            bound: 30,
          }),
        ),
      );
    });
    expect(await count(entries)).toEqual({ admitted: 33, organization_spending_limit: 67 });
    expect(await spent(team)).toEqual({ settled: 0, reserved: 990 });
    for (const entry of entries) entry.settle(outcome({ cost: 10 }));
    for (const { settled } of entries) await settled;
    expect((await spent(team)).reserved).toBe(0);
  });

  it(
    verifies(
      'budgets.windows',
      'begins anew with its window in its zone, and one for the lifetime never does',
    ),
    async () => {
      const { clock, ledger, start, spent } = setUp();
      for (const per of ['day', 'week', 'month'] as const) {
        const zone = 'Asia/Tokyo';
        const budget = sampleBudget({ id: `bud_${per}`, per, zone, amount: 100 });
        const who = principal({ budgets: [budget] });
        const { to } = budget.windowAt(clock.now());
        const begun = ledger.begin(start({ principal: who, bound: 100 }));
        await begun.admitted;
        begun.settle(outcome({ cost: 100 }));
        await begun.settled;
        clock.advance(to - clock.now() - 1);
        expect(await codeOf(ledger.begin(start({ principal: who, bound: 1 })).admitted)).toBe(
          'organization_spending_limit',
        );
        clock.advance(1);
        const next = ledger.begin(start({ principal: who, bound: 100 }));
        await next.admitted;
        expect(await spent(budget)).toEqual({ settled: 0, reserved: 100 });
        next.settle(outcome());
        await next.settled;
      }
      const life = sampleBudget({ id: 'bud_life', per: 'lifetime', amount: 100 });
      const who = principal({ budgets: [life] });
      const begun = ledger.begin(start({ principal: who, bound: 100 }));
      await begun.admitted;
      begun.settle(outcome({ cost: 100 }));
      await begun.settled;
      clock.advance(4_000 * DAY);
      expect(await codeOf(ledger.begin(start({ principal: who, bound: 1 })).admitted)).toBe(
        'organization_spending_limit',
      );
    },
  );

  it('charges a call that ends in the next window to the window that it began in', async () => {
    const { clock, ledger, start, spent, spentIn } = setUp();
    const budget = sampleBudget({ per: 'day', amount: 100 });
    const before = budgetScope(budget, budget.windowAt(clock.now()));
    const entry = ledger.begin(start({ principal: principal({ budgets: [budget] }), bound: 80 }));
    await entry.admitted;
    clock.advance(DAY);
    entry.settle(outcome({ cost: 60 }));
    await entry.settled;
    expect(await spentIn(before)).toEqual({ settled: 60, reserved: 0 });
    expect(await spent(budget)).toEqual({ settled: 0, reserved: 0 });
  });

  it('refuses with the sentence of the key where it names keys', async () => {
    const { ledger, start } = setUp();
    const budget = sampleBudget({ amount: 10, isOfKeys: true });
    const entry = ledger.begin(start({ principal: principal({ budgets: [budget] }), bound: 11 }));
    expect(await codeOf(entry.admitted)).toBe('key_spending_limit');
    expect(entry.refusedBy).toBe(budget);
  });

  it('counts calls of its models alone, and is not asked about others before they are known', async () => {
    const { ledger, start, spent } = setUp();
    const budget = sampleBudget({ amount: 10, counts: (model) => model === 'acme/big' });
    const who = principal({ budgets: [budget] });
    const other = ledger.begin(start({ principal: who, bound: 500 }));
    expect(other.admitted).toBeUndefined();
    other.settle(outcome({ cost: 500 }));
    const big = ledger.begin(start({ principal: who, model: 'acme/big', bound: 10 }));
    await big.admitted;
    big.settle(outcome({ cost: 10 }));
    await big.settled;
    expect(await spent(budget)).toEqual({ settled: 10, reserved: 0 });
    await ledger.checkFunds(who);
    const whole = principal({ budgets: [{ ...budget, counts: () => true }] });
    expect(await codeOf(Promise.resolve().then(() => ledger.checkFunds(whole)))).toBe(
      'organization_spending_limit',
    );
  });

  it('serves what does not fit where it only warns, and counts it', async () => {
    const { ledger, start, spent } = setUp();
    const budget = sampleBudget({ amount: 10, onExceed: 'warn' });
    const who = principal({ budgets: [budget] });
    for (const cost of [9, 50]) {
      await ledger.checkFunds(who);
      const entry = ledger.begin(start({ principal: who, bound: 100 }));
      await entry.admitted;
      entry.settle(outcome({ cost }));
      await entry.settled;
    }
    expect(await spent(budget)).toEqual({ settled: 59, reserved: 0 });
  });

  it('refuses what cannot be counted, also where it only warns', async () => {
    const { ledger, start, spent } = setUp();
    const budget = sampleBudget({ amount: 10, onExceed: 'warn' });
    const who = principal({ budgets: [budget] });
    const entries = [30, Number.MAX_SAFE_INTEGER ** 2].map((bound) =>
      ledger.begin(start({ principal: who, bound })),
    );
    expect(await count(entries)).toEqual({ admitted: 1, organization_spending_limit: 1 });
    expect(await spent(budget)).toEqual({ settled: 0, reserved: 30 });
  });

  it('costs a call no more than its counter: one put and one check beside those of other limits', async () => {
    const { store, ledger, start } = setUp();
    const limits = { keySpend: { lifetime: 1_000 } };
    const opsOf = async (who: ReturnType<typeof principal>): Promise<number> => {
      const entry = ledger.begin(start({ principal: who, bound: 1 }));
      await entry.admitted;
      entry.settle(outcome({ cost: 1 }));
      await entry.settled;
      return store.takeCommits().flat().length;
    };
    await opsOf(principal(limits));
    const without = await opsOf(principal(limits));
    await opsOf(principal({ ...limits, budgets: [sampleBudget()] }));
    const withBudget = await opsOf(principal({ ...limits, budgets: [sampleBudget()] }));
    expect(withBudget - without).toBeLessThanOrEqual(2);
  });

  it('keeps what a task may still cost, and is charged when it is over', async () => {
    const { clock, store, spent } = setUp();
    const budget = sampleBudget({ counts: (model) => model === 'acme/film' });
    const who = principal({ budgets: [budget] });
    const charges = createCharges({ store });
    const task = { id: 'task_1', principal: who, at: clock.now(), model: 'acme/film' };
    await charges.hold({ ...task, bound: 70 });
    expect(await spent(budget)).toEqual({ settled: 0, reserved: 70 });
    await charges.charge({ ...task, surface: 'videos', outcome: outcome({ cost: 50 }) });
    expect(await spent(budget)).toEqual({ settled: 50, reserved: 0 });
  });

  it('is charged for calls of a worker that died, by what they held', async () => {
    const { store, ledger, start, spent } = setUp();
    const budgets = [sampleBudget(), sampleBudget({ id: 'bud_warn', onExceed: 'warn' })];
    const entry = ledger.begin(start({ principal: principal({ budgets }), bound: 40 }));
    await entry.admitted;
    await store.commit([{ type: 'put', key: ['roster', 'w1'], value: null }]);
    expect(await recoverOpen({ store })).toEqual({ interrupted: 1, charged: 40 });
    for (const budget of budgets) expect(await spent(budget)).toEqual({ settled: 40, reserved: 0 });
  });
});

describe('a budget in the journal of a worker', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'budgets-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it('is exact while only the journal knows of its calls, and when another worker folds them', async () => {
    const { clock, store: raw, start, spent } = setUp();
    const store = { ...raw, folder };
    const ledger = createLedger({
      store,
      clock,
      worker: 'w1',
      journal: {
        folder,
        sync: 'process',
        isSole: () => true,
        isKnown: () => true,
        ready: () => undefined,
      },
    });
    const budget = sampleBudget({ amount: 100 });
    const who = principal({ budgets: [budget], tokenCaps: { day: 1_000 } });
    // The counters have to be known before the journal decides.
    await ledger.checkFunds(who);
    const entries = Array.from({ length: 20 }, () =>
      ledger.begin(start({ principal: who, bound: 10, tokens: 7 })),
    );
    expect(await count(entries)).toEqual({ admitted: 10, organization_spending_limit: 10 });
    entries[0]?.settle(outcome({ cost: 4 }));
    await turns();
    await store.commit([{ type: 'put', key: ['roster', 'w1'], value: null }]);
    await store.commit([
      { type: 'put', key: ['fence', 'w1'], value: { seq: 1_000, dead: true, folded: 0 } },
    ]);
    await foldJournal({ store, clock, worker: 'w1' });
    expect(await spent(budget)).toEqual({ settled: 4, reserved: 90 });
    await recoverOpen({ store, clock });
    expect(await spent(budget)).toEqual({ settled: 94, reserved: 0 });
  });
});

describe('token caps of a key', () => {
  const used = { usage: { ...NO_USAGE, input: 6, cacheRead: 2, output: 2 } };

  it('refuse from the cap on, over workers, until the next minute or day', async () => {
    const { clock, open, start, spentIn } = setUp();
    const ledgers = [open('w1'), open('w2')];
    const who = principal({ tokenCaps: { minute: 30, day: 60 } });
    const next = async (index: number): Promise<string> => {
      const entry = ledgers[index % 2]!.begin(start({ principal: who, tokens: 25 }));
      const fate = await fateOf(entry);
      entry.settle(outcome(fate === 'admitted' ? used : { usage: NO_USAGE }));
      await entry.settled;
      return fate;
    };
    const row = async (): Promise<string[]> => [
      await next(0),
      await next(1),
      await next(2),
      await next(3),
    ];
    expect(await row()).toEqual(['admitted', 'admitted', 'admitted', 'key_rate_limited']);
    clock.advance(60_000);
    expect(await row()).toEqual(['admitted', 'admitted', 'admitted', 'key_rate_limited']);
    clock.advance(60_000);
    expect(await next(0)).toBe('key_rate_limited');
    clock.advance(DAY);
    expect(await next(1)).toBe('admitted');
    const today = { kind: 'tokens', id: `key_1/day-${Math.floor(clock.now() / DAY)}` } as const;
    expect(await spentIn(today)).toEqual({ settled: 10, reserved: 0 });
  });

  it('let in no more at once than what those under way may use', async () => {
    const { open, start } = setUp();
    const who = principal({ tokenCaps: { minute: 100 } });
    const entries = ['w1', 'w2'].flatMap((worker) => {
      const ledger = open(worker);
      return Array.from({ length: 25 }, () => ledger.begin(start({ principal: who, tokens: 40 })));
    });
    expect(await count(entries)).toEqual({ admitted: 3, key_rate_limited: 47 });
  });

  it('refuse what cannot be counted, and stay exact', async () => {
    const { clock, ledger, start, spentIn } = setUp();
    const who = principal({ tokenCaps: { day: 10_000 } });
    const beside = Array.from({ length: 9 }, () =>
      ledger.begin(start({ principal: who, tokens: 1_000 })),
    );
    const huge = ledger.begin(
      start({ principal: who, tokens: Number.MAX_SAFE_INTEGER * Number.MAX_SAFE_INTEGER }),
    );
    expect(await count([...beside, huge])).toEqual({ admitted: 9, key_rate_limited: 1 });
    huge.settle(outcome({ status: 429, result: 'error', usage: NO_USAGE }));
    for (const entry of beside) entry.settle(outcome(used));
    for (const entry of beside) await entry.settled;
    const today = { kind: 'tokens', id: `key_1/day-${Math.floor(clock.now() / DAY)}` } as const;
    expect(await spentIn(today)).toEqual({ settled: 90, reserved: 0 });
  });

  it('refuse before the body is read, and count a call of a dead worker by its estimate', async () => {
    const { store, ledger, start, clock } = setUp();
    const who = principal({ tokenCaps: { day: 12 } });
    const estimate = { input: 12, output: 0, cost: 0 };
    const entry = ledger.begin(start({ principal: who, tokens: 50, estimate }));
    await entry.admitted;
    await store.commit([{ type: 'put', key: ['roster', 'w1'], value: null }]);
    await recoverOpen({ store, clock });
    const other = createLedger({ store, clock, worker: 'w2' });
    expect(await codeOf(Promise.resolve().then(() => other.checkFunds(who)))).toBe(
      'key_rate_limited',
    );
  });
});
