import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openMemoryStore } from '../../../src/store/backends/memory/open-memory-store.ts';
import { createLedger } from '../../../src/usage/ledger/ledger-store.ts';
import type { LedgerEntry } from '../../../src/usage/ledger/ledger.ts';
import type { Principal } from '../../../src/usage/principal.ts';
import type { PendingClaim } from '../../../src/usage/rates/pending-claim.ts';
import { createRateLimiter } from '../../../src/usage/rates/rate-limiter.ts';
import { readSpend } from '../../../src/usage/spend/read-spend.ts';
import { verifies } from '../../requirements.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import {
  codeOf,
  createFaultyStore,
  createStarts,
  nth,
  outcome,
  principal,
  turns,
} from '../usage-fixtures.ts';

const BOUND = 10;
const KEY = { kind: 'key', id: 'key_1' } as const;

function setUp(platformCap: number | null = null) {
  const clock = createFakeClock();
  const store = createFaultyStore(openMemoryStore(clock));
  const start = createStarts(clock);
  const open = (worker: string) => {
    const ledger = createLedger({ store, clock, worker });
    const rates = createRateLimiter({
      store,
      clock,
      platformCap: () => platformCap,
      ledger: ledger.claims,
    });
    return {
      ledger,
      /** As a request is let in and begun in one turn; undefined: it was turned away at once. */
      call(who: Principal): Begun | undefined {
        const platform = rates.admitPlatform('client');
        if (platform === false) return undefined;
        const after = platform === true ? undefined : platform;
        const key = rates.admitKey(who, after);
        if (key === false) return { claims: after ? [after] : [], entry: undefined };
        const claims = [after, key].filter((one) => typeof one === 'object');
        return { claims, entry: ledger.begin(start({ principal: who, bound: BOUND, claims })) };
      },
    };
  };
  return { clock, store, open };
}

interface Begun {
  readonly claims: readonly PendingClaim[];
  /** Absent: the key's rate turned it away at once. */
  readonly entry: LedgerEntry | undefined;
}

async function fateOf(begun: Begun | undefined): Promise<string> {
  if (!begun) return 'global_rate_limited';
  for (const { decided, refusal } of begun.claims) if (!(await decided)) return refusal;
  if (!begun.entry) return 'key_rate_limited';
  return codeOf(begun.entry.admitted ?? begun.entry.durable, 'admitted');
}

const capped = (rpmCap: number, lifetime: number | null = null): Principal =>
  principal({ rpmCap, keySpend: lifetime === null ? null : { lifetime } });

