import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openMemoryStore } from '../../src/store/backends/memory/open-memory-store.ts';
import { createLedger } from '../../src/usage/ledger/ledger-store.ts';
import type { Caller } from '../../src/usage/rates/rate-shares.ts';
import { createRateLimiter } from '../../src/usage/rates/rate-limiter.ts';
import { divided } from '../../src/usage/rates/rate-shares.ts';
import { verifies } from '../requirements.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import {
  all,
  codeOf,
  createFaultyStore,
  decidedRates,
  nth,
  principal,
  turns,
} from './usage-fixtures.ts';

function setUp(cap: number | null = null) {
  const clock = createFakeClock();
  const store = createFaultyStore(openMemoryStore(clock));
  const limit = { cap };
  let workers = 0;
  const open = (own = clock): Rates => {
    const ledger = createLedger({ store, clock: own, worker: `w${++workers}` });
    const platformCap = () => limit.cap;
    const limiter = createRateLimiter({ store, clock: own, platformCap, ledger: ledger.claims });
    return decidedRates(limiter);
  };
  return { clock, store, limit, open, limiter: open() };
}

type Rates = ReturnType<typeof decidedRates>;

const capped = (rpmCap: number | null, keyId = 'key_1') => principal({ rpmCap, keyId });

async function accepted(claims: (boolean | Promise<boolean>)[]): Promise<number> {
  return (await all(claims)).filter(Boolean).length;
}

const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));

