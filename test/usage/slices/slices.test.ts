import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { LiveUsage } from '../../../src/server/compose/open-usage.ts';
import { openMemoryStore } from '../../../src/store/backends/memory/open-memory-store.ts';
import type { Store } from '../../../src/store/store.ts';
import type { Principal } from '../../../src/usage/principal.ts';
import type { LedgerEntry } from '../../../src/usage/ledger/ledger.ts';
import { readSpend } from '../../../src/usage/spend/read-spend.ts';
import { verifies } from '../../requirements.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import type { FakeClock } from '../../support/fake-clock.ts';
import { openWorker } from '../journal/journaled-worker.ts';
import {
  createFaultyStore,
  createStarts,
  decided,
  fateOf,
  nth,
  outcome,
  principal,
  quietTurns,
} from '../usage-fixtures.ts';
import type { FaultyStore } from '../usage-fixtures.ts';

const KEY = { kind: 'key', id: 'key_1' } as const;
const LIMIT = 10_000;

let folder: string;
let clock: FakeClock;
let rows: Store;
let start: ReturnType<typeof createStarts>;
let workers: LiveUsage[];
let stores: FaultyStore[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'slices-'));
  clock = createFakeClock();
  rows = { ...openMemoryStore(clock), folder };
  start = createStarts(clock);
  stores = [createFaultyStore(rows), createFaultyStore(rows)];
  workers = [];
  for (const store of stores) workers.push(await openWorker(store, clock));
  // The first was alone until the second came, and has to see that.
  await pass(6_000);
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function pass(ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 10) {
    clock.advance(10);
    await quietTurns(2);
  }
}

/** Time goes on while something waits. */
async function settled<T>(work: Promise<T>): Promise<T> {
  const state = { isOver: false };
  const done = work.finally(() => (state.isOver = true));
  for (await quietTurns(2); !state.isOver; await quietTurns(2)) clock.advance(10);
  return done;
}

const limited = (over: Partial<Principal> = {}): Principal =>
  principal({ keySpend: { lifetime: LIMIT }, ...over });

/** Begins calls one after another; gives those that were let in. */
async function begin(slot: number, bounds: readonly number[]): Promise<LedgerEntry[]> {
  const entries: LedgerEntry[] = [];
  for (const bound of bounds) {
    const { ledger } = nth(workers, slot);
    const entry = ledger.begin(start({ principal: limited(), bound }));
    const fate = await settled(fateOf(entry));
    if (fate === 'admitted') entries.push(entry);
    else expect(fate).toBe('key_spending_limit');
  }
  return entries;
}

const times = <T>(count: number, value: T): T[] => Array.from({ length: count }, () => value);
const slices = async (): Promise<unknown[]> => rows.list({ prefix: ['slice'] });
const spend = async () => (await readSpend({ store: rows }, KEY, clock.now())).lifetime;

it('lets calls begin without a commit of their own where they come fast, and gives up what is left', async () => {
  await begin(0, times(12, 10));
  await pass(50);
  expect(await slices()).toHaveLength(1);
  nth(stores, 0).takeCommits();
  const entries = await begin(0, times(10, 10));
  expect(entries).toHaveLength(10);
  expect(nth(stores, 0).takeCommits()).toEqual([]);
  for (const entry of entries) entry.settle(outcome({ cost: 4 }));
  await settled(Promise.all(entries.map(async ({ settled: done }) => done)));
  await pass(3_000);
  expect(await slices()).toEqual([]);
  expect(await spend()).toEqual({ settled: 40, reserved: 120 });
});

it(
  verifies(
    'limits.slices.no-false-refusal',
    'calls back what others have set aside before anything is refused',
  ),
  async () => {
    await begin(0, times(12, 10));
    await pass(50);
    const { reserved } = await spend();
    expect(reserved).toBeGreaterThan(120);
    // Needs all that is left, and so what the other worker has set aside.
    expect(await begin(1, [LIMIT - 120])).toHaveLength(1);
    expect(await spend()).toEqual({ settled: 0, reserved: LIMIT });
    expect(await begin(0, [1])).toEqual([]);
    expect(await slices()).toEqual([]);
  },
);

it(
  verifies(
    'limits.slices.no-false-refusal',
    'leaves nothing over, whoever asks for the last of it',
  ),
  async () => {
    let begun = 0;
    for (let round = 0; round < 40; round++) {
      const bounds = times(1 + ((round * 7) % 30), 1 + ((round * 5) % 29));
      const entries = await begin(round % 2, bounds);
      begun += entries.length * nth(bounds, 0);
    }
    for (const slot of [0, 1, 0]) begun += (await begin(slot, times(40, 100))).length * 100;
    for (const slot of [0, 1]) begun += (await begin(slot, times(110, 1))).length;
    expect(begun).toBe(LIMIT);
    expect(await spend()).toEqual({ settled: 0, reserved: LIMIT });
  },
);

it(
  verifies(
    'limits.slices.no-false-refusal',
    'waits for what calls give back whose end is not stored yet',
  ),
  async () => {
    const entries = await begin(0, times(40, 10));
    await pass(300);
    await begin(0, times(2, 10));
    nth(stores, 0).takeCommits();
    for (const entry of entries) entry.settle(outcome({ cost: 0 }));
    await settled(Promise.all(entries.map(async ({ settled: done }) => done)));
    expect(nth(stores, 0).takeCommits()).toEqual([]);
    expect(await begin(1, [LIMIT - 20])).toHaveLength(1);
    expect(await spend()).toEqual({ settled: 0, reserved: LIMIT });
  },
);

it('takes what does not come back in time for reserved', async () => {
  await begin(0, times(12, 10));
  await pass(50);
  // It sleeps, or its disk does.
  nth(stores, 0).interfere = () => new Promise(() => undefined);
  expect(await begin(1, [LIMIT - 120])).toEqual([]);
  expect(await begin(1, [5_000])).toHaveLength(1);
});

it('is of no use under other limits', async () => {
  await begin(0, times(12, 10));
  await pass(50);
  const { ledger } = nth(workers, 0);
  const lowered = principal({ keySpend: { lifetime: 130 } });
  const fates: string[] = [];
  for (const bound of times(4, 5))
    fates.push(await settled(fateOf(ledger.begin(start({ principal: lowered, bound })))));
  expect(fates).toEqual(['admitted', 'admitted', 'key_spending_limit', 'key_spending_limit']);
});

it(
  verifies(
    'limits.slices.exact-rpm',
    'accepts as many requests of two workers as the cap, and each of them',
  ),
  async () => {
    const who = principal({ rpmCap: 300 });
    const accepted: number[] = [0, 0];
    for (let round = 0; round < 60; round++) {
      const slot = round % 3 === 0 ? 1 : 0;
      const { rates } = nth(workers, slot);
      for (let i = 0; i < 10; i++) {
        const isIn = await settled(Promise.resolve(decided(rates.admitKey(who))));
        if (isIn) accepted[slot] = (accepted[slot] ?? 0) + 1;
      }
    }
    expect((accepted[0] ?? 0) + (accepted[1] ?? 0)).toBe(300);
    expect(Math.min(...accepted)).toBeGreaterThan(0);
    await pass(70_000);
    expect(await slices()).toEqual([]);
  },
);
