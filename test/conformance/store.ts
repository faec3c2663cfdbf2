import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { MAX_KEY_BYTES } from '../../src/store/key-codec.ts';
import type { Entry, Key, ListOptions, Op, Store } from '../../src/store/store.ts';
import { MAX_VALUE_BYTES } from '../../src/store/value-codec.ts';
import { verifies } from '../requirements.ts';
import { inTurn } from '../runs.ts';
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts';
import { storeOrder } from './store-order.ts';

/** One place where a store keeps its data. */
export interface StoreSite {
  store: Store;
  /** Closes the store and opens the same data again; absent where nothing outlives a store. */
  reopen?: () => Promise<Store>;
}

export const HOSTILE_KEYS: Key[] = [
  [''],
  ['', ''],
  ['\0'],
  ['\0', '\0\0'],
  ['a'],
  ['a', ''],
  ['a\0b'],
  ['a/b'],
  ['a', 'b'],
  ['a:b'],
  ['a$'],
  ['$'],
  ['..'],
  ['123'],
  [123],
  ['-1'],
  [-1],
  [-1.5],
  [0],
  [1e300],
  [Number.MIN_VALUE],
  ['\ud800'],
  ['\udc00'],
  ['ÿ'],
  ['日本'],
  ['\u{10ffff}'],
  ['__proto__'],
  ['constructor'],
  ['x'.repeat(MAX_KEY_BYTES - 2)],
];

const put = (key: Key, value: unknown): Op => ({ type: 'put', key, value });
const create = (key: Key, value: unknown): Op => ({ type: 'put', key, value, ifAbsent: true });
const keysOf = (entries: Entry[]): Key[] => entries.map((entry) => entry.key);

/** Waits for a condition that another turn or process makes true; never longer than the test. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 5));
}

async function versionOf(store: Store, key: Key): Promise<string> {
  const entry = await store.get(key);
  if (!entry) throw new Error('no such key');
  return entry.version;
}

const HOUR = 3_600_000;
const STEPS = [
  { name: '2 h ahead', ms: 2 * HOUR },
  { name: '2 h behind', ms: -2 * HOUR },
  { name: '400 d ahead', ms: 400 * 24 * HOUR },
  { name: '400 d behind', ms: -400 * 24 * HOUR },
];
/** Of leases, answers that are kept, results and what was charged. */
const LENGTHS = [15_000, 600_000, 24 * HOUR, 30 * 24 * HOUR];

/** Values of every kind, and such as a codec may take for another. */
const VALUES: readonly [string, unknown][] = [
  ['a numeric string', '123'],
  ['a JSON-like string', '{"a":1}'],
  ['a word that parsers like', 'undefined'],
  ['an empty string', ''],
  ['a string with NUL and a lone surrogate', '\0\ud800'],
  ['zero', 0],
  ['a fraction', -1.5e-9],
  ['null', null],
  ['false', false],
  ['nesting', { a: [1, [], { b: null }], ['__proto__x']: '日本' }],
  ['bytes', Uint8Array.from({ length: 256 }, (_, i) => i)],
  ['no bytes', new Uint8Array()],
  ['a long text', 'é'.repeat(100_000)],
  ['many bytes', new Uint8Array(70_000).fill(7)],
];

const isBytes = (value: unknown): boolean => value instanceof Uint8Array;

/** Bytes in a form that is compared at once, with their class. */
const brief = (value: unknown): unknown =>
  value instanceof Uint8Array
    ? [value.constructor.name, Buffer.from(value).toString('hex')]
    : value;

/** How long the sweeper waits between two rounds; nothing else of a store waits as long. */
const SWEEPER_WAITS: readonly number[] = [1_000, 20];

/** Moves the clock on, second by second at first; after each move a round of the sweeper ends. */
type Swept = (ms: number) => Promise<void>;

function sweptBy(clock: FakeClock): Swept {
  const timers = vi.spyOn(clock, 'setTimeout');
  // A round ends with the timer of the next one.
  const rounds = (): number =>
    timers.mock.calls.filter(([, ms]) => SWEEPER_WAITS.includes(ms)).length;
  const move = async (ms: number): Promise<void> => {
    const before = rounds();
    clock.advance(ms);
    while (rounds() === before) await new Promise(setImmediate);
  };
  return async (ms) => {
    let left = ms;
    for (let i = 0; i < 5 && left > 1_000; i++, left -= 1_000) await move(1_000);
    await move(left);
  };
}

