import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openMemoryStore } from '../../../src/store/backends/memory/open-memory-store.ts';
import { createConcurrencyLimiter } from '../../../src/usage/rates/concurrency-limiter.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { all, codeOf, createFaultyStore, principal, turns, nth } from '../usage-fixtures.ts';

function setUp() {
  const clock = createFakeClock();
  const store = createFaultyStore(openMemoryStore(clock));
  const alive = new Set<string>();
  const open = (worker: string) => {
    alive.add(worker);
    return createConcurrencyLimiter({ store, clock, worker, alive: async () => alive });
  };
  return { clock, store, alive, open };
}

const capped = (concurrencyCap: number | null, keyId = 'key_1') =>
  principal({ concurrencyCap, keyId });

describe('concurrency limits', () => {
  it('do not exist without a cap and cost nothing', () => {
    const { store, open } = setUp();
    const leave = open('w').enter(capped(null));
    expect(leave).toBeTypeOf('function');
    expect(store.takeCommits()).toEqual([]);
  });

  it('let in as many as the cap, each key apart, and one more for each that leaves', async () => {
    const { open } = setUp();
    const limiter = open('w');
    const entered = await all(Array.from({ length: 5 }, () => limiter.enter(capped(3))));
    const leaves = entered.filter((leave) => leave !== undefined);
    expect(leaves).toHaveLength(3);
    expect(await limiter.enter(capped(3, 'key_2'))).toBeTypeOf('function');
    leaves[0]?.();
    leaves[0]?.();
    await turns();
    expect(await limiter.enter(capped(3))).toBeTypeOf('function');
    expect(await limiter.enter(capped(3))).toBeUndefined();
  });

  it('hold over all workers', async () => {
    const { open } = setUp();
    const [one, two] = [open('a'), open('b')];
    const claims = Array.from({ length: 40 }, (_, i) => (i % 2 ? one : two).enter(capped(7)));
    const leaves = (await all(claims)).filter((leave) => leave !== undefined);
    expect(leaves).toHaveLength(7);
    for (const leave of leaves) leave();
    await turns();
    const again = await all(Array.from({ length: 9 }, () => two.enter(capped(7))));
    expect(again.filter(Boolean)).toHaveLength(7);
  });

  it('give back the places of a worker whose lease ended', async () => {
    const { alive, open } = setUp();
    const [dead, living] = [open('dead'), open('living')];
    expect(await dead.enter(capped(1))).toBeTypeOf('function');
    expect(await living.enter(capped(1))).toBeUndefined();
    alive.delete('dead');
    expect(await living.enter(capped(1))).toBeTypeOf('function');
  });

  it('leave nothing in the store when nobody is in', async () => {
    const { store, open } = setUp();
    const leave = await open('w').enter(capped(2));
    leave?.();
    await turns();
    expect(await store.list({ prefix: ['inflight'] })).toEqual([]);
  });

  it('refuse with persistence_failed while the store fails', async () => {
    const { store, open } = setUp();
    store.fail('before');
    expect(await codeOf(open('w').enter(capped(1)))).toBe('persistence_failed');
  });

  it.each(['before', 'after'] as const)(
    'sign off who left while the store failed (%s the commit was made)',
    async (how) => {
      const { clock, store, open } = setUp();
      const limiter = open('w');
      const leave = await limiter.enter(capped(1));
      store.fail(how);
      expect(await codeOf(open('w2').enter(capped(9)))).toBe('persistence_failed');
      leave?.();
      await turns();
      store.fail(undefined);
      clock.advance(1_000);
      await turns();
      expect(await store.list({ prefix: ['inflight'] })).toEqual([]);
      expect(await limiter.enter(capped(1))).toBeTypeOf('function');
    },
  );

  it('never let in more than the cap, and always one more where there is a place', async () => {
    const steps = fc.array(
      fc.record({ worker: fc.nat(2), enter: fc.boolean(), pick: fc.nat(20) }),
      {
        maxLength: 60,
      },
    );
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: 5 }), steps, async (cap, plan) => {
        const { open } = setUp();
        const limiters = [open('a'), open('b'), open('c')];
        const inside: (() => void)[] = [];
        for (const { worker, enter, pick } of plan) {
          if (enter) {
            const leave = await nth(limiters, worker).enter(capped(cap));
            expect(leave !== undefined).toBe(inside.length < cap);
            if (leave) inside.push(leave);
          } else if (inside.length > 0) {
            inside.splice(pick % inside.length, 1)[0]?.();
            await turns(3);
          }
        }
      }),
      { numRuns: 60 },
    );
  });
});
