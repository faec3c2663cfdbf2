import { describe, expect, it } from 'vitest';
import { openStore } from '../../../src/store/open-store.ts';
import { openMemoryStore } from '../../../src/store/backends/memory/open-memory-store.ts';
import type { Store } from '../../../src/store/store.ts';
import { createLedger } from '../../../src/usage/ledger/ledger-store.ts';
import { usageReport } from '../../../src/usage/requests/usage-report.ts';
import { foldParts } from '../../../src/usage/sums/fold-parts.ts';
import { verifies } from '../../requirements.ts';
import { storePlaces } from '../../store/support/store-places.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import type { FakeClock } from '../../support/fake-clock.ts';
import { createFaultyStore, createStarts, DAY, outcome, principal } from '../usage-fixtures.ts';

const places = storePlaces();

const byConversation = async (store: Store, organization?: string) => {
  const rows = await usageReport({ store }, { groupBy: ['conversation'], organization });
  return rows.map(({ conversation, requests }) => [conversation, requests]);
};

function setUp(store: Store, clock: FakeClock) {
  const start = createStarts(clock);
  const ledger = createLedger({ store, clock, worker: 'w1' });
  /** One call on that day from now. */
  const talk = (conversation: string, day: number, organizationId = 'org_1'): void => {
    const payer = principal({ organizationId });
    const at = clock.now() + day * DAY;
    ledger
      .begin(start({ at, origin: { conversation }, principal: payer }))
      .settle(outcome({ cost: 1 }));
  };
  return { ledger, talk };
}

describe('foldParts', () => {
  it.each(places.drivers)(
    verifies(
      'usage.sums-bounded',
      'keeps the last used values of each organization and adds the rest to `other`, on %s',
    ),
    async (driver) => {
      const clock = createFakeClock();
      const store = await openStore(await places.fresh(driver), { clock });
      const { ledger, talk } = setUp(store, clock);
      for (const name of ['c1', 'c2', 'c3', 'c4']) talk(name, 0);
      talk('d1', 0, 'org_2');
      await ledger.drain();
      for (const name of ['c5', 'c1', 'c6']) talk(name, 1);
      await ledger.drain();
      expect(await foldParts(store, 4)).toBe(2);
      expect(await byConversation(store, 'org_1')).toEqual([
        ['c1', 2],
        ['c4', 1],
        ['c5', 1],
        ['c6', 1],
        ['other', 2],
      ]);
      expect(await byConversation(store, 'org_2')).toEqual([['d1', 1]]);
      expect(await foldParts(store, 4)).toBe(0);
      // The worker goes on with values whose rows are gone.
      for (const name of ['c2', 'c6']) talk(name, 1);
      await ledger.drain();
      expect(await foldParts(store, 4)).toBe(1);
      expect(await byConversation(store, 'org_1')).toEqual([
        ['c1', 2],
        ['c2', 1],
        ['c5', 1],
        ['c6', 2],
        ['other', 3],
      ]);
      const [total] = await usageReport({ store }, { organization: 'org_1' });
      expect(total).toMatchObject({ requests: 9, cost: '0.000000009' });
      await store.close();
    },
  );

  it(
    verifies('usage.sums-bounded', 'loses and doubles nothing while workers go on counting'),
    async () => {
      const clock = createFakeClock();
      const plain = openMemoryStore(clock);
      const store = createFaultyStore(plain);
      const { ledger, talk } = setUp(store, clock);
      for (let round = 0; round < 30; round++) {
        for (let index = 0; index < 5; index++)
          talk(`c${(round + index) % 12}`, Math.floor(round / 7));
        const folding = foldParts(plain, 3);
        await Promise.all([ledger.drain(), folding]);
      }
      await foldParts(plain, 3);
      const rows = await byConversation(plain);
      expect(rows).toHaveLength(4);
      expect(rows.reduce((sum, [, requests]) => sum + Number(requests), 0)).toBe(150);
      expect((await usageReport({ store: plain }, {}))[0]?.requests).toBe(150);
    },
  );
});