/** The contract of `Store` as every backend must keep it. */
export function storeConformance(
  name: string,
  open: (clock: FakeClock) => Promise<StoreSite>,
): void {
  const setUp = async () => {
    const clock = createFakeClock();
    const swept = sweptBy(clock);
    const site = await open(clock);
    onTestFinished(() => site.store.close());
    return { clock, swept, site, store: site.store };
  };
  describe(`${name} store`, () => {
    describe('keys and values', () => keysAndValues(setUp));
    describe('lists', () => lists(setUp));
    describe('commits', () => commits(setUp));
    storeOrder(async () => (await setUp()).site);
    describe('races', () => races(setUp));
    describe('time and change', () => timeAndChange(name, setUp));
    describe('lifetime', () => lifetime(setUp));
  });
}

type SetUp = () => Promise<{
  clock: FakeClock;
  swept: Swept;
  site: StoreSite;
  store: Store;
}>;

function keysAndValues(setUp: SetUp): void {
  it(
    verifies('store.driver.conformance', 'keeps hostile keys apart and gives them back'),
    async () => {
      const { store } = await setUp();
      for (const [i, key] of HOSTILE_KEYS.entries()) {
        expect(await store.commit([create(key, { i })])).toMatchObject({ ok: true });
      }
      for (const [i, key] of HOSTILE_KEYS.entries()) {
        expect(await store.get(key)).toMatchObject({ key, value: { i } });
      }
      const listed = await store.list({ prefix: [], limit: 1_000 });
      expect(listed).toHaveLength(HOSTILE_KEYS.length);
      for (const key of HOSTILE_KEYS) await store.commit([{ type: 'delete', key }]);
      expect(await store.list({ prefix: [] })).toEqual([]);
    },
  );

  it('gives values back with their types', async () => {
    const { store } = await setUp();
    for (const [what, value] of VALUES) {
      await store.commit([put(['k', what], value), put(['l', what], [isBytes(value) ? 1 : value])]);
      const [listed] = await store.list({ prefix: ['k'] });
      for (const one of [await store.get(['k', what]), listed])
        expect(brief(one?.value), what).toStrictEqual(brief(value));
      await store.commit([{ type: 'delete', key: ['k', what] }]);
    }
  });

  it('hands out copies that nobody shares', async () => {
    const { store } = await setUp();
    const value = { list: [1] };
    await store.commit([put(['k'], value)]);
    value.list.push(2);
    const first = await store.get<{ list: number[] }>(['k']);
    first?.value.list.push(3);
    expect((await store.get(['k']))?.value).toEqual({ list: [1] });
  });

  it('refuses what it cannot hold, and keeps what it had', async () => {
    const { store } = await setUp();
    await store.commit([put(['k'], 1)]);
    const refused: [Op[], string][] = [
      [[put([], 1)], 'invalid_key'],
      [[put([NaN], 1)], 'invalid_key'],
      [[put(['x'.repeat(MAX_KEY_BYTES)], 1)], 'invalid_key'],
      [[put(['k'], undefined)], 'invalid_value'],
      [[put(['k'], { a: 1n })], 'invalid_value'],
      [[put(['k'], [NaN])], 'invalid_value'],
      [[put(['k'], new Uint8Array(MAX_VALUE_BYTES))], 'too_large'],
      [[put(['k'], 2), { type: 'delete', key: ['k'] }], 'invalid_commit'],
      [[{ type: 'check', key: ['k'] }], 'invalid_commit'],
      [[{ type: 'put', key: ['k'], value: 2, ttlMs: 0 }], 'invalid_commit'],
      [Array.from({ length: 1_001 }, (_, i) => put(['n', i], i)), 'invalid_commit'],
    ];
    for (const [ops, code] of refused) {
      await expect(store.commit(ops)).rejects.toMatchObject({ name: 'StoreError', code });
    }
    await expect(store.get([])).rejects.toMatchObject({ code: 'invalid_key' });
    await expect(store.list({ prefix: [], limit: 10_001 })).rejects.toMatchObject({
      name: 'StoreError',
    });
    expect(await store.list({ prefix: [] })).toMatchObject([{ key: ['k'], value: 1 }]);
  });
}

