import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { expect } from 'vitest';
import type { LiveUsage } from '../../../src/server/compose/open-usage.ts';
import { GatewayError } from '../../../src/core/errors.ts';
import { openMemoryStore } from '../../../src/store/backends/memory/open-memory-store.ts';
import type { Store } from '../../../src/store/store.ts';
import type { LedgerEntry } from '../../../src/usage/ledger/ledger.ts';
import type { EndRow } from '../../../src/usage/requests/request-row.ts';
import { decideAll } from '../../../src/usage/rates/pending-claim.ts';
import type { PendingClaim } from '../../../src/usage/rates/pending-claim.ts';
import { readSpend } from '../../../src/usage/spend/read-spend.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import {
  createFaultyStore,
  createStarts,
  outcome,
  principal,
  quietTurns,
  nth,
} from '../usage-fixtures.ts';
import type { FaultyStore } from '../usage-fixtures.ts';
import type { Principal } from '../../../src/usage/principal.ts';
import { openWorker } from './journaled-worker.ts';

/** Longer than a lease, and than several looks at others. */
const MOST_MS = 60_000;

/** Limits of the keys and of the organization of the first two. */
export interface Rules {
  readonly limits: { readonly key_1: number; readonly org_1: number };
  /** Requests a minute of the keys that have a cap. */
  readonly rpm: ReadonlyMap<number, number>;
}

const MINUTE = 60_000;

const isTurnedAway = (error: unknown): boolean =>
  error instanceof GatewayError && error.code === 'key_rate_limited';

export type Step =
  | { type: 'begin'; worker: number; key: number; bound: number }
  | { type: 'burst'; worker: number; key: number; count: number; bound: number }
  | { type: 'settle'; call: number; share: number }
  | { type: 'fail'; worker: number; how: 'before' | 'after' }
  | { type: 'heal'; worker: number }
  | { type: 'crash'; worker: number }
  | { type: 'read'; worker: number }
  | { type: 'turn' }
  | { type: 'wait'; ms: number };

/** How often steps come. */
export interface Weights {
  readonly begin: number;
  readonly burst: number;
}

export const stepsOf = (workers: number, weights: Weights): fc.Arbitrary<Step[]> => {
  const worker = fc.nat(workers - 1);
  const constant = <T extends Step['type']>(type: T) => fc.constant(type);
  return fc.array(
    fc.oneof(
      {
        weight: weights.begin,
        arbitrary: fc.record({
          type: constant('begin'),
          worker,
          key: fc.integer({ min: 1, max: 3 }),
          bound: fc.nat(500),
        }),
      },
      {
        weight: weights.burst,
        arbitrary: fc.record({
          type: constant('burst'),
          worker,
          key: fc.integer({ min: 1, max: 3 }),
          count: fc.integer({ min: 4, max: 24 }),
          bound: fc.integer({ min: 1, max: 6 }),
        }),
      },
      {
        weight: 8,
        arbitrary: fc.record({
          type: constant('settle'),
          call: fc.nat(100),
          share: fc.double({ min: 0, max: 1, noNaN: true }),
        }),
      },
      {
        weight: 1,
        arbitrary: fc.record({
          type: constant('fail'),
          worker,
          how: fc.constantFrom('before' as const, 'after' as const),
        }),
      },
      { weight: 4, arbitrary: fc.record({ type: constant('heal'), worker }) },
      { weight: 1, arbitrary: fc.record({ type: constant('crash'), worker }) },
      { weight: 2, arbitrary: fc.record({ type: constant('read'), worker }) },
      { weight: 8, arbitrary: fc.record({ type: constant('turn') }) },
      {
        weight: 5,
        arbitrary: fc.record({
          type: constant('wait'),
          ms: fc.constantFrom(50, 200, 1_000, 5_000, 30_000),
        }),
      },
    ),
    { minLength: 20, maxLength: 80 },
  );
};

interface Worker {
  readonly usage: LiveUsage;
  readonly store: FaultyStore;
  cut: boolean;
  /** The store failed at some time. */
  hasFailed: boolean;
  /** Others took it for dead, and closed its calls by estimate: what its callers count is late. */
  wasAbsent: boolean;
}

interface Called {
  readonly id: string;
  readonly entry: LedgerEntry;
  readonly key: number;
  readonly bound: number;
  readonly worker: Worker;
  /** Elapsed time when it came, and when it was let in. */
  readonly askedAt: number;
  toldAt: number;
  cost: number | undefined;
  /** Its answer was let go with the end recorded. */
  isEndKept: boolean;
}

export class World {
  readonly clock = createFakeClock();
  readonly store: Store;
  readonly start = createStarts(this.clock);
  readonly workers: Worker[] = [];
  readonly calls: Called[] = [];
  /** Ids of those that a rate turned away. */
  readonly turnedAway: string[] = [];
  readonly folder: string;
  readonly rules: Rules;

  constructor(folder: string, rules: Rules) {
    this.folder = folder;
    this.rules = rules;
    this.store = { ...openMemoryStore(this.clock), folder };
  }

