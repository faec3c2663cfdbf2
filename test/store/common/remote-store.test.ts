import { describe, expect, it, onTestFinished } from 'vitest';
import { toDeadline } from '../../../src/core/time/deadline.ts';
import { encodeKey } from '../../../src/store/key-codec.ts';
import type { ListPlan } from '../../../src/store/list-options.ts';
import type { PreparedOp } from '../../../src/store/prepare-commit.ts';
import { createRemoteStore, type RemoteRows } from '../../../src/store/remote-store.ts';
import { toEnvelope } from '../../../src/store/value-codec.ts';
import { createWatchers } from '../../../src/store/watchers.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { createGate } from '../support/gate.ts';

const turn = () => new Promise((resolve) => setImmediate(resolve));

/** A store over rows that answer what the test says. */
function setUp(answers: Partial<RemoteRows> = {}) {
  const clock = createFakeClock();
  const watchers = createWatchers();
  const calls: string[] = [];
  const rows: RemoteRows = {
    get: async () => undefined,
    list: async () => [],
    commit: async () => ({ version: '9' }),
    increment: async ({ by }) => by,
    expiries: { list: async () => [], change: async () => undefined },
    sweep: async (now, limit) => calls.push(`sweep ${now - clock.now()} ${limit}`) && 0,
    ping: async (now) => void calls.push(`ping ${now - clock.now()}`),
    close: async () => void calls.push('close'),
    ...answers,
  };
  const store = createRemoteStore({ driver: 'remote', rows, clock, watchers, warnings: ['w'] });
  onTestFinished(() => store.close());
  return { store, clock, watchers, calls };
}

describe('a store over the rows of a database', () => {
  it('says what it is', () => {
    const { store } = setUp();
    expect(store).toMatchObject({ scope: 'cluster', driver: 'remote', warnings: ['w'] });
  });

  it('gives rows as entries', async () => {
    const row = { envelope: toEnvelope({ n: 1 }), version: '4' };
    const plans: ListPlan[] = [];
    const { store } = setUp({
      get: async (bytes) => (bytes.equals(encodeKey(['a', 1])) ? row : undefined),
      async list(plan) {
        plans.push(plan);
        return [{ ...row, key: encodeKey(['a', 1]) }];
      },
    });
    const entry = { key: ['a', 1], value: { n: 1 }, version: '4' };
    expect(await store.get(['a', 1])).toEqual(entry);
    expect(await store.get(['a', 2])).toBeUndefined();
    expect(await store.list({ prefix: ['a'], limit: 3 })).toEqual([entry]);
    expect(plans).toMatchObject([{ limit: 3, reverse: false }]);
  });

  it('tells the watchers of this process of every key that a commit wrote', async () => {
    const prepared: (readonly PreparedOp[])[] = [];
    const { store } = setUp({
      async commit(ops) {
        prepared.push(ops);
        return { version: '5' };
      },
    });
    const woken: string[] = [];
    for (const name of ['put', 'gone', 'seen']) store.watch([name], () => woken.push(name));
    const result = await store.commit([
      { type: 'put', key: ['put'], value: 1 },
      { type: 'delete', key: ['gone'] },
      { type: 'check', key: ['seen'], ifAbsent: true },
    ]);
    expect(result).toEqual({ ok: true, version: '5' });
    await turn();
    expect(woken).toEqual(['put', 'gone']);
    expect(prepared[0]?.map(({ type }) => type)).toEqual(['put', 'delete', 'check']);
  });

  it('names the key whose condition did not hold, and wakes nobody', async () => {
    const { store } = setUp({ commit: async () => ({ failed: 1 }) });
    let woken = 0;
    store.watch([], () => woken++);
    const result = await store.commit([
      { type: 'put', key: ['a'], value: 1 },
      { type: 'put', key: ['b'], value: 1, ifAbsent: true },
    ]);
    expect(result).toEqual({ ok: false, conflict: ['b'] });
    await turn();
    expect(woken).toBe(0);
  });

  it('increments with a deadline, and wakes who watches the counter', async () => {
    const asked: unknown[] = [];
    const { store, clock } = setUp({
      async increment(increment) {
        asked.push(increment);
        return 12;
      },
    });
    let woken = 0;
    store.watch(['n'], () => woken++);
    expect(await store.increment(['n'], 2, { ttlMs: 5_000 })).toBe(12);
    expect(await store.increment(['n'], -1)).toBe(12);
    const bytes = encodeKey(['n']);
    expect(asked).toEqual([
      { bytes, by: 2, expiresAt: toDeadline(clock.now(), 5_000) },
      { bytes, by: -1, expiresAt: Infinity },
    ]);
    await turn();
    expect(woken).toBe(1);
  });

  it.each([NaN, Infinity])('asks the database for no step of %d', async (by) => {
    const { store } = setUp({
      increment: async () => {
        throw new Error('asked');
      },
    });
    await expect(store.increment(['n'], by)).rejects.toMatchObject({
      code: 'invalid_value',
      message: 'a counter must stay finite',
    });
  });

  it('refuses to increment what is no number', async () => {
    const { store } = setUp({ increment: async () => undefined });
    let woken = 0;
    store.watch(['n'], () => woken++);
    await expect(store.increment(['n'], 1)).rejects.toMatchObject({ code: 'invalid_value' });
    await turn();
    expect(woken).toBe(0);
  });

  it('sweeps by the time of its clock, and corrects expiries before it', async () => {
    const corrected: number[] = [];
    const { calls, clock } = setUp({
      expiries: {
        async list({ from }) {
          corrected.push(from - clock.now());
          return [];
        },
        change: async () => undefined,
      },
    });
    clock.advance(1_000);
    await turn();
    await turn();
    expect(corrected).toEqual([0]);
    expect(calls).toEqual(['sweep 0 256']);
  });

  it('closes once, behind the writes that are under way, and refuses all that comes later', async () => {
    const gate = createGate<{ version: string }>();
    const { store, calls, clock } = setUp({ commit: () => gate.promise });
    await store.ping();
    const write = store.commit([{ type: 'put', key: ['a'], value: 1 }]);
    const closed = [store.close(), store.close()];
    await turn();
    expect(calls).toEqual(['ping 0']);
    const late = [
      () => store.get(['a']),
      () => store.list({ prefix: [] }),
      () => store.commit([]),
      () => store.increment(['a'], 1),
      () => store.ping(),
    ];
    for (const ask of late) await expect(ask()).rejects.toMatchObject({ code: 'closed' });
    expect(() => store.watch([], () => undefined)).toThrow('the store is closed');
    gate.resolve({ version: '1' });
    expect(await write).toEqual({ ok: true, version: '1' });
    await Promise.all(closed);
    expect(calls).toEqual(['ping 0', 'close']);
    expect(clock.pending).toBe(0);
  });
});