function lists(setUp: SetUp): void {
  const fill = async (store: Store, count: number): Promise<void> => {
    const keys = Array.from({ length: count }, (_, i) => i);
    await store.commit(keys.map((i) => put(['p', i], i)));
    await store.commit([
      put(['p'], 'itself'),
      put(['o', 1], 0),
      put(['pp'], 0),
      put(['p\0', 1], 0),
    ]);
  };

  it('orders numbers by size, before strings', async () => {
    const { store } = await setUp();
    const ordered: Key[] = [
      [-10],
      [-9.5],
      [0],
      [2],
      [10],
      [''],
      ['10'],
      ['2'],
      ['a'],
      ['a', 1],
      ['b'],
    ];
    for (const key of ordered.toReversed()) await store.commit([put(key, 0)]);
    expect(keysOf(await store.list({ prefix: [] }))).toEqual(ordered);
    expect(keysOf(await store.list({ prefix: [], reverse: true }))).toEqual(ordered.toReversed());
  });

  it('bounds a prefix by whole segments and leaves out the prefix itself', async () => {
    const { store } = await setUp();
    await fill(store, 150);
    expect(await store.list({ prefix: ['p'] })).toHaveLength(100);
    expect(await store.list({ prefix: ['p'], limit: 10_000 })).toHaveLength(150);
    expect(await store.list({ prefix: ['p', 7] })).toEqual([]);
    expect(await store.list({ prefix: ['nothing'] })).toEqual([]);
  });

  it('starts strictly behind `after` in both directions', async () => {
    const { store } = await setUp();
    await fill(store, 10);
    const list = async (after: Key, reverse: boolean) =>
      keysOf(await store.list({ prefix: ['p'], after, limit: 2, reverse }));
    expect(await list(['p', 3], false)).toEqual([
      ['p', 4],
      ['p', 5],
    ]);
    expect(await list(['p', 3.5], false)).toEqual([
      ['p', 4],
      ['p', 5],
    ]);
    expect(await list(['p', 3], true)).toEqual([
      ['p', 2],
      ['p', 1],
    ]);
    expect(await list(['a'], false)).toEqual([
      ['p', 0],
      ['p', 1],
    ]);
    expect(await list(['z'], false)).toEqual([]);
    expect(await list(['z'], true)).toEqual([
      ['p', 9],
      ['p', 8],
    ]);
    expect(await list(['a'], true)).toEqual([]);
  });

  it('ends a list behind the row that reaches the bound of its bytes', async () => {
    const { store } = await setUp();
    const large = 'x'.repeat(1_000);
    await store.commit(Array.from({ length: 10 }, (_, i) => put(['p', i], i < 4 ? '' : large)));
    const list = async (options: Partial<ListOptions>) =>
      keysOf(await store.list({ prefix: ['p'], ...options })).map(([, n]) => n);
    expect(await list({ maxBytes: 1 })).toEqual([0]);
    expect(await list({ maxBytes: 1_500 })).toEqual([0, 1, 2, 3, 4, 5]);
    expect(await list({ maxBytes: 1_500, limit: 3 })).toEqual([0, 1, 2]);
    expect(await list({ maxBytes: 1_500, after: ['p', 5] })).toEqual([6, 7]);
    expect(await list({ maxBytes: 1_500, reverse: true })).toEqual([9, 8]);
    expect(await list({ maxBytes: 100_000 })).toHaveLength(10);
  });

  it(
    verifies('store.driver.conformance', 'pages without gap or repeat while others write'),
    async () => {
      const { store } = await setUp();
      await store.commit(Array.from({ length: 500 }, (_, i) => put(['p', i * 2], i)));
      const seen: Key[] = [];
      let after: Key | undefined;
      for (let page = 0; ; page++) {
        const entries = await store.list({ prefix: ['p'], limit: 37, ...(after && { after }) });
        seen.push(...keysOf(entries));
        after = entries.at(-1)?.key;
        if (!after) break;
        // One key behind the cursor, one ahead of it: neither may disturb the keys that stay.
        if (page < 10) await store.commit([put(['p', -1 - page], 0), put(['p', 1_001 + page], 0)]);
        if (page === 3) await store.commit([{ type: 'delete', key: after }]);
      }
      const even = seen.filter(([, n]) => typeof n === 'number' && n >= 0 && n < 1_000);
      expect(even).toEqual(Array.from({ length: 500 }, (_, i) => ['p', i * 2]));
      expect(new Set(seen.map(String)).size).toBe(seen.length);
    },
  );
}

