import { describe, expect, it } from 'vitest';
import { openMemoryStore } from '../../src/store/backends/memory/open-memory-store.ts';
import { admit, INFERENCE, letIn } from '../../src/surfaces/gate.ts';
import type { GateDeps, KeyFound } from '../../src/surfaces/gate.ts';
import { createLedger } from '../../src/usage/ledger/ledger-store.ts';
import { decideAll } from '../../src/usage/rates/pending-claim.ts';
import { createRateLimiter } from '../../src/usage/rates/rate-limiter.ts';
import { verifies } from '../requirements.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { codeOf, createFaultyStore, principal, turns } from '../usage/usage-fixtures.ts';

const KEY = 'sk-1';

/** Two workers on one store; what the other one lets in is not known here. */
function setUp({ platform = null, found }: { platform?: number | null; found: KeyFound }) {
  const clock = createFakeClock();
  const store = createFaultyStore(openMemoryStore(clock));
  let entered = 0;
  const open = (worker: string, lookup: () => KeyFound): GateDeps => {
    const ledger = createLedger({ store, clock, worker }).claims;
    return {
      lookup,
      rates: createRateLimiter({ store, clock, platformCap: () => platform, ledger }),
      concurrency: { enter: () => (entered++, () => void entered--) },
    };
  };
  const other = open('w1', () => principal({ rpmCap: 1 }));
  return {
    clock,
    store,
    here: open('w2', () => found),
    other: () => admit(KEY, INFERENCE, other),
    inFlight: () => entered,
  };
}

const capped = (overrides = {}) => principal({ rpmCap: 1, ...overrides });

describe('the gate', () => {
  it('lets a call in before the store has decided about its rates', async () => {
    const { here, store } = setUp({ platform: 5, found: capped() });
    const { claims } = await letIn(KEY, INFERENCE, here);
    expect(claims.map(({ isOpen }) => isOpen)).toEqual([true, true]);
    await decideAll(claims);
    expect(store.takeCommits()).toHaveLength(1);
  });

  it.each([
    ['a scope that it lacks', capped({ scopes: new Set(['models']) })],
    ['a disabled organization', capped({ organizationEnabled: false })],
    ['nothing else', capped()],
    ['a cap on calls in flight', capped({ concurrencyCap: 1 })],
  ])(
    verifies('auth.check-order', 'answers with a rate that others have used up before %s'),
    async (_, found) => {
      const { here, other, inFlight } = setUp({ found });
      (await other()).leave();
      expect(await codeOf(admit(KEY, INFERENCE, here))).toBe('key_rate_limited');
      expect(inFlight()).toBe(0);
    },
  );

  it.each(['revoked', 'unknown', 'expired', capped()] as const)(
    verifies('auth.check-order', 'answers with the used-up rate of the platform before %s'),
    async (found) => {
      const { here, other } = setUp({ platform: 1, found });
      (await other()).leave();
      expect(await codeOf(admit(KEY, INFERENCE, here))).toBe('global_rate_limited');
      expect(await codeOf(admit(undefined, INFERENCE, here))).toBe('global_rate_limited');
    },
  );

  it.each([
    ['its key', { found: capped({ keyName: 'ci' }) }, { owner: 'key', name: 'ci' }],
    [
      'the platform',
      { platform: 1, found: capped({ rpmCap: 5 }) },
      { owner: 'gateway', name: null },
    ],
  ] as const)(
    verifies('limits.refusal.reason', 'names the rate of %s, and when it has room again'),
    async (_, caps, expected) => {
      const { here, other, clock } = setUp(caps);
      const freeAt = clock.now() + 60_000;
      (await other()).leave();
      clock.advance(20_000);
      const rate = { unit: 'requests', per: 'minute', most: 1, used: 1, freeAt };
      // By the store, and by what is known here then.
      for (let again = 0; again < 2; again++)
        await expect(admit(KEY, INFERENCE, here)).rejects.toMatchObject({
          limit: { ...rate, ...expected },
        });
    },
  );

  it(verifies('limits.refusal.reason', 'names the cap on calls in flight of a key'), async () => {
    const { here } = setUp({ found: principal({ concurrencyCap: 2 }) });
    const deps = { ...here, concurrency: { enter: () => undefined } };
    await expect(admit(KEY, INFERENCE, deps)).rejects.toMatchObject({
      code: 'key_concurrency_exceeded',
      limit: { owner: 'key', unit: 'in_flight', most: 2, used: 2 },
    });
  });

  it('takes no place of a key for what the platform turns away', async () => {
    const { here, other, store } = setUp({ platform: 1, found: capped({ keyId: 'key_2' }) });
    await other();
    expect(await codeOf(admit(KEY, INFERENCE, here))).toBe('global_rate_limited');
    expect(await store.list({ prefix: ['rpm', 'key', 'key_2'] })).toEqual([]);
  });

  it('tells that nothing can be recorded where the store cannot decide', async () => {
    const { here, store } = setUp({ found: capped({ scopes: new Set(['models']) }) });
    store.fail('before');
    expect(await codeOf(admit(KEY, INFERENCE, here))).toBe('persistence_failed');
    await turns();
    expect(await codeOf(admit(KEY, INFERENCE, here))).toBe('persistence_failed');
  });
});