  who(key: number): Principal {
    const { limits, rpm } = this.rules;
    return principal({
      keyId: `key_${key}`,
      organizationId: key === 3 ? 'org_2' : 'org_1',
      organizationSpend: key === 3 ? null : { lifetime: limits.org_1 },
      keySpend: key === 1 ? { lifetime: limits.key_1 } : null,
      rpmCap: rpm.get(key) ?? null,
    });
  }

  async open(slot: number): Promise<void> {
    const store = createFaultyStore(this.store);
    const usage = await openWorker(store, this.clock);
    const worker: Worker = { usage, store, cut: false, hasFailed: false, wasAbsent: false };
    this.workers[slot] = worker;
    // From now on it knows the counters.
    for (const key of [1, 2, 3]) await this.run({ type: 'begin', worker: slot, key, bound: 1 });
    await this.pass(400);
  }

  async pass(ms: number): Promise<void> {
    const step = Math.min(ms, 1_000);
    for (let passed = 0; passed < ms; passed += step) {
      this.clock.advance(step);
      await quietTurns(3);
    }
  }

  /** Time goes on while something waits, but nothing waits for ever. */
  async passUntil<T>(work: Promise<T>): Promise<T> {
    const state = { isOver: false };
    const done = work.finally(() => (state.isOver = true));
    done.catch(() => undefined);
    await quietTurns(3);
    for (let passed = 0; !state.isOver; passed += 50) {
      if (passed > MOST_MS) throw new Error(`nothing came of it within ${MOST_MS} ms`);
      this.clock.advance(50);
      await quietTurns(2);
    }
    return done;
  }

  async run(step: Step): Promise<void> {
    if (step.type === 'turn') return quietTurns(1);
    if (step.type === 'wait') return this.pass(step.ms);
    if (step.type === 'settle') {
      const call = this.calls[step.call % Math.max(1, this.calls.length)];
      if (!call || call.worker.cut || call.cost !== undefined) return undefined;
      call.cost = Math.floor(call.bound * step.share);
      call.entry.settle(outcome({ cost: call.cost }));
      return void this.noteEnd(call);
    }
    const worker = nth(this.workers, step.worker);
    if (step.type === 'begin') return this.begin(worker, step);
    if (step.type === 'burst') {
      const { key, bound } = step;
      for (let i = 0; i < step.count; i++)
        this.begin(worker, { type: 'begin', key, bound, worker: step.worker });
      return undefined;
    }
    if (step.type === 'read') return this.expectWithinLimits(worker);
    if (step.type === 'fail') {
      worker.hasFailed = true;
      return worker.store.fail(step.how);
    }
    if (step.type === 'heal') return worker.store.fail(undefined);
    worker.cut = true;
    worker.store.fail('before');
    for (const { store, cut } of this.workers) if (!cut) store.fail(undefined);
    return this.open(step.worker);
  }

  async noteEnd(call: Called): Promise<void> {
    if (!call.entry.settled) return;
    await call.entry.settled;
    call.isEndKept = !call.worker.cut && !call.worker.hasFailed;
  }

  begin(worker: Worker, { key, bound }: Extract<Step, { type: 'begin' }>): void {
    try {
      const estimate = { input: 10, output: 0, cost: Math.floor(bound / 3) };
      const askedAt = this.clock.monotonic();
      const claim = worker.usage.rates.admitKey(this.who(key));
      if (claim === false) return;
      const claims = typeof claim === 'object' ? [claim] : [];
      const start = this.start({ principal: this.who(key), bound, estimate, claims });
      const entry = worker.usage.ledger.begin(start);
      const call = { ...start, askedAt, entry, key, worker, cost: undefined, isEndKept: false };
      void this.noteBegin({ ...call, toldAt: 0 }, claims);
    } catch {
      // The ledger is known to fail: nothing was begun.
    }
  }

  /** What the caller does who waits for its rates and its limit. */
  async noteBegin(call: Called, claims: readonly PendingClaim[]): Promise<void> {
    const { entry, bound, id } = call;
    try {
      await decideAll(claims);
    } catch (error) {
      if (isTurnedAway(error)) this.turnedAway.push(id);
      return;
    }
    entry.follow(() => ({ input: 10, output: 1, cost: Math.floor(bound / 2) }));
    try {
      await entry.durable;
    } catch {
      return entry.settle(outcome({ status: 402, result: 'error', cost: 0 }));
    }
    call.toldAt = this.clock.monotonic();
    this.calls.push(call);
  }

  async noteAbsent(): Promise<void> {
    for (const worker of this.workers) {
      const { lease, worker: id } = worker.usage;
      worker.wasAbsent ||= !(await lease.isAlive(id));
    }
  }