function commits(setUp: SetUp): void {
  it(
    verifies('store.atomic.multi-object', 'a commit that fails one condition changes nothing'),
    async () => {
      const { store } = await setUp();
      await store.commit([put(['a'], 1), put(['b'], 1)]);
      const stale = await versionOf(store, ['b']);
      await store.commit([put(['b'], 2)]);
      const attempt = await store.commit([
        put(['a'], 9),
        { type: 'delete', key: ['a2'] },
        create(['c'], 9),
        { type: 'put', key: ['b'], value: 9, ifVersion: stale },
        create(['d'], 9),
      ]);
      expect(attempt).toEqual({ ok: false, conflict: ['b'] });
      expect(await store.list({ prefix: [] })).toMatchObject([{ value: 1 }, { value: 2 }]);
    },
  );

  it('names the first operation whose condition failed', async () => {
    const { store } = await setUp();
    await store.commit([put(['a'], 1), put(['b'], 1)]);
    const ops = [create(['x'], 1), create(['b'], 2), create(['a'], 2), create(['y'], 1)];
    expect(await store.commit(ops)).toEqual({ ok: false, conflict: ['b'] });
    expect(await store.commit([{ type: 'check', key: ['q'], ifVersion: '1' }, ...ops])).toEqual({
      ok: false,
      conflict: ['q'],
    });
    expect(keysOf(await store.list({ prefix: [] }))).toEqual([['a'], ['b']]);
  });

  it('stamps every put of a commit with the version that it returns', async () => {
    const { store } = await setUp();
    const result = await store.commit([put(['a'], 1), put(['b'], 2)]);
    const version = result.ok ? result.version : '';
    expect(await store.get(['a'])).toEqual({ key: ['a'], value: 1, version });
    expect(await versionOf(store, ['b'])).toBe(version);
    const guarded: Op[] = [
      { type: 'put', key: ['a'], value: 3, ifVersion: version },
      { type: 'check', key: ['b'], ifVersion: version },
      { type: 'check', key: ['c'], ifAbsent: true },
    ];
    expect(await store.commit(guarded)).toMatchObject({ ok: true });
    expect(await store.commit(guarded)).toEqual({ ok: false, conflict: ['a'] });
    expect(await store.commit([{ type: 'delete', key: ['b'], ifVersion: version }])).toMatchObject({
      ok: true,
    });
    expect(await store.get(['b'])).toBeUndefined();
  });

  it('treats a version that it never gave out as a conflict', async () => {
    const { store } = await setUp();
    await store.commit([put(['a'], 1)]);
    for (const ifVersion of ['', '0', '-1', 'abc', '1e999', '99999999999999999999']) {
      const result = await store.commit([{ type: 'put', key: ['a'], value: 2, ifVersion }]);
      expect(result).toEqual({ ok: false, conflict: ['a'] });
    }
  });

  it('accepts the deletion of nothing and the commit of nothing', async () => {
    const { store } = await setUp();
    expect(await store.commit([{ type: 'delete', key: ['a'] }])).toMatchObject({ ok: true });
    expect(await store.commit([])).toMatchObject({ ok: true });
  });

  it('holds a commit of the greatest size, conditions included', async () => {
    const { store } = await setUp();
    const ops = Array.from({ length: 1_000 }, (_, i) => create(['n', i], i));
    expect(await store.commit(ops)).toMatchObject({ ok: true });
    expect(await store.list({ prefix: ['n'], limit: 10_000 })).toHaveLength(1_000);
    expect(await store.commit(ops)).toEqual({ ok: false, conflict: ['n', 0] });
  });
}

