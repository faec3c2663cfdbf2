import { beforeEach, describe, expect, it } from 'vitest';
import { openMemoryStore } from '../../../src/store/backends/memory/open-memory-store.ts';
import type { Key, Store } from '../../../src/store/store.ts';
import { spendKey } from '../../../src/usage/ledger/ledger-keys.ts';
import { createLedger } from '../../../src/usage/ledger/ledger-store.ts';
import type { StoreLedger } from '../../../src/usage/ledger/ledger-store.ts';
import { recoverOpen } from '../../../src/usage/recovery/recover-open.ts';
import { checkFunds } from '../../../src/usage/spend/check-funds.ts';
import { PendingSpend } from '../../../src/usage/spend/pending-spend.ts';
import { createSpendCounters } from '../../../src/usage/spend/spend-counters.ts';
import type { SpendCounters } from '../../../src/usage/spend/spend-counters.ts';
import { windowsOf } from '../../../src/usage/spend/spend.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import type { FakeClock } from '../../support/fake-clock.ts';
import { codeOf, createStarts, outcome, principal, turns } from '../usage-fixtures.ts';

const KEY = spendKey({ kind: 'key', id: 'key_1' });
const who = principal({ keySpend: { lifetime: 100 } });

let clock: FakeClock;
let store: Store;
beforeEach(() => {
  clock = createFakeClock();
  store = openMemoryStore(clock);
});

const fundsOf = (ledger: StoreLedger) =>
  codeOf(Promise.resolve().then(() => ledger.checkFunds(who)));

it('lets in again who has spent less than was charged, once another worker has corrected that', async () => {
  const [first, second] = ['w1', 'w2'].map((worker) => createLedger({ store, clock, worker }));
  await store.commit([{ type: 'put', key: ['roster', 'w1'], value: null }]);
  const entry = first!.begin(createStarts(clock)({ principal: who, bound: 100 }));
  await entry.admitted;
  // Its lease ran out while it slept: the call is charged by its bound.
  expect(await recoverOpen({ store, clock })).toEqual({ interrupted: 1, charged: 100 });
  expect(await fundsOf(second!)).toBe('key_spending_limit');
  entry.settle(outcome({ cost: 1 }));
  await entry.settled;
  await turns();
  clock.advance(1_000);
  expect(await fundsOf(second!)).toBe('fulfilled');
});

it.each([
  ['has something left', { limit: 100, spent: 99 }, 'fulfilled'],
  ['is reached', { limit: 100, spent: 100 }, 'key_spending_limit'],
  ['is nothing', { limit: 0, spent: 0 }, 'key_spending_limit'],
])(
  'a call that costs nothing gets one answer at the door and at its beginning where the limit %s',
  async (_, { limit, spent }, code) => {
    const poor = principal({ keySpend: { lifetime: limit } });
    const ledger = createLedger({ store, clock, worker: 'w1' });
    const start = createStarts(clock);
    if (spent > 0) {
      const entry = ledger.begin(start({ principal: poor, bound: spent }));
      await entry.admitted;
      entry.settle(outcome({ cost: spent }));
      await entry.settled;
    }
    const funds = Promise.resolve().then(() => ledger.checkFunds(poor));
    expect(await codeOf(funds)).toBe(code);
    expect(await codeOf(ledger.begin(start({ principal: poor, bound: 0 })).admitted)).toBe(code);
  },
);

describe('a refusal', () => {
  let reads: Key[];
  let counters: SpendCounters;
  let away: boolean;
  /** Holds back what was read. */
  let delay: Promise<void> | undefined;

  beforeEach(async () => {
    await spend(100);
    reads = [];
    away = false;
    delay = undefined;
    const watched: Store = {
      ...store,
      async get(key) {
        reads.push(key);
        if (away) throw new Error('the store is away');
        const found = await store.get<never>(key);
        await delay;
        return found;
      },
    };
    counters = createSpendCounters({
      store: watched,
      clock,
      isOwn: () => false,
      own: () => [],
      pending: new PendingSpend(),
    });
    await counters.load([{ kind: 'key', id: 'key_1' }]);
    reads.length = 0;
  });

  const spend = (settled: number) =>
    store.commit([{ type: 'put', key: KEY, value: { life: { settled, reserved: 0 } } }]);
  const ask = (isAlone = false) =>
    codeOf(
      Promise.resolve().then(() => {
        const at = clock.now();
        return checkFunds(counters, who, { at, windows: windowsOf(at), isAlone });
      }),
    );
  const askMany = async () => new Set(await Promise.all(Array.from({ length: 50 }, () => ask())));

  it('reads the counter again once a second, however many ask', async () => {
    expect(await askMany()).toEqual(new Set(['key_spending_limit']));
    expect(reads).toEqual([]);
    for (let second = 0; second < 3; second++) {
      clock.advance(1_000);
      expect(await askMany()).toEqual(new Set(['key_spending_limit']));
      expect(await askMany()).toEqual(new Set(['key_spending_limit']));
    }
    expect(reads).toEqual([KEY, KEY, KEY]);
  });

  it('stands as it is known while the store is away', async () => {
    away = true;
    clock.advance(1_000);
    expect(await ask()).toBe('key_spending_limit');
    expect(reads).toHaveLength(1);
  });

  it('needs no other look where nobody else changes the counters', async () => {
    await spend(1);
    clock.advance(1_000);
    expect(await ask(true)).toBe('key_spending_limit');
    expect(reads).toEqual([]);
    expect(await ask()).toBe('fulfilled');
  });

  it('is not taken from what was read before others told of a change', async () => {
    clock.advance(1_000);
    let release = (): void => undefined;
    delay = new Promise((resolve) => (release = resolve));
    const asked = ask();
    await turns();
    await spend(1);
    counters.forget({ kind: 'key', id: 'key_1' });
    delay = undefined;
    await counters.load([{ kind: 'key', id: 'key_1' }]);
    release();
    expect(await asked).toBe('fulfilled');
    expect(await ask()).toBe('fulfilled');
    expect(reads).toHaveLength(2);
  });
});
