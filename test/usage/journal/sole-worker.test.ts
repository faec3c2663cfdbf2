import { expect, it } from 'vitest';
import { openMemoryStore } from '../../../src/store/backends/memory/open-memory-store.ts';
import { SoleWorker } from '../../../src/usage/journal/sole-worker.ts';
import { leaseKey } from '../../../src/usage/ledger/ledger-keys.ts';
import { createWorkerLease } from '../../../src/usage/ledger/worker-lease.ts';
import { recoverOpen } from '../../../src/usage/recovery/recover-open.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { turns } from '../usage-fixtures.ts';

async function setUp() {
  const clock = createFakeClock();
  const store = openMemoryStore(clock);
  const open = async (worker: string) => {
    const lease = createWorkerLease({ store, clock, worker });
    await lease.start();
    const told: string[] = [];
    const sole = new SoleWorker({
      store,
      clock,
      worker,
      lease,
      mayBeSole: true,
      isGone: () => false,
      recover: () => recoverOpen({ store, clock }),
      onBegin: () => void told.push('begin'),
      onReturn: () => void told.push('return'),
      onEnd: async () => true,
      report: (error) => void told.push(String(error)),
    });
    return { sole, told };
  };
  /** Lets less time pass than between two beats. */
  const during = async (work: Promise<void>): Promise<void> => {
    for (let passed = 0; passed < 2_000; passed += 50) {
      await turns(5);
      clock.advance(50);
    }
    await work;
  };
  return { store, open, during };
}

it('stops deciding alone when another takes over that took it for dead', async () => {
  const { store, open, during } = await setUp();
  const first = await open('first');
  await first.sole.enter();
  expect(first.sole.isSole).toBe(true);
  // As a process sees it whose clock was set forward before it started.
  await store.commit([{ type: 'delete', key: leaseKey('first') }]);
  const second = await open('second');
  await during(second.sole.enter());
  expect(second.sole.isSole).toBe(true);
  expect([first.sole.isSole, first.sole.isKnown]).toEqual([false, false]);

  // Whoever is alone steps back before it decides again.
  await during(first.sole.ready()!);
  expect([first.sole.isSole, second.sole.isSole]).toEqual([false, false]);
  expect([first.told, second.told]).toEqual([['begin', 'return'], ['begin']]);
});