function races(setUp: SetUp): void {
  it(
    verifies('store.no-lost-update', 'of 50 writers that saw one version exactly one wins'),
    async () => {
      const { store } = await setUp();
      await store.commit([put(['k'], 0)]);
      const ifVersion = await versionOf(store, ['k']);
      const results = await Promise.all(
        Array.from({ length: 50 }, (_, i) =>
          store.commit([{ type: 'put', key: ['k'], value: i, ifVersion }, put(['mark', i], i)]),
        ),
      );
      const winners = results.flatMap((result, i) => (result.ok ? [i] : []));
      expect(winners).toHaveLength(1);
      expect((await store.get(['k']))?.value).toBe(winners[0]);
      expect(keysOf(await store.list({ prefix: ['mark'] }))).toEqual([['mark', winners[0]]]);
    },
  );

  it('of 50 creators exactly one wins', async () => {
    const { store } = await setUp();
    const results = await Promise.all(
      Array.from({ length: 50 }, (_, i) => store.commit([create(['k'], i)])),
    );
    expect(results.filter((result) => result.ok)).toHaveLength(1);
    expect((await store.get(['k']))?.value).toBe(results.findIndex((result) => result.ok));
  });

  it('of two commits that check each other away exactly one wins', async () => {
    const { store } = await setUp();
    const results = await Promise.all([
      store.commit([put(['a'], 1), { type: 'check', key: ['b'], ifAbsent: true }]),
      store.commit([put(['b'], 1), { type: 'check', key: ['a'], ifAbsent: true }]),
    ]);
    expect(results.filter((result) => result.ok)).toHaveLength(1);
  });

  it('concurrent appenders leave one sequence without gaps', async () => {
    const { store } = await setUp();
    const appender = async (writer: number): Promise<void> => {
      for (let n = 0; n < 8; n++) while (!(await append(store, `${writer}.${n}`)));
    };
    const reader = readWhile(store, Promise.all(Array.from({ length: 8 }, (_, i) => appender(i))));
    expect(await reader).toBe(64);
    const events = await store.list<string>({ prefix: ['event'], limit: 1_000 });
    expect(keysOf(events)).toEqual(Array.from({ length: 64 }, (_, i) => ['event', i + 1]));
    expect(new Set(events.map((event) => event.value)).size).toBe(64);
  });

  it('counts every increment and answers each with its own sum', async () => {
    const { store } = await setUp();
    const sums = await Promise.all(Array.from({ length: 100 }, () => store.increment(['n'], 2)));
    expect(sums.toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: 100 }, (_, i) => 2 * i + 2),
    );
    expect(await store.increment(['n'], -200)).toBe(0);
    expect((await store.get(['n']))?.value).toBe(0);
    await store.commit([put(['text'], 'x')]);
    await expect(store.increment(['text'], 1)).rejects.toMatchObject({ code: 'invalid_value' });
    await expect(store.increment(['n'], NaN)).rejects.toMatchObject({ code: 'invalid_value' });
  });

  it('mixes increments, puts and guarded puts of one key without losing one', async () => {
    const { store } = await setUp();
    await store.commit([put(['n'], 1_000)]);
    const ifVersion = await versionOf(store, ['n']);
    const [guarded, ...sums] = await Promise.all([
      store.commit([{ type: 'put', key: ['n'], value: 5_000, ifVersion }]),
      ...Array.from({ length: 20 }, () => store.increment(['n'], 1)),
    ]);
    const base = guarded.ok ? 5_000 : 1_000;
    expect((await store.get(['n']))?.value).toBe(base + 20);
    expect(new Set(sums).size).toBe(20);
  });

  it(
    verifies('store.no-lost-update', 'a deleted and re-created key never has an old version'),
    async () => {
      const { store, site } = await setUp();
      const versions = new Set<string>();
      let current = store;
      for (let i = 0; i < 20; i++) {
        await current.commit([put(['k'], i)]);
        versions.add(await versionOf(current, ['k']));
        await current.commit([{ type: 'delete', key: ['k'] }]);
        if (i === 9 && site.reopen) current = await site.reopen();
      }
      expect(versions.size).toBe(20);
      await current.commit([put(['k'], 'new')]);
      for (const ifVersion of versions) {
        expect(
          await current.commit([put(['x'], 1), { type: 'check', key: ['k'], ifVersion }]),
        ).toEqual({
          ok: false,
          conflict: ['k'],
        });
      }
    },
  );
}