  /** By what callers were told. */
  expectToldWithinLimits(): void {
    const { limits, rpm } = this.rules;
    const told = (isOwn: (key: number) => boolean) =>
      this.calls
        .filter(({ key, worker }) => isOwn(key) && !worker.cut && !worker.wasAbsent)
        .reduce((sum, { bound, cost = bound }) => sum + cost, 0);
    expect(told((key) => key === 1)).toBeLessThanOrEqual(limits.key_1);
    expect(told((key) => key !== 3)).toBeLessThanOrEqual(limits.org_1);
    for (const [own, cap] of rpm) expect(this.mostInMinute(own)).toBeLessThanOrEqual(cap);
  }

  /** By what this worker reads. */
  async expectWithinLimits({ usage, cut }: Worker): Promise<void> {
    if (cut) return;
    const { limits } = this.rules;
    for (const [scope, limit] of [
      [{ kind: 'key', id: 'key_1' }, limits.key_1],
      [{ kind: 'organization', id: 'org_1' }, limits.org_1],
    ] as const) {
      const { lifetime } = await this.passUntil(
        readSpend({ store: usage.store }, scope, this.clock.now()),
      );
      expect(lifetime.settled + lifetime.reserved).toBeLessThanOrEqual(limit);
      expect(Math.min(lifetime.settled, lifetime.reserved)).toBeGreaterThanOrEqual(0);
    }
  }

  /** A call was let in between its coming and its answer: only what lies wholly in a minute counts. */
  mostInMinute(own: number): number {
    const calls = this.calls.filter(({ key, worker }) => key === own && !worker.wasAbsent);
    const starts = [...new Set(calls.map(({ askedAt }) => askedAt))];
    const counts = starts.map(
      (from) =>
        calls.filter(({ askedAt, toldAt }) => askedAt >= from && toldAt < from + MINUTE).length,
    );
    return Math.max(0, ...counts);
  }

  /** Everything ends: stores heal, calls are settled, the dead are cleaned up after. */
  async finish(): Promise<void> {
    for (const { store, cut } of this.workers) if (!cut) store.fail(undefined);
    await this.pass(30_000);
    for (const { entry, worker, bound } of this.calls) {
      if (!worker.cut) entry.settle(outcome({ cost: bound }));
    }
    await quietTurns();
    await this.passUntil(Promise.all(this.workers.map(({ usage }) => usage.ledger.drain())));
    await this.pass(30_000);
  }

  async expectReplayed(): Promise<void> {
    const rows = await this.store.list<EndRow>({ prefix: ['req'], limit: 10_000 });
    for (const room of ['flight', 'open', 'sent', 'unfolded', 'slice'])
      expect(await this.store.list({ prefix: [room] })).toEqual([]);
    const sums = await this.store.list<number[]>({ prefix: ['usage'], limit: 10_000 });
    for (const [kind, ids] of [
      ['key', ['key_1', 'key_2', 'key_3']],
      ['organization', ['org_1', 'org_2']],
    ] as const) {
      for (const id of ids) {
        const own = rows.filter(({ value: [[, organization, key]] }) =>
          [organization, key].includes(id),
        );
        const replayed = own.reduce((sum, { value }) => sum + value[8], 0);
        const { lifetime } = await readSpend({ store: this.store }, { kind, id }, this.clock.now());
        expect({ id, ...lifetime }).toEqual({ id, settled: replayed, reserved: 0 });
        const counted = sums.filter(({ key }) => key[kind === 'key' ? 3 : 1] === id);
        const total = (index: number) =>
          counted.reduce((sum, { value }) => sum + (value[index] ?? 0), 0);
        expect({ id, cost: total(3), requests: total(0) }).toEqual({
          id,
          cost: replayed,
          requests: own.length,
        });
      }
    }
    const costOf = (index: number, id: string) =>
      rows
        .filter(({ value: [start] }) => start[index] === id)
        .reduce((sum, { value }) => sum + value[8], 0);
    expect(costOf(2, 'key_1')).toBeLessThanOrEqual(this.rules.limits.key_1);
    expect(costOf(1, 'org_1')).toBeLessThanOrEqual(this.rules.limits.org_1);
    const live = this.workers.map(({ usage }) => usage.worker);
    const files = await readdir(this.folder).catch(() => []);
    expect(files.filter((name) => !live.some((worker) => name.startsWith(worker)))).toEqual([]);
    const costs = new Map(rows.map(({ key, value }) => [key[1], value[8]]));
    expect(this.calls.filter(({ id }) => !costs.has(id))).toEqual([]);
    expect(this.turnedAway.filter((id) => costs.has(id))).toEqual([]);
    for (const { id, cost } of this.calls.filter(({ isEndKept }) => isEndKept))
      expect({ id, cost: costs.get(id) }).toEqual({ id, cost });
  }
}

/** Plays steps with so many workers, and looks whether what they left is exact. */
export async function play(
  plan: readonly Step[],
  { workers, rules }: { workers: number; rules: Rules },
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'journal-'));
  try {
    const world = new World(folder, rules);
    for (let slot = 0; slot < workers; slot++) await world.open(slot);
    for (const step of plan) {
      await world.run(step);
      await world.noteAbsent();
      world.expectToldWithinLimits();
    }
    await world.finish();
    await world.expectReplayed();
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
