import { describe, expect, it } from 'vitest';
import { reportStore, tellFailure } from '../../../src/server/compose/report-store.ts';
import type { Log } from '../../../src/core/log.ts';
import { openMemoryStore } from '../../../src/store/backends/memory/open-memory-store.ts';
import { StoreError } from '../../../src/store/store.ts';
import type { Store } from '../../../src/store/store.ts';
import { createFakeClock } from '../../support/fake-clock.ts';

const PUT = { type: 'put', key: ['a'], value: 1 } as const;
const AWAY = new StoreError('unavailable', 'away');

function createLines() {
  const lines: unknown[][] = [];
  const to =
    (level: string) =>
    (...line: unknown[]): void =>
      void lines.push([level, ...line]);
  return { lines, log: { info: to('info'), error: to('error') } as unknown as Log };
}

function setUp() {
  const { lines, log } = createLines();
  const state: { fails?: Error } = {};
  const memory = openMemoryStore(createFakeClock());
  const guard = <T>(work: () => Promise<T>): Promise<T> =>
    state.fails ? Promise.reject(state.fails) : work();
  const store = reportStore(
    {
      ...memory,
      get: (key) => guard(() => memory.get(key)),
      list: (options) => guard(() => memory.list(options)),
      commit: (ops) => guard(() => memory.commit(ops)),
      increment: (key, by, options) => guard(() => memory.increment(key, by, options)),
      ping: () => guard(() => memory.ping()),
    },
    log,
  );
  return { lines, state, store };
}

const READS: [string, (store: Store) => Promise<unknown>][] = [
  ['get', (store) => store.get(['a'])],
  ['list', (store) => store.list({ prefix: ['a'] })],
];
const WRITES: [string, (store: Store) => Promise<unknown>][] = [
  ['commit', (store) => store.commit([PUT])],
  ['increment', (store) => store.increment(['b'], 1)],
  ['ping', (store) => store.ping()],
];

describe('a store whose failures are logged', () => {
  it.each([
    ...READS.map(([name, ask]) => [name, ask, 'read'] as const),
    ...WRITES.map(([name, ask]) => [name, ask, 'written'] as const),
  ])('tells once that %s fails, and once that it works again', async (_name, ask, what) => {
    const { lines, state, store } = setUp();
    await ask(store);
    state.fails = AWAY;
    await expect(ask(store)).rejects.toBe(AWAY);
    await expect(ask(store)).rejects.toBe(AWAY);
    const failed = ['error', `the store cannot be ${what}`, { reason: 'away' }];
    expect(lines).toEqual([failed]);
    delete state.fails;
    await ask(store);
    await ask(store);
    const well = ['info', `the store can be ${what} again`];
    expect(lines).toEqual([failed, well]);
    state.fails = AWAY;
    await expect(ask(store)).rejects.toBe(AWAY);
    expect(lines).toEqual([failed, well, failed]);
  });

  it('is not well for writing when it can be read', async () => {
    const { lines, state, store } = setUp();
    state.fails = new StoreError('full', 'no space');
    await expect(store.commit([PUT])).rejects.toThrow('no space');
    delete state.fails;
    await store.get(['a']);
    expect(lines.map(([level]) => level)).toEqual(['error']);
  });

  it('is not at fault for what was asked of it', async () => {
    const { lines, state, store } = setUp();
    state.fails = new StoreError('invalid_key', 'no key');
    await expect(store.get(['a'])).rejects.toThrow('no key');
    delete state.fails;
    await store.get(['a']);
    expect(lines).toEqual([]);
  });

  it('gives what it was asked for', async () => {
    const { store } = setUp();
    expect(await store.commit([PUT])).toMatchObject({ ok: true });
    expect(await store.increment(['b'], 2)).toBe(2);
    expect((await store.get(['a']))?.value).toBe(1);
    expect((await store.list({ prefix: [] })).length).toBe(2);
  });
});

describe('tellFailure', () => {
  it('logs a failure with its fields', () => {
    const { lines, log } = createLines();
    tellFailure(log, 'it broke', { error: new Error('why'), run: 'run_1' });
    expect(lines).toEqual([['error', 'it broke', { run: 'run_1', reason: 'why' }]]);
  });

  it.each([AWAY, new Error('x', { cause: AWAY })])(
    'says nothing more of a store that is away: %s',
    (error) => {
      const { lines, log } = createLines();
      tellFailure(log, 'it broke', { error });
      expect(lines).toEqual([]);
    },
  );

  it.each(['text', new Error('x', { cause: new Error('y') })])('logs %s', (error) => {
    const { lines, log } = createLines();
    tellFailure(log, 'it broke', { error });
    expect(lines.length).toBe(1);
  });
});
