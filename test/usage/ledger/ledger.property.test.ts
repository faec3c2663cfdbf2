import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openMemoryStore } from '../../../src/store/backends/memory/open-memory-store.ts';
import type { Store } from '../../../src/store/store.ts';
import { createLedger } from '../../../src/usage/ledger/ledger-store.ts';
import type { Ledger, LedgerEntry } from '../../../src/usage/ledger/ledger.ts';
import { readSpend } from '../../../src/usage/spend/read-spend.ts';
import { recoverOpen } from '../../../src/usage/recovery/recover-open.ts';
import type { EndRow } from '../../../src/usage/requests/request-row.ts';
import { createWorkerLease } from '../../../src/usage/ledger/worker-lease.ts';
import { verifies } from '../../requirements.ts';
import { runsOf, SEED } from '../../runs.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import type { FakeClock } from '../../support/fake-clock.ts';
import {
  createFaultyStore,
  createStarts,
  outcome,
  principal,
  turns,
  nth,
} from '../usage-fixtures.ts';
import type { FaultyStore } from '../usage-fixtures.ts';

const LIMIT = { key_1: 1_000, org_1: 1_500 };
const WORKERS = 2;

const who = (key: number, strict: boolean) =>
  principal({
    keyId: `key_${key}`,
    organizationId: key === 3 ? 'org_2' : 'org_1',
    organizationSpend: key === 3 ? null : { lifetime: LIMIT.org_1 },
    keySpend: key === 1 ? { lifetime: LIMIT.key_1 } : strict && key === 2 ? { day: 700 } : null,
  });

type Step =
  | { type: 'begin'; worker: number; key: number; strict: boolean; bound: number }
  | { type: 'settle'; call: number; share: number }
  | { type: 'fail'; worker: number; how: 'before' | 'after' }
  | { type: 'heal'; worker: number }
  | { type: 'crash'; worker: number }
  | { type: 'turn' }
  | { type: 'wait'; ms: number };

const worker = fc.nat(WORKERS - 1);
const begin = fc.record({
  type: fc.constant('begin' as const),
  worker,
  key: fc.integer({ min: 1, max: 3 }),
  strict: fc.boolean(),
  bound: fc.nat(500),
});
const settle = fc.record({
  type: fc.constant('settle' as const),
  call: fc.nat(100),
  share: fc.double({ min: 0, max: 1, noNaN: true }),
});
const steps = fc.array(
  fc.oneof(
    { weight: 10, arbitrary: begin },
    { weight: 8, arbitrary: settle },
    {
      weight: 2,
      arbitrary: fc.record({
        type: fc.constant('fail' as const),
        worker,
        how: fc.constantFrom('before' as const, 'after' as const),
      }),
    },
    { weight: 6, arbitrary: fc.constant({ type: 'turn' as const }) },
    { weight: 2, arbitrary: fc.record({ type: fc.constant('heal' as const), worker }) },
    { weight: 1, arbitrary: fc.record({ type: fc.constant('crash' as const), worker }) },
    {
      weight: 4,
      arbitrary: fc.record({
        type: fc.constant('wait' as const),
        ms: fc.constantFrom(0, 1_000, 5_000, 30_000),
      }),
    },
  ),
  { maxLength: 60 },
);

interface Worker {
  ledger: Ledger;
  store: FaultyStore;
  cut: boolean;
}

class World {
  readonly clock: FakeClock = createFakeClock();
  readonly store: Store = openMemoryStore(this.clock);
  readonly start = createStarts(this.clock);
  readonly workers: Worker[] = [];
  readonly calls: { entry: LedgerEntry; bound: number; worker: Worker }[] = [];
  #started = 0;

  async open(slot: number): Promise<void> {
    const worker = `w${++this.#started}`;
    const store = createFaultyStore(this.store);
    await createWorkerLease({ store, clock: this.clock, worker }).start();
    this.workers[slot] = {
      store,
      cut: false,
      ledger: createLedger({ store, clock: this.clock, worker }),
    };
  }

  async run(step: Step): Promise<void> {
    if (step.type === 'turn') return turns(1);
    if (step.type === 'wait') {
      // The lease is renewed in the background, so time passes in beats.
      for (let ms = 0; ms < step.ms; ms += 1_000) {
        this.clock.advance(1_000);
        await turns(2);
      }
      await recoverOpen({ store: this.store });
      return turns();
    }
    if (step.type === 'settle') {
      const call = this.calls[step.call % Math.max(1, this.calls.length)];
      if (call && !call.worker.cut) {
        call.entry.settle(outcome({ cost: Math.floor(call.bound * step.share) }));
      }
      return;
    }
    const worker = nth(this.workers, step.worker);
    if (step.type === 'begin') this.begin(worker, step);
    else if (step.type === 'fail') worker.store.fail(step.how);
    else if (step.type === 'heal') worker.store.fail(undefined);
    else {
      worker.cut = true;
      worker.store.fail('before');
      await this.open(step.worker);
    }
  }