/** Appends as sessions do: the event at the next position together with the head. */
async function append(store: Store, value: string): Promise<boolean> {
  const head = await store.get<number>(['head']);
  const next = (head?.value ?? 0) + 1;
  const guard = head ? { ifVersion: head.version } : { ifAbsent: true as const };
  const result = await store.commit([
    create(['event', next], value),
    { type: 'put', key: ['head'], value: next, ...guard },
  ]);
  return result.ok;
}

/** Follows the events until the writers are done; fails on a position that skips its predecessor. */
async function readWhile(store: Store, writers: Promise<unknown>): Promise<number> {
  let done = false;
  const finished = writers.then(() => void (done = true));
  let last = 0;
  for (let final = false; ; final = done) {
    const entries = await store.list({ prefix: ['event'], after: ['event', last] });
    for (const [i, entry] of entries.entries()) expect(entry.key[1]).toBe(last + i + 1);
    last += entries.length;
    if (final && entries.length === 0) break;
    await new Promise((resolve) => setImmediate(resolve));
  }
  await finished;
  return last;
}

function timeAndChange(name: string, setUp: SetUp): void {
  describe.each(inTurn(`steps of the clock of the ${name} store`, STEPS))(
    'a clock that is $name',
    ({ ms }) => {
      it('and is set right leaves rows their own time', async () => {
        const { clock, swept, store } = await setUp();
        clock.step(ms);
        for (const ttlMs of LENGTHS)
          await store.commit([{ type: 'put', key: ['lasts', ttlMs], value: ttlMs, ttlMs }]);
        await store.increment(['counts'], 1, { ttlMs: 60_000 });
        const [{ version } = { version: '' }] = await store.list({ prefix: ['lasts'], limit: 1 });
        clock.advance(2_000);
        clock.step(-ms);
        await swept(3_000);
        const kept = await store.list({ prefix: ['lasts'], limit: 10 });
        expect(kept.map(({ value }) => value)).toEqual(LENGTHS);
        expect(kept[0]!.version).toBe(version);
        let passed = 3_000;
        for (const ttlMs of LENGTHS) {
          // A step ahead is followed two minutes later.
          clock.step(ttlMs - passed);
          await swept(125_000);
          passed = ttlMs + 125_000;
          expect(await store.get(['lasts', ttlMs])).toBeUndefined();
        }
        expect(await store.get(['counts'])).toBeUndefined();
      });

      it('takes nothing from those who renew what they hold', async () => {
        const { clock, swept, store } = await setUp();
        const renew = () =>
          store.commit([{ type: 'put', key: ['lease'], value: 1, ttlMs: 15_000 }]);
        await renew();
        await swept(4_000);
        clock.step(ms);
        expect(await store.get(['lease'])).toBeDefined();
        await swept(4_000);
        expect(await store.get(['lease'])).toBeDefined();
        for (let i = 0; i < 28; i++) {
          await renew();
          clock.advance(4_900);
          expect(await store.get(['lease'])).toBeDefined();
        }
        await swept(10_200);
        expect(await store.get(['lease'])).toBeUndefined();
      });
    },
  );

  it('hides what has expired from every operation', async () => {
    const { store, clock } = await setUp();
    await store.commit([{ type: 'put', key: ['t', 1], value: 1, ttlMs: 1_000 }, put(['t', 2], 2)]);
    const ifVersion = await versionOf(store, ['t', 1]);
    clock.advance(999);
    expect(await store.commit([create(['t', 1], 9)])).toEqual({ ok: false, conflict: ['t', 1] });
    clock.advance(1);
    expect(await store.get(['t', 1])).toBeUndefined();
    expect(keysOf(await store.list({ prefix: ['t'] }))).toEqual([['t', 2]]);
    expect(await store.commit([{ type: 'put', key: ['t', 1], value: 9, ifVersion }])).toEqual({
      ok: false,
      conflict: ['t', 1],
    });
    expect(await store.commit([{ type: 'check', key: ['t', 1], ifAbsent: true }])).toMatchObject({
      ok: true,
    });
    expect(await store.commit([create(['t', 1], 3)])).toMatchObject({ ok: true });
    clock.advance(10_000);
    await until(async () => (await store.get(['t', 1]))?.value === 3);
  });

  it('gives a counter its time when it appears and starts again after it', async () => {
    const { store, clock } = await setUp();
    expect(await store.increment(['n'], 1, { ttlMs: 1_000 })).toBe(1);
    clock.advance(600);
    expect(await store.increment(['n'], 1, { ttlMs: 1_000 })).toBe(2);
    clock.advance(400);
    expect(await store.get(['n'])).toBeUndefined();
    expect(await store.increment(['n'], 5, { ttlMs: 1_000 })).toBe(5);
  });

  it('keeps a key alive that was put again without a time', async () => {
    const { store, clock } = await setUp();
    await store.commit([{ type: 'put', key: ['k'], value: 1, ttlMs: 1_000 }]);
    await store.commit([put(['k'], 2)]);
    for (let i = 0; i < 5; i++) {
      clock.advance(1_000);
      await store.ping();
    }
    expect((await store.get(['k']))?.value).toBe(2);
  });

  it('wakes the watchers of a prefix, and nobody else', async () => {
    const { store } = await setUp();
    const calls: string[] = [];
    store.watch(['a'], () => calls.push('a'));
    store.watch(['a', 1], () => calls.push('a1'));
    store.watch(['b'], () => calls.push('b'));
    const stop = store.watch([], () => calls.push('all'));
    await Promise.all([store.commit([put(['a', 1, 'x'], 1)]), store.commit([put(['a\0', 2], 1)])]);
    await until(() => calls.length >= 3);
    expect(calls.toSorted()).toEqual(['a', 'a1', 'all']);
    stop();
    calls.length = 0;
    await store.commit([{ type: 'delete', key: ['a', 1, 'x'] }]);
    await store.increment(['b', 'n'], 1);
    await until(() => calls.length >= 3);
    expect(calls.toSorted()).toEqual(['a', 'a1', 'b']);
  });

  it('does not wake a watcher for a commit that changed nothing', async () => {
    const { store } = await setUp();
    await store.commit([put(['a', 1], 1)]);
    let calls = 0;
    store.watch(['a'], () => calls++);
    await store.commit([create(['a', 1], 2)]);
    await store.commit([put(['z'], 1)]);
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    expect(calls).toBe(0);
  });

  it('shows a watcher the change that woke it', async () => {
    const { store } = await setUp();
    const seen = new Promise<unknown>((resolve) => {
      store.watch(['a'], () => void store.get(['a', 1]).then((entry) => resolve(entry?.value)));
    });
    await store.commit([put(['a', 1], 'now')]);
    expect(await seen).toBe('now');
  });
}