describe('rate limits', () => {
  it(verifies('limits.rpm.no-defaults', 'do not exist by default and cost nothing'), () => {
    const { store, limiter } = setUp();
    expect(times(1_000, () => limiter.admitPlatform('client'))).not.toContain(false);
    expect(times(1_000, () => limiter.admitKey(capped(null)))).not.toContain(false);
    expect(store.takeCommits()).toEqual([]);
  });

  it('bind a key without a cap by the platform alone', async () => {
    const { limiter } = setUp(2);
    const one = async () =>
      (await limiter.admitPlatform('client')) && limiter.admitKey(capped(null));
    expect([await one(), await one(), await one()]).toEqual([true, true, false]);
  });

  it(
    verifies('limits.rpm.key-cap', 'accept as many requests of a key as its cap, each key apart'),
    async () => {
      const { limiter } = setUp();
      expect(await accepted(times(10, () => limiter.admitKey(capped(3))))).toBe(3);
      expect(await limiter.admitKey(capped(3))).toBe(false);
      expect(await accepted(times(10, () => limiter.admitKey(capped(3, 'key_2'))))).toBe(3);
    },
  );

  it(
    verifies(
      'limits.rpm.exact-across-workers',
      'accept exactly 100 of 1000 requests at once on two workers',
    ),
    async () => {
      const { open } = setUp();
      const workers = [open(), open()];
      const claims = times(1_000, (index) => nth(workers, index % 2).admitKey(capped(100)));
      expect(await accepted(claims)).toBe(100);
    },
  );

  it('hold over workers that take turns', async () => {
    const { clock, open } = setUp();
    const workers = [open(), open(), open()];
    let count = 0;
    for (let i = 0; i < 30; i++) {
      if (await nth(workers, i % 3).admitKey(capped(10))) count++;
      clock.advance(100);
    }
    expect(count).toBe(10);
  });

  it(
    verifies(
      'limits.rpm.rolling-window',
      'give a place back exactly 60 seconds after it was taken',
    ),
    async () => {
      const { clock, limiter } = setUp();
      expect(await limiter.admitKey(capped(2))).toBe(true);
      clock.advance(59_999);
      expect(await limiter.admitKey(capped(2))).toBe(true);
      expect(await limiter.admitKey(capped(2))).toBe(false);
      clock.advance(1);
      expect(await limiter.admitKey(capped(2))).toBe(true);
      expect(await limiter.admitKey(capped(2))).toBe(false);
      clock.advance(59_998);
      expect(await limiter.admitKey(capped(2))).toBe(false);
      clock.advance(1);
      expect(await limiter.admitKey(capped(2))).toBe(true);
    },
  );

  it(
    verifies(
      'limits.rpm.rolling-window',
      'limits.rpm.exact-across-workers',
      'never accept more than the cap in any 60 seconds, nor fewer than fit',
    ),
    async () => {
      const arrivals = fc.array(
        fc.record({
          wait: fc.integer({ min: 0, max: 20_000 }),
          worker: fc.nat(1),
          count: fc.nat(5),
        }),
        { maxLength: 40 },
      );
      await fc.assert(
        fc.asyncProperty(fc.integer({ min: 0, max: 6 }), arrivals, async (cap, plan) => {
          const { clock, open } = setUp();
          const workers = [open(), open()];
          const taken: number[] = [];
          for (const { wait, worker, count } of plan) {
            clock.advance(wait);
            const now = clock.now();
            const free = cap - taken.filter((at) => at > now - 60_000).length;
            const yes = await accepted(
              times(count, () => nth(workers, worker).admitKey(capped(cap))),
            );
            expect(yes).toBe(Math.min(count, Math.max(0, free)));
            taken.push(...times(yes, () => now));
          }
        }),
        { numRuns: 60 },
      );
    },
  );

  it('do not count refused requests', async () => {
    const { clock, limiter } = setUp();
    await limiter.admitKey(capped(1));
    clock.advance(30_000);
    expect(await accepted(times(50, () => limiter.admitKey(capped(1))))).toBe(0);
    clock.advance(30_000);
    expect(await limiter.admitKey(capped(1))).toBe(true);
  });

  it('answer without the store once the window is known to be full', async () => {
    const { store, limiter } = setUp();
    await limiter.admitKey(capped(1));
    store.takeCommits();
    expect(limiter.admitKey(capped(1))).toBe(false);
    expect(store.takeCommits()).toEqual([]);
  });

  it('commit all claims of one turn at once', async () => {
    const { store, limiter } = setUp();
    await all(times(200, () => limiter.admitKey(capped(1_000))));
    expect(store.takeCommits()).toHaveLength(1);
  });

  it('follow a cap that changes', async () => {
    const { limit, limiter } = setUp(1);
    expect(await accepted(times(3, () => limiter.admitPlatform('client')))).toBe(1);
    limit.cap = 3;
    expect(await accepted(times(3, () => limiter.admitPlatform('client')))).toBe(2);
    limit.cap = null;
    expect(limiter.admitPlatform('client')).toBe(true);
  });

  it(
    verifies('limits.rpm.platform', 'accept as many requests as the platform cap over all keys'),
    async () => {
      const { limiter } = setUp(5);
      const one = async (index: number) =>
        (await limiter.admitPlatform('client')) && limiter.admitKey(capped(100, `key_${index}`));
      expect(await accepted(times(20, one))).toBe(5);
    },
  );

  it('refuse with persistence_failed while the store fails, and count what it kept all the same', async () => {
    const { clock, store, open, limiter } = setUp();
    store.fail('after');
    expect(await codeOf(limiter.admitKey(capped(2)))).toBe('persistence_failed');
    await expect(async () => limiter.admitKey(capped(2))).rejects.toMatchObject({
      code: 'persistence_failed',
    });
    store.fail(undefined);
    clock.advance(1_000);
    await turns();
    expect(await accepted(times(3, () => limiter.admitKey(capped(2))))).toBe(1);
    expect(await open().admitKey(capped(2))).toBe(false);
  });

  it('take entries of a clock that runs ahead for as old as they can be', async () => {
    const { clock, open, limiter } = setUp();
    const other = open(createFakeClock(clock.now() + 3_600_000));
    expect(await other.admitKey(capped(1))).toBe(true);
    expect(await limiter.admitKey(capped(1))).toBe(false);
    clock.advance(60_000);
    expect(await limiter.admitKey(capped(1))).toBe(true);
  });

  it('leave nothing in the store once it no longer counts', async () => {
    const { clock, store, limiter } = setUp();
    await limiter.admitKey(capped(5));
    clock.advance(11 * 60_000);
    expect(await store.list({ prefix: ['rpm'] })).toEqual([]);
    expect(await limiter.admitKey(capped(5))).toBe(true);
  });

  const HOUR = 3_600_000;
  const STEPS = [2 * HOUR, -2 * HOUR, 400 * 24 * HOUR, -400 * 24 * HOUR];

  it.each(STEPS)(
    verifies(
      'limits.rpm.clock-set-back',
      'admit again within 60 seconds when a clock that stepped by %i ms is set right',
    ),
    async (ms) => {
      for (const admit of [
        (limiter: Rates) => limiter.admitKey(capped(3)),
        (limiter: Rates) => limiter.admitPlatform('client'),
      ]) {
        const { clock, open } = setUp(3);
        const workers = [open(), open()];
        clock.step(ms);
        for (let i = 0; i < 3; i++) expect(await admit(nth(workers, i % 2))).toBe(true);
        expect(await admit(nth(workers, 1))).toBe(false);
        clock.advance(1_000);
        clock.step(-ms);
        expect(await accepted(workers.map(admit))).toBe(0);
        clock.advance(59_000);
        expect(await accepted(times(6, (index) => admit(nth(workers, index % 2))))).toBe(3);
        // One that starts now knows of no step.
        clock.advance(59_999);
        expect(await admit(open())).toBe(false);
        clock.advance(1);
        expect(await admit(open())).toBe(true);
      }
    },
  );

  /** An entry is made between two steps ahead, the second before the first one counts. */
  const TWO_STEPS_AHEAD = [
    { wait: 0, step: 400 * 24 * HOUR, worker: 0, count: 0 },
    ...[5_082, 19_474, 17_106, 11_251, 11_006].map((wait) => ({
      wait,
      step: 0,
      worker: 0,
      count: 0,
    })),
    { wait: 18_856, step: -2 * HOUR, worker: 0, count: 1 },
    { wait: 16_079, step: 400 * 24 * HOUR, worker: 0, count: 0 },
    { wait: 19_146, step: 0, worker: 1, count: 1 },
  ];

  /** An entry is made while the clock is behind, in a second in which nothing else looks at it. */
  const BACK_AND_AHEAD = [
    { wait: 1_000, step: 0, worker: 0, count: 0 },
    { wait: 1_000, step: -400 * 24 * HOUR, worker: 0, count: 1 },
    { wait: 0, step: 400 * 24 * HOUR, worker: 1, count: 1 },
  ];

  it(
    verifies(
      'limits.rpm.clock-jump-never-over',
      'never accept more than the cap in 60 seconds that pass, however the clock steps',
    ),
    async () => {
      const plan = fc.array(
        fc.record({
          wait: fc.integer({ min: 0, max: 20_000 }),
          step: fc.constantFrom(0, 0, 0, ...STEPS),
          worker: fc.nat(1),
          count: fc.nat(5),
        }),
        { maxLength: 40 },
      );
      await fc.assert(
        fc.asyncProperty(fc.integer({ min: 1, max: 6 }), plan, async (cap, moves) => {
          const { clock, open } = setUp(cap);
          const workers = [open(), open()];
          const taken = { key: [] as number[], platform: [] as number[] };
          for (const { wait, step, worker, count } of moves) {
            clock.advance(wait);
            clock.step(step);
            // Nobody sees two steps within a second.
            clock.advance(step === 0 ? 0 : 1_000);
            const limiter = nth(workers, worker);
            const now = clock.monotonic();
            const inAll = await accepted(times(count, () => limiter.admitPlatform('client')));
            const ofKey = await accepted(times(count, () => limiter.admitKey(capped(cap))));
            taken.platform.push(...times(inAll, () => now));
            taken.key.push(...times(ofKey, () => now));
            for (const some of Object.values(taken))
              expect(some.filter((at) => at > now - 60_000).length).toBeLessThanOrEqual(cap);
          }
        }),
        { numRuns: 150, examples: [TWO_STEPS_AHEAD, BACK_AND_AHEAD].map((moves) => [1, moves]) },
      );
    },
  );
});

