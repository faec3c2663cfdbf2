import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { LiveUsage } from '../../../src/server/compose/open-usage.ts';
import { openMemoryStore } from '../../../src/store/backends/memory/open-memory-store.ts';
import type { Store } from '../../../src/store/store.ts';
import { commitSpend } from '../../../src/usage/ledger/commit-spend.ts';
import { readSpend } from '../../../src/usage/spend/read-spend.ts';
import { windowsOf } from '../../../src/usage/spend/spend.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import type { FakeClock } from '../../support/fake-clock.ts';
import {
  codeOf,
  createStarts,
  decided,
  outcome,
  principal,
  quietTurns,
} from '../usage-fixtures.ts';
import { openWorker } from './journaled-worker.ts';

const KEY = { kind: 'key', id: 'key_1' } as const;
const LIMIT = 1_000;
const CAP = 20;
const who = principal({ keySpend: { lifetime: LIMIT }, rpmCap: CAP });

let folder: string;
/** Time of the store and of whoever is awake. */
let clock: FakeClock;
/** Shows the same time; its timers stand still while its worker sleeps. */
let sleeper: FakeClock;
/** How far those timers came. */
let reached: number;
let rows: Store;
let start: ReturnType<typeof createStarts>;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'journal-'));
  clock = createFakeClock();
  const timers = createFakeClock();
  const { now, monotonic } = clock;
  sleeper = { ...timers, now, monotonic };
  reached = 0;
  rows = { ...openMemoryStore(clock), folder };
  start = createStarts(clock);
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** Time goes on, and nobody sleeps. */
function moveOn(ms: number): void {
  clock.advance(ms);
  sleeper.advance(clock.monotonic() - reached);
  reached = clock.monotonic();
}

async function pass(ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 100) {
    moveOn(100);
    await quietTurns();
  }
}

const begin = ({ ledger }: LiveUsage, bound: number) =>
  ledger.begin(start({ principal: who, bound }));

/** Requests out of so many, one after another, that a worker accepts while time goes on. */
async function accepted({ rates }: LiveUsage, count: number): Promise<number> {
  let sum = 0;
  for (let i = 0; i < count; i++) {
    const answer = Promise.resolve(decided(rates.admitKey(who)));
    const state = { isOver: false };
    void answer.finally(() => (state.isOver = true));
    for (await quietTurns(2); !state.isOver; await quietTurns(2)) await pass(100);
    if (await answer) sum++;
  }
  return sum;
}

/** A worker with a journal that knows its counters, and has accepted one request. */
async function openFirst(): Promise<LiveUsage> {
  // Nothing wakes it but its timers.
  const store = { ...rows, watch: () => () => undefined };
  const usage = await openWorker(store, { ...sleeper, advance: moveOn });
  expect(await accepted(usage, 1)).toBe(1);
  const entry = begin(usage, 0);
  await entry.durable;
  entry.settle(outcome());
  await pass(300);
  return usage;
}

describe('a worker that was taken for dead and wakes', () => {
  it('counts each request once that others stored for it, and loses none', async () => {
    const first = await openFirst();
    for (let i = 0; i < 7; i++) expect(first.rates.admitKey(who)).toBe(true);
    await begin(first, 0).durable;
    // Its journal holds them, and it sleeps.
    const second = await openWorker(rows, clock);
    expect(await accepted(second, 5)).toBe(5);
    await pass(100);
    expect(await accepted(first, CAP)).toBe(CAP - 13);
    expect(await accepted(second, 1)).toBe(0);
    await pass(61_000);
    expect(await accepted(first, CAP + 1)).toBe(CAP);
  });

  it('lets others know of what it accepted in the turn before', async () => {
    const first = await openFirst();
    expect(first.rates.admitKey(who)).toBe(true);
    await quietTurns();
    const second = await openWorker(rows, clock);
    expect(await accepted(second, CAP)).toBe(CAP - 2);
    await pass(100);
    expect(await accepted(first, 1)).toBe(0);
  });

  it('decides anew about money that it gave in the moment in which it fell asleep', async () => {
    const first = await openFirst();
    const entry = begin(first, 600);
    clock.advance(20_000);
    const change = { settled: 700, reserved: 0 };
    await commitSpend(rows, [], [{ scope: KEY, windows: windowsOf(clock.now()), change }]);
    const fate = codeOf(entry.admitted, 'in');
    await pass(1_000);
    expect(await fate).toBe('key_spending_limit');
    entry.settle(outcome({ status: 402, result: 'error', cost: 0 }));
    await pass(1_000);
    expect((await readSpend({ store: rows }, KEY, clock.now())).lifetime).toEqual({
      settled: 700,
      reserved: 0,
    });
  });

  it('refuses a call whose place in the rate it took in the moment in which it fell asleep', async () => {
    const first = await openFirst();
    expect(first.rates.admitKey(who)).toBe(true);
    const entry = begin(first, 600);
    clock.advance(20_000);
    const fate = codeOf(entry.admitted, 'in');
    await pass(1_000);
    expect(await fate).toBe('persistence_failed');
    entry.settle(outcome({ status: 500, result: 'error', cost: 0 }));
    await pass(1_000);
    expect((await readSpend({ store: rows }, KEY, clock.now())).lifetime).toEqual({
      settled: 0,
      reserved: 0,
    });
  });
});

describe('the span for which a worker is alone', () => {
  const open = (own: FakeClock): Promise<LiveUsage> =>
    openWorker({ ...rows, scope: 'host' }, { ...own, advance: moveOn });

  it('ends when another one comes, and is another one when that has gone', async () => {
    const first = await open(sleeper);
    expect(first.term()).toBe(1);
    await pass(20_000);
    expect(first.term()).toBe(1);
    const second = await open(clock);
    expect([first.term(), second.term()]).toEqual([undefined, undefined]);
    await Promise.all([second.close(), pass(1_000)]);
    await pass(10_000);
    expect(first.term()).toBe(2);
  });

  it('ends in a sleep in which others may have taken over', async () => {
    const first = await open(sleeper);
    clock.advance(20_000);
    expect(first.term()).toBeUndefined();
    await pass(15_000);
    expect(first.term()).toBeGreaterThan(1);
  });

  it('has no end on a store that no other process gets', async () => {
    const usage = await openWorker(rows, clock);
    clock.advance(20_000);
    expect(usage.term()).toBe(0);
  });

  it('keeps no call as begun that it refused when it woke', async () => {
    const first = await openFirst();
    const free = principal({ keyId: 'key_2', rpmCap: CAP });
    expect(await decided(first.rates.admitKey(free))).toBe(true);
    await pass(300);
    expect(first.rates.admitKey(free)).toBe(true);
    const entry = first.ledger.begin(start({ principal: free, bound: 0 }));
    clock.advance(20_000);
    const fate = codeOf(entry.durable, 'begun');
    await pass(1_000);
    expect(await fate).toBe('persistence_failed');
    expect(entry.isDurable).toBe(false);
    entry.settle(outcome({ status: 500, result: 'error', cost: 0 }));
    await pass(1_000);
  });
});