  begin(worker: Worker, { key, strict, bound }: Extract<Step, { type: 'begin' }>): void {
    try {
      const estimate = { input: 10, output: 0, cost: Math.floor(bound / 3) };
      const request = this.start({ principal: who(key, strict), bound, estimate });
      const entry = worker.ledger.begin(request);
      entry.follow(() => ({ input: 10, output: 1, cost: Math.floor(bound / 2) }));
      const call = { entry, bound, worker };
      // As the pipeline does: a call that was not admitted ends without a cost.
      const refused = () => entry.settle(outcome({ status: 402, result: 'error', cost: 0 }));
      entry.durable.then(() => this.calls.push(call), refused);
    } catch {
      // The ledger is known to fail: nothing was begun.
    }
  }

  async expectWithinLimits(): Promise<void> {
    for (const [scope, limit] of [
      [{ kind: 'key', id: 'key_1' }, LIMIT.key_1],
      [{ kind: 'organization', id: 'org_1' }, LIMIT.org_1],
    ] as const) {
      const { settled, reserved } = (
        await readSpend({ store: this.store }, scope, this.clock.now())
      ).lifetime;
      const isWithin = settled >= 0 && reserved >= 0 && settled + reserved <= limit;
      expect(isWithin, `${scope.id}: ${settled} and ${reserved} of ${limit}`).toBe(true);
    }
  }

  /** Everything ends: stores heal, calls are settled, the dead are cleaned up after. */
  async finish(): Promise<void> {
    for (const { store, cut } of this.workers) if (!cut) store.fail(undefined);
    await this.run({ type: 'wait', ms: 30_000 });
    for (const { entry, worker, bound } of this.calls) {
      if (!worker.cut) entry.settle(outcome({ cost: bound }));
    }
    await turns();
    await Promise.all(this.workers.map(({ ledger }) => ledger.drain()));
    await this.run({ type: 'wait', ms: 30_000 });
  }

  async expectReplayed(): Promise<void> {
    const rows = await this.store.list<EndRow>({ prefix: ['req'], limit: 10_000 });
    expect(await this.store.list({ prefix: ['flight'] })).toEqual([]);
    expect(await this.store.list({ prefix: ['open'] })).toEqual([]);
    expect(await this.store.list({ prefix: ['sent'] })).toEqual([]);
    expect(await this.store.list({ prefix: ['unfolded'] })).toEqual([]);
    const sums = await this.store.list<number[]>({ prefix: ['usage'], limit: 10_000 });
    for (const [kind, ids] of [
      ['key', ['key_1', 'key_2', 'key_3']],
      ['organization', ['org_1', 'org_2']],
    ] as const) {
      for (const id of ids) {
        const replayed = rows
          .map(({ value: [start, , , , , , , , cost] }) => ({ start, cost }))
          .filter(({ start: [, organization, key] }) => [organization, key].includes(id))
          .reduce((sum, { cost }) => sum + cost, 0);
        const spend = (await readSpend({ store: this.store }, { kind, id }, this.clock.now()))
          .lifetime;
        expect({ id, ...spend }).toEqual({ id, settled: replayed, reserved: 0 });
        const reported = sums
          .filter(({ key }) => key[kind === 'key' ? 3 : 1] === id)
          .reduce((sum, { value }) => sum + (value[3] ?? 0), 0);
        expect({ id, reported }).toEqual({ id, reported: replayed });
        const counted = sums
          .filter(({ key }) => key[kind === 'key' ? 3 : 1] === id)
          .reduce((sum, { value }) => sum + (value[0] ?? 0), 0);
        const own = rows.filter(({ value: [[, organization, key]] }) =>
          [organization, key].includes(id),
        );
        expect({ id, counted }).toEqual({ id, counted: own.length });
      }
    }
  }
}

describe('the ledger under any interleaving', () => {
  it(
    verifies(
      'store.ledger.never-exceeds',
      'store.ledger.exactly-once',
      'store.ledger.release-on-restart',
      'never exceeds a limit, and its records replay to its counters, through faults and crashes',
    ),
    async () => {
      await fc.assert(
        fc.asyncProperty(steps, async (plan) => {
          const world = new World();
          for (let slot = 0; slot < WORKERS; slot++) await world.open(slot);
          for (const step of plan) {
            await world.run(step);
            await world.expectWithinLimits();
          }
          await world.finish();
          await world.expectWithinLimits();
          await world.expectReplayed();
        }),
        { numRuns: runsOf(50, 150), seed: SEED },
      );
    },
  );
});
