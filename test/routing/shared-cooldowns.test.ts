import { describe, expect, it } from 'vitest';
import type { Route } from '../../src/routing/catalog.ts';
import { createHealth } from '../../src/routing/health.ts';
import { createSharedCooldowns } from '../../src/routing/shared-cooldowns.ts';
import { openMemoryStore } from '../../src/store/backends/memory/open-memory-store.ts';
import { verifies } from '../requirements.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { createFaultyStore, turns } from '../usage/usage-fixtures.ts';

const ROUTE = { provider: { id: 'prov_1' }, upstreamModel: 'm' } as Route;
const SIBLING = { provider: { id: 'prov_1' }, upstreamModel: 'other' } as Route;

function setUp() {
  const clock = createFakeClock();
  const store = openMemoryStore(clock);
  const open = () => {
    const faulty = createFaultyStore(store);
    const cooldowns = createSharedCooldowns({ store: faulty, clock });
    const health = createHealth({ clock, threshold: 2, ...cooldowns });
    cooldowns.join(health);
    return { health, faulty, close: () => cooldowns.close() };
  };
  return { clock, store, open };
}

describe('cooldowns of two processes on one store', () => {
  it(
    verifies('store.multi-node', 'are one: what a provider refused to one, the other leaves alone'),
    async () => {
      const { clock, open } = setUp();
      const [a, b] = [open(), open()];
      await turns();
      a.health.begin(ROUTE).fault('rate', 30_000);
      await turns();
      expect(b.health.look(ROUTE)).toMatchObject({ state: 'cooled', until: clock.now() + 30_000 });
      expect(b.health.look(SIBLING).state).toBe('available');

      b.health.begin(SIBLING).fault('credential');
      await turns();
      expect(a.health.look(SIBLING).state).toBe('cooled');

      const late = open();
      await turns();
      expect(late.health.look(ROUTE).state).toBe('cooled');
      clock.advance(60_000);
      expect(late.health.look(ROUTE).state).toBe('available');
    },
  );

  it('keep the later deadline, and go on doubling where the other was', async () => {
    const { clock, open } = setUp();
    const [a, b] = [open(), open()];
    await turns();
    a.health.begin(ROUTE).fault('rate', 60_000);
    b.health.begin(ROUTE).fault('rate', 20_000);
    await turns();
    for (const { health } of [a, b]) expect(health.look(ROUTE).until).toBe(clock.now() + 60_000);
    clock.advance(60_000);
    for (let faults = 0; faults < 2; faults++) a.health.begin(ROUTE).fault('server');
    await turns();
    expect(b.health.look(ROUTE).until).toBe(clock.now() + 15_000);
    clock.advance(15_000);
    b.health.begin(ROUTE).fault('server');
    await turns();
    expect(a.health.look(ROUTE).until).toBe(clock.now() + 30_000);
  });

  it('end for both when the candidate answered one', async () => {
    const { open } = setUp();
    const [a, b] = [open(), open()];
    await turns();
    a.health.begin(ROUTE).fault('rate', 60_000);
    await turns();
    b.health.begin(ROUTE).success(10);
    await turns();
    expect(a.health.look(ROUTE).state).toBe('available');
    a.health.begin(ROUTE).fault('rate', 60_000);
    await turns();
    expect(b.health.look(ROUTE).state).toBe('cooled');
  });

  it('outlive an answer that was on its way when another process was refused', async () => {
    const { clock, open } = setUp();
    const [a, b] = [open(), open()];
    await turns();
    a.health.begin(ROUTE).fault('rate', 1_000);
    await turns();
    clock.advance(1_000);

    const [probeOfA, probeOfB] = [a.health.begin(ROUTE), b.health.begin(ROUTE)];
    // What b has to say reaches the store when a has said it all.
    b.faulty.interfere = () => turns(10);
    probeOfB.success(10);
    probeOfA.fault('rate', 3_000);
    await turns(40);
    const until = clock.now() + 3_000;
    for (const { health } of [a, b]) expect(health.look(ROUTE).until).toBe(until);
  });

  it('are told anew after a recovery, however short they are', async () => {
    const { clock, open } = setUp();
    const [a, b] = [open(), open()];
    await turns();
    a.health.begin(ROUTE).fault('rate', 60_000);
    a.health.begin(ROUTE).success(10);
    a.health.begin(ROUTE).fault('rate', 3_000);
    await turns(20);
    expect(b.health.look(ROUTE).until).toBe(clock.now() + 3_000);
  });

  it('cost few writes, and none of the process when the store fails', async () => {
    const { open } = setUp();
    const [a, b] = [open(), open()];
    await turns();

    for (let calls = 0; calls < 100; calls++) a.health.begin(ROUTE).fault('rate', 60_000);
    await turns();
    expect(a.faulty.takeCommits()).toHaveLength(1);
    b.faulty.fail('before');
    b.health.begin(SIBLING).fault('rate', 60_000);
    await turns();
    expect(b.health.look(SIBLING).state).toBe('cooled');
    expect(a.health.look(SIBLING).state).toBe('available');
  });
});