describe('a call whose rates the store decides', () => {
  it('is begun, claimed and reserved for in one commit, with all others of the turn', async () => {
    const { store, open } = setUp(1_000);
    const { call } = open('w1');
    await fateOf(call(capped(100, 1_000)));
    store.takeCommits();
    const calls = Array.from({ length: 20 }, () => call(capped(100, 1_000)));
    expect(await Promise.all(calls.map(fateOf))).toEqual(calls.map(() => 'admitted'));
    expect(store.takeCommits()).toHaveLength(1);
  });

  it('leaves no trace when a rate turns it away', async () => {
    const { store, open } = setUp();
    const [one, other] = [open('w1'), open('w2')];
    for (const lifetime of [null, 1_000]) {
      const who = { ...capped(1, lifetime), keyId: `key_${lifetime}` };
      expect(await fateOf(one.call(who))).toBe('admitted');
      const begun = other.call(who);
      expect(await fateOf(begun)).toBe('key_rate_limited');
      expect(await codeOf(begun?.entry?.durable)).toBe('key_rate_limited');
    }
    for (const room of ['flight', 'open'])
      expect(await store.list({ prefix: [room, 'w2'] })).toEqual([]);
    expect((await readSpend({ store }, { kind: 'key', id: 'key_1000' }, 0)).lifetime).toEqual({
      settled: 0,
      reserved: BOUND,
    });
  });

  it('takes its place in the rate although its limit refuses it', async () => {
    const { open } = setUp();
    const { call } = open('w1');
    const calls = Array.from({ length: 5 }, () => call(capped(4, 2 * BOUND)));
    expect(await Promise.all(calls.map(fateOf))).toEqual([
      'admitted',
      'admitted',
      'key_spending_limit',
      'key_spending_limit',
      'key_rate_limited',
    ]);
  });

  it('is decided in time for a begin that comes later, and counts once', async () => {
    const { clock, open, store } = setUp();
    const { ledger } = open('w1');
    const rates = createRateLimiter({
      store,
      clock,
      platformCap: () => null,
      ledger: ledger.claims,
    });
    const who = capped(2, 1_000);
    const claim = rates.admitKey(who) as PendingClaim;
    expect(await claim.decided).toBe(true);
    const start = createStarts(clock);
    for (const _ of ['first', 'in place of it']) {
      const entry = ledger.begin(start({ principal: who, bound: BOUND, claims: [claim] }));
      expect(await codeOf(entry.admitted, 'admitted')).toBe('admitted');
    }
    expect(await (rates.admitKey(who) as PendingClaim).decided).toBe(true);
    expect(rates.admitKey(who)).toBe(false);
  });

  it('is planned once where others keep taking places of the same rate', async () => {
    const { store, open } = setUp();
    const [one, other] = [open('w1'), open('w2')];
    const who = capped(1_000);
    const roomsOf = async (): Promise<string[][]> => {
      store.takeCommits();
      expect(await fateOf(one.call(who))).toBe('admitted');
      const commits = store.takeCommits();
      return commits.map((ops) => [...new Set(ops.map(({ key }) => String(key[0])))].sort());
    };
    const together = ['fence', 'flight', 'rpm'];
    expect(await roomsOf()).toEqual([together]);
    expect(await fateOf(other.call(who))).toBe('admitted');
    // It does not know of that yet.
    expect(await roomsOf()).toEqual([together, together]);
    expect(await fateOf(other.call(who))).toBe('admitted');
    expect(await roomsOf()).toEqual([
      ['fence', 'rpm'],
      ['fence', 'rpm'],
      ['fence', 'flight'],
    ]);
    for (let quiet = 0; quiet < 16; quiet++)
      expect(await roomsOf()).toEqual([
        ['fence', 'rpm'],
        ['fence', 'flight'],
      ]);
    expect(await roomsOf()).toEqual([together]);
  });

  it('fails with the store, and what was stored after all counts', async () => {
    const { clock, store, open } = setUp();
    const { call, ledger } = open('w1');
    const who = capped(2, 1_000);
    expect(await fateOf(call(who))).toBe('admitted');
    store.fail('after');
    const begun = call(who);
    expect(await codeOf(nth(begun?.claims ?? [], 0).decided)).toBe('persistence_failed');
    expect(await codeOf(begun?.entry?.admitted)).toBe('persistence_failed');
    store.fail(undefined);
    clock.advance(1_000);
    await turns(10);
    await ledger.drain();
    expect(await fateOf(call(who))).toBe('key_rate_limited');
    expect(await fateOf(open('w2').call(who))).toBe('key_rate_limited');
  });

  it(
    verifies(
      'limits.rpm.exact-across-workers',
      'store.ledger.never-exceeds',
      'is let in exactly as far as rates and limits reach, whichever of several workers it comes to',
    ),
    async () => {
      const wave = fc.array(fc.record({ worker: fc.nat(2), count: fc.nat(12) }), {
        maxLength: 6,
      });
      const caps = fc.record({
        platform: fc.option(fc.integer({ min: 1, max: 60 }), { nil: null }),
        key: fc.integer({ min: 1, max: 40 }),
        calls: fc.integer({ min: 0, max: 30 }),
        /** Calls that the limit has room for are ended between the waves. */
        ends: fc.boolean(),
      });
      await fc.assert(
        fc.asyncProperty(caps, fc.array(wave, { maxLength: 5 }), async (limits, waves) => {
          const { store, open, clock } = setUp(limits.platform);
          const workers = ['w1', 'w2', 'w3'].map(open);
          const who = capped(limits.key, limits.calls * BOUND);
          const tally = new Map<string, number>();
          let asked = 0;
          for (const each of waves) {
            const begun = each.flatMap(({ worker, count }) =>
              Array.from({ length: count }, () => nth(workers, worker).call(who)),
            );
            asked += begun.length;
            const fates = await Promise.all(begun.map(fateOf));
            for (const fate of fates) tally.set(fate, (tally.get(fate) ?? 0) + 1);
            if (!limits.ends) continue;
            for (const [index, one] of begun.entries())
              if (fates[index] === 'admitted') one?.entry?.settle(outcome({ cost: BOUND }));
            await Promise.all(workers.map(({ ledger }) => ledger.drain()));
          }
          const of = (fate: string): number => tally.get(fate) ?? 0;
          const inPlatform = asked - of('global_rate_limited');
          const inKey = inPlatform - of('key_rate_limited');
          // A twentieth of a large cap is kept for others.
          expect(inPlatform).toBe(Math.min(asked, limits.platform ?? Infinity));
          expect(inKey).toBe(Math.min(inPlatform, limits.key));
          expect(of('admitted')).toBe(Math.min(inKey, limits.calls));
          expect(of('key_spending_limit')).toBe(inKey - of('admitted'));
          const { settled, reserved } = (await readSpend({ store }, KEY, clock.now())).lifetime;
          expect(settled + reserved).toBe(of('admitted') * BOUND);
        }),
        { numRuns: 80 },
      );
    },
  );
});