describe('shares of the platform rate', () => {
  it.each([
    { cap: 1, refused: 1, kept: 0 },
    { cap: 4, refused: 1, kept: 0 },
    { cap: 5, refused: 1, kept: 0 },
    { cap: 9, refused: 1, kept: 0 },
    { cap: 10, refused: 2, kept: 0 },
    { cap: 99, refused: 19, kept: 0 },
    { cap: 100, refused: 20, kept: 5 },
    { cap: 110, refused: 22, kept: 6 },
  ])('are whole requests: $cap has $refused and $kept', ({ cap, refused, kept }) => {
    expect(divided(cap)).toEqual({ all: cap, refused, others: cap - kept });
  });

  it(
    verifies(
      'limits.rpm.refused-share',
      'leave all but a fifth to valid keys, over all workers and in any order',
    ),
    async () => {
      const { clock, open } = setUp(50);
      const workers = [open(), open()];
      const claim = (caller: Caller, count: number) =>
        accepted(times(count, (index) => nth(workers, index % 2).admitPlatform(caller)));
      expect(await claim('refused', 80)).toBe(10);
      expect(await claim('client', 80)).toBe(40);
      expect(nth(workers, 0).isPlatformFull()).toBe(true);
      clock.advance(60_000);
      expect(nth(workers, 0).isPlatformFull()).toBe(false);
      expect(await claim('client', 45)).toBe(45);
      expect(await claim('refused', 20)).toBe(5);
    },
  );

  it('keep a twentieth for admin keys, and no more than that', async () => {
    const { open } = setUp(100);
    const workers = [open(), open()];
    const claim = (caller: Caller, count: number) =>
      accepted(times(count, (index) => nth(workers, index % 2).admitPlatform(caller)));
    expect(await claim('refused', 100)).toBe(20);
    expect(await claim('client', 100)).toBe(75);
    expect(await claim('admin', 3)).toBe(3);
    expect(await claim('client', 1)).toBe(0);
    expect(await claim('admin', 10)).toBe(2);
  });

  it('are open to clients when admin keys need none of theirs', async () => {
    const { limiter } = setUp(100);
    expect(await accepted(times(10, () => limiter.admitPlatform('admin')))).toBe(10);
    expect(await accepted(times(200, () => limiter.admitPlatform('client')))).toBe(90);
  });

  it(
    verifies('limits.rpm.ceiling-with-shares', 'never come to more than the cap in any 60 seconds'),
    async () => {
      const callers = fc.constantFrom<Caller>('refused', 'client', 'admin');
      const arrivals = fc.array(
        fc.record({
          wait: fc.integer({ min: 0, max: 15_000 }),
          worker: fc.nat(1),
          who: fc.array(callers, { maxLength: 60 }),
        }),
        { maxLength: 20 },
      );
      await fc.assert(
        fc.asyncProperty(fc.constantFrom(3, 10, 100), arrivals, async (cap, plan) => {
          const { clock, open } = setUp(cap);
          const workers = [open(), open()];
          const shares = divided(cap);
          const taken: { at: number; caller: Caller }[] = [];
          for (const { wait, worker, who } of plan) {
            clock.advance(wait);
            const at = clock.now();
            const limiter = nth(workers, worker);
            const answers = await all(who.map((caller) => limiter.admitPlatform(caller)));
            for (const [index, isIn] of answers.entries())
              if (isIn) taken.push({ at, caller: nth(who, index) });
            const last = taken.filter((one) => one.at > at - 60_000);
            expect(last.length).toBeLessThanOrEqual(cap);
            const refused = last.filter(({ caller }) => caller === 'refused').length;
            expect(refused).toBeLessThanOrEqual(shares.refused);
            const admin = last.filter(({ caller }) => caller === 'admin').length;
            expect(last.length - admin).toBeLessThanOrEqual(shares.others);
          }
        }),
        { numRuns: 60 },
      );
    },
  );

  it('cost one commit for all callers of one turn', async () => {
    const { store, limiter } = setUp(100);
    const callers: Caller[] = ['refused', 'client', 'admin'];
    await all(callers.map((caller) => limiter.admitPlatform(caller)));
    expect(store.takeCommits()).toHaveLength(1);
  });
});
