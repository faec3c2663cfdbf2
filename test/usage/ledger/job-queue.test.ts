import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openMemoryStore } from '../../../src/store/backends/memory/open-memory-store.ts';
import { StoreError } from '../../../src/store/store.ts';
import type { Op } from '../../../src/store/store.ts';
import { createLedger } from '../../../src/usage/ledger/ledger-store.ts';
import { listRequests } from '../../../src/usage/requests/request-log.ts';
import { runsOf } from '../../runs.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { sampleBudget } from '../budgets/sample-budget.ts';
import { createFaultyStore, createStarts, DOLLAR, outcome, principal } from '../usage-fixtures.ts';

/** Operations that a store takes in one commit. */
const MOST = 1_000;
const CALLS = 400;

const shape = fc.record({
  keys: fc.constantFrom(1, 5, CALLS),
  models: fc.constantFrom(1, 3, CALLS),
  conversations: fc.constantFrom(0, 1, CALLS),
  users: fc.constantFrom(0, 1, CALLS),
  tags: fc.constantFrom(0, 1, CALLS),
  budgets: fc.constantFrom(0, 1, 6),
  isLimited: fc.boolean(),
  /** How many of the calls end in the turn that begins them. */
  whole: fc.constantFrom(0, 1, 0.5),
});
type Shape = typeof shape extends fc.Arbitrary<infer T> ? T : never;

function setUp() {
  const clock = createFakeClock();
  const store = createFaultyStore(openMemoryStore(clock));
  const reported: unknown[] = [];
  const report = (error: unknown): void => void reported.push(error);
  const ledger = createLedger({ store, clock, worker: 'w1', logContent: true, report });
  return { clock, store, ledger, reported, start: createStarts(clock) };
}

const valueOf = (count: number, index: number): string | undefined =>
  count === 0 ? undefined : `v${index % count}`;

function callOf(form: Shape, index: number): object {
  const tag = valueOf(form.tags, index);
  const key = index % form.keys;
  return {
    model: `acme/m${index % form.models}`,
    bound: form.isLimited ? 1_000 : 0,
    origin: {
      conversation: valueOf(form.conversations, index),
      endUser: valueOf(form.users, index),
      ...(tag !== undefined && { tags: { tag } }),
    },
    principal: principal({
      keyId: `key_${key}`,
      keySpend: form.isLimited ? { lifetime: DOLLAR } : null,
      budgets: Array.from({ length: form.budgets }, (_, budget) =>
        sampleBudget({ id: `bud_${key}_${budget}`, amount: DOLLAR }),
      ),
    }),
  };
}

const recordsIn = (ops: readonly Op[]): number => ops.filter(({ key }) => key[0] === 'req').length;

describe('the queue of a ledger', () => {
  it('never makes a commit that the store would refuse for its size', async () => {
    await fc.assert(
      fc.asyncProperty(shape, async (form) => {
        const { store, ledger, reported, start } = setUp();
        const entries = Array.from({ length: CALLS }, (_, index) =>
          ledger.begin(start(callOf(form, index))),
        );
        const whole = Math.floor(CALLS * form.whole);
        for (const entry of entries.slice(0, whole)) entry.settle(outcome({ cost: 100 }));
        await Promise.all(entries.map(({ durable }) => durable));
        for (const entry of entries.slice(whole)) entry.settle(outcome({ cost: 100 }));
        await ledger.drain();
        const commits = store.takeCommits();
        expect(Math.max(...commits.map((ops) => ops.length))).toBeLessThanOrEqual(MOST);
        expect(commits.reduce((sum, ops) => sum + recordsIn(ops), 0)).toBe(CALLS);
        expect(reported).toEqual([]);
      }),
      { numRuns: runsOf(3, 10) },
    );
  });

  it('stores hundreds of calls that share their sums in one commit', async () => {
    const { store, ledger, start } = setUp();
    for (let call = 0; call < 400; call++) ledger.begin(start()).settle(outcome());
    await ledger.drain();
    expect(Math.max(...store.takeCommits().map(recordsIn))).toBeGreaterThan(200);
  });

  it('keeps the content of one commit within 8 MiB', async () => {
    const { store, ledger, start } = setUp();
    const entries = Array.from({ length: 50 }, () => ledger.begin(start()));
    await Promise.all(entries.map(({ durable }) => durable));
    const content = { request: 'x'.repeat(1 << 20), response: '' };
    for (const entry of entries) entry.settle(outcome({ content }));
    await ledger.drain();
    const sizes = store.takeCommits().map((ops) => JSON.stringify(ops).length);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeGreaterThan(12 << 20);
    expect(Math.max(...sizes)).toBeLessThan(8 << 20);
  });

  it('finds the record that no store takes in few commits, and stores all others', async () => {
    const { store, ledger, reported, start } = setUp();
    const entries = Array.from({ length: 300 }, () => ledger.begin(start()));
    await Promise.all(entries.map(({ durable }) => durable));
    store.takeCommits();
    store.refuse = (ops) =>
      JSON.stringify(ops).includes('poison') ? new StoreError('too_large', 'too large') : undefined;
    for (const entry of entries) entry.settle(outcome());
    const bad = ledger.begin(start());
    bad.settle(outcome({ result: 'error', status: 500, errorCode: 'poison' }));
    await ledger.drain();
    expect(reported.map(String)).toEqual([expect.stringContaining('too large')]);
    expect(store.takeCommits().length).toBeLessThan(40);
    store.refuse = undefined;
    const { data } = await listRequests({ store }, { status: 'ok', limit: 500 });
    expect(data).toHaveLength(300);
  });
});