function lifetime(setUp: SetUp): void {
  it('keeps everything acknowledged when it is opened again', async (context) => {
    const { store, site } = await setUp();
    if (!site.reopen) {
      context.skip();
      return;
    }
    await Promise.all(HOSTILE_KEYS.map((key, i) => store.commit([put(key, { i })])));
    await store.commit([{ type: 'delete', key: HOSTILE_KEYS[0] ?? [] }]);
    await store.increment(['n'], 3);
    await store.commit([{ type: 'put', key: ['ttl'], value: 1, ttlMs: 60_000 }]);
    const before = await store.list({ prefix: [], limit: 1_000 });
    const again = await site.reopen();
    expect(await again.list({ prefix: [], limit: 1_000 })).toEqual(before);
    expect(await again.increment(['n'], 1)).toBe(4);
    const third = await site.reopen();
    expect((await third.get(['n']))?.value).toBe(4);
  });

  it('finishes what was asked for before it closes, and refuses everything after', async () => {
    const { store } = await setUp();
    const commit = store.commit([put(['a'], 1)]);
    const closed = store.close();
    expect(await commit).toMatchObject({ ok: true });
    await closed;
    await store.close();
    const closedError = { name: 'StoreError', code: 'closed' };
    await expect(store.get(['a'])).rejects.toMatchObject(closedError);
    await expect(store.list({ prefix: [] })).rejects.toMatchObject(closedError);
    await expect(store.commit([put(['a'], 1)])).rejects.toMatchObject(closedError);
    await expect(store.increment(['a'], 1)).rejects.toMatchObject(closedError);
    await expect(store.ping()).rejects.toMatchObject(closedError);
  });

  it('answers a ping while it can write', async () => {
    const { store } = await setUp();
    await expect(store.ping()).resolves.toBeUndefined();
    expect(await store.list({ prefix: [] })).toEqual([]);
  });
}
