import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openMemoryStore } from '../../../src/store/backends/memory/open-memory-store.ts';
import { StoreError } from '../../../src/store/store.ts';
import type { Op } from '../../../src/store/store.ts';
import { createLedger } from '../../../src/usage/ledger/ledger-store.ts';
import type { StoreLedger } from '../../../src/usage/ledger/ledger-store.ts';
import type { Principal } from '../../../src/usage/principal.ts';
import { readSpend } from '../../../src/usage/spend/read-spend.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import type { FakeClock } from '../../support/fake-clock.ts';
import {
  createFaultyStore,
  createStarts,
  fateOf,
  outcome,
  principal,
  quietTurns,
} from '../usage-fixtures.ts';
import type { FaultyStore } from '../usage-fixtures.ts';

let folder: string;
let clock: FakeClock;
let store: FaultyStore;
let ledger: StoreLedger;
let start: ReturnType<typeof createStarts>;
let reports: unknown[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fold-'));
  clock = createFakeClock();
  store = createFaultyStore(openMemoryStore(clock));
  start = createStarts(clock);
  reports = [];
  ledger = createLedger({
    store,
    clock,
    worker: 'w1',
    report: (error) => reports.push(error),
    journal: {
      folder,
      sync: 'process',
      isSole: () => false,
      isKnown: () => true,
      ready: () => undefined,
    },
  });
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function pass(ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 10) {
    clock.advance(10);
    await quietTurns(2);
  }
}

const keys = (count: number, over: Partial<Principal> = {}): Principal[] =>
  Array.from({ length: count }, (_, index) => principal({ keyId: `key_${index}`, ...over }));

/** A call of each; gives how many were let in. */
async function callOf(payers: readonly Principal[], cost: number): Promise<number> {
  const entries = payers.map((payer) => ledger.begin(start({ principal: payer, bound: 1_000 })));
  const fates = Promise.all(entries.map(fateOf));
  await pass(20);
  for (const entry of entries) entry.settle(outcome({ cost }));
  await pass(20);
  return (await fates).filter((fate) => fate === 'admitted').length;
}

const slices = async () => (await store.list({ prefix: ['slice'], limit: 10_000 })).length;
const spentBy = async (id: string) =>
  (await readSpend({ store }, { kind: 'key', id }, clock.now())).lifetime.settled;
const unfolded = async () =>
  (await store.list({ prefix: ['unfolded', 'key'], limit: 10_000 })).length;
const sizesOf = (commits: readonly (readonly Op[])[]) => commits.map(({ length }) => length);

it('gives up any number of slices that become idle at once, as many as a commit has room for', async () => {
  const payers = keys(600, { keySpend: { lifetime: 1e9 } });
  for (let round = 0; round < 10; round++) await callOf(payers, 10);
  expect(await slices()).toBe(600);
  store.takeCommits();
  await pass(4_000);
  expect(await slices()).toBe(0);
  expect(Math.max(...sizesOf(store.takeCommits()))).toBeLessThan(1_000);
  expect(reports).toEqual([]);
  expect(await callOf(payers.slice(0, 3), 10)).toBe(3);
  expect(await spentBy('key_0')).toBe(110);
});

it('folds less at a time where the store refuses so much', async () => {
  store.refuse = (ops) =>
    ops.length > 40 && ops.some(isOfFold)
      ? new StoreError('invalid_commit', 'a commit cannot have so many operations')
      : undefined;
  await callOf(keys(100), 7);
  expect(await unfolded()).toBe(100);
  await pass(15_000);
  expect(await unfolded()).toBe(0);
  expect(await spentBy('key_99')).toBe(7);
  expect(reports).toEqual([]);
});

it('goes on with calls where the store takes no fold at all, and tells of it once a second', async () => {
  const refusal = new StoreError('too_large', 'a value is too large');
  store.refuse = (ops) => (ops.some(isOfFold) ? refusal : undefined);
  expect(await callOf(keys(300), 7)).toBe(300);
  await pass(3_000);
  expect(reports.length).toBeGreaterThan(1);
  expect(reports.length).toBeLessThan(6);
  expect(new Set(reports)).toEqual(new Set([refusal]));
  const who = principal({ keySpend: { lifetime: 10_000 } });
  expect(await callOf([who], 7)).toBe(1);
  expect(await spentBy('key_0')).toBe(7);
  let isDrained = false;
  void ledger.drain().then(() => (isDrained = true));
  await pass(100);
  expect(isDrained).toBe(true);
});

/** Folds alone remove rows of what is not in a counter yet. */
const isOfFold = ({ type, key }: Op): boolean => type === 'delete' && key[0] === 'unfolded';
