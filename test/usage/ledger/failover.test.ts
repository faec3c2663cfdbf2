import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { openMemoryStore } from '../../../src/store/backends/memory/open-memory-store.ts';
import type { Op, Store } from '../../../src/store/store.ts';
import { createLedger } from '../../../src/usage/ledger/ledger-store.ts';
import type { StoreLedger } from '../../../src/usage/ledger/ledger-store.ts';
import { recoverOpen } from '../../../src/usage/recovery/recover-open.ts';
import { readSpend } from '../../../src/usage/spend/read-spend.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import type { FakeClock } from '../../support/fake-clock.ts';
import { createStarts, fateOf, quietTurns, outcome, principal, turns } from '../usage-fixtures.ts';

/** A database whose replica takes over without its last commits. */
interface Replicated {
  readonly store: Store;
  /** Number of commits so far. */
  readonly length: number;
  /** Goes on with what the first `kept` commits have made. */
  failOver(kept: number): Promise<void>;
}

function openReplicated(clock: FakeClock): Replicated {
  let master = openMemoryStore(clock);
  let log: (readonly Op[])[] = [];
  const commit: Store['commit'] = async (ops) => {
    const result = await master.commit(ops);
    if (result.ok) log.push(ops);
    return result;
  };
  return {
    store: {
      ...master,
      get: (key) => master.get(key),
      list: (options) => master.list(options),
      commit,
    },
    get length() {
      return log.length;
    },
    async failOver(kept) {
      master = openMemoryStore(clock);
      log = log.slice(0, kept);
      // Conditions held when the commits were made; the versions are others now.
      for (const ops of log) await master.commit(ops.flatMap(withoutCondition));
    },
  };
}

function withoutCondition(op: Op): Op[] {
  if (op.type === 'check') return [];
  if (op.type === 'delete') return [{ type: 'delete', key: op.key }];
  const { key, value, ttlMs } = op;
  return [{ type: 'put', key, value, ...(ttlMs !== undefined && { ttlMs }) }];
}

let clock: FakeClock;
let database: Replicated;
let ledger: StoreLedger;
let start: ReturnType<typeof createStarts>;
let reports: unknown[];

beforeEach(() => {
  clock = createFakeClock();
  database = openReplicated(clock);
  reports = [];
  const { store } = database;
  ledger = createLedger({ store, clock, worker: 'w1', report: (error) => reports.push(error) });
  start = createStarts(clock);
});

async function call(cost: number): Promise<void> {
  const entry = ledger.begin(start());
  await entry.durable;
  entry.settle(outcome({ cost }));
  await ledger.fold();
}

async function wait(ms: number): Promise<void> {
  clock.advance(ms);
  await turns();
}

const spent = async () =>
  (await readSpend(database, { kind: 'key', id: 'key_1' }, clock.now())).lifetime;

it('keeps the money that a database still holds which lost the commit that folded it', async () => {
  await call(100);
  const kept = database.length;
  await wait(1_000);
  expect(database.length).toBeGreaterThan(kept);
  await database.failOver(kept);
  expect(await spent()).toEqual({ settled: 100, reserved: 0 });
  await call(5);
  expect(await spent()).toEqual({ settled: 105, reserved: 0 });
  await wait(1_000);
  expect(await spent()).toEqual({ settled: 105, reserved: 0 });
  expect(reports).toEqual([new Error('the store has lost commits that it confirmed')]);
  // Whoever cleans up after it finds what it wrote before.
  await recoverOpen({ store: database.store, clock });
  expect(await spent()).toEqual({ settled: 105, reserved: 0 });
  expect(await database.store.list({ prefix: ['unfolded', 'key'] })).toEqual([]);
});

it('charges a call whose reservation is lost, and gives back nothing that is not reserved', async () => {
  const who = principal({ keySpend: { lifetime: 1_000 } });
  const first = ledger.begin(start({ principal: who, bound: 100 }));
  await first.admitted;
  const kept = database.length;
  const second = ledger.begin(start({ principal: who, bound: 200 }));
  await second.admitted;
  await database.failOver(kept);
  expect(await spent()).toEqual({ settled: 0, reserved: 100 });
  second.settle(outcome({ cost: 20 }));
  await second.settled;
  expect(await spent()).toEqual({ settled: 20, reserved: 100 });
  first.settle(outcome({ cost: 10 }));
  await first.settled;
  expect(await spent()).toEqual({ settled: 30, reserved: 0 });
  const rest = ledger.begin(start({ principal: who, bound: 970 }));
  expect(await fateOf(rest)).toBe('admitted');
  expect(reports).toHaveLength(1);
});

it('gives up what it has set aside in slices, and sets aside anew', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'failover-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const sole = { isSole: () => false, isKnown: () => true, ready: () => undefined };
  ledger = createLedger({
    store: database.store,
    clock,
    worker: 'w1',
    report: (error) => reports.push(error),
    journal: { folder, sync: 'process', ...sole },
  });
  const pass = async (ms: number): Promise<void> => {
    for (let passed = 0; passed < ms; passed += 10) {
      clock.advance(10);
      await quietTurns(2);
    }
  };
  const who = principal({ keySpend: { lifetime: 100_000 } });
  const slices = async () => (await database.store.list({ prefix: ['slice'] })).length;
  const callMany = async (): Promise<string[]> => {
    const fates: string[] = [];
    for (let count = 0; count < 12; count++) {
      const entry = ledger.begin(start({ principal: who, bound: 10 }));
      const fate = fateOf(entry);
      await pass(20);
      fates.push(await fate);
      entry.settle(outcome({ cost: 1 }));
      await pass(20);
    }
    return [...new Set(fates)];
  };
  expect(await callMany()).toEqual(['admitted']);
  // The ends of all calls are stored.
  await pass(300);
  expect(await slices()).toBe(1);
  const kept = database.length;
  expect(await callMany()).toEqual(['admitted']);
  await pass(100);
  expect(database.length).toBeGreaterThan(kept);

  await database.failOver(kept);
  expect(await callMany()).toEqual(['admitted']);
  expect(reports).toHaveLength(1);
  await pass(5_000);
  expect(await slices()).toBe(0);
  expect((await spent()).reserved).toBe(0);
  expect(reports).toHaveLength(1);
});
