import { describe, expect, it } from 'vitest';
import { createSteadyClock } from '../../../src/core/time/steady-clock.ts';
import { createCommitUnit } from '../../../src/store/backends/lmdb/commit-unit.ts';
import { createIncrementUnit } from '../../../src/store/backends/lmdb/increment-unit.ts';
import type { WriteUnit } from '../../../src/store/backends/lmdb/group-writer.ts';
import { fromExpiryKey } from '../../../src/store/backends/lmdb/rows.ts';
import { encodeKey } from '../../../src/store/key-codec.ts';
import { prepareCommit, toId, type PreparedOp } from '../../../src/store/prepare-commit.ts';
import type { CommitResult, Key, Op, StoreError } from '../../../src/store/store.ts';
import { fromEnvelope } from '../../../src/store/value-codec.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { createRowMap } from '../support/row-map.ts';

const idOf = (key: Key): string => toId(encodeKey(key));

function setUp() {
  const clock = createFakeClock();
  const { environment, marks } = createRowMap();
  const context = { environment, steady: createSteadyClock(clock) };
  let version = 0;
  /** One go of a unit in a group of its own. */
  const go = async (unit: WriteUnit): Promise<readonly string[] | 'again'> => {
    const own = ++version;
    return unit.done(await Promise.all(unit.issue(own)), own);
  };
  const unitOf = (ops: readonly Op[]) => {
    const results: CommitResult[] = [];
    const prepared = prepareCommit(ops, clock.now()) as PreparedOp[];
    const resolve = (result: CommitResult): void => void results.push(result);
    const unit = createCommitUnit(context, prepared, { resolve, reject: () => undefined });
    return { unit, results };
  };
  const commit = async (...ops: Op[]) => {
    const { unit, results } = unitOf(ops);
    let done = await go(unit);
    const isAgain = done === 'again';
    if (done === 'again') done = await go(unit);
    return { result: results[0], changed: done, isAgain };
  };
  const read = (key: Key): unknown => {
    const row = environment.peek(encodeKey(key));
    return row && [fromEnvelope(row.envelope), row.version, row.expiresAt];
  };
  return { clock, context, marks, go, unitOf, commit, read };
}

describe('a commit in a group', () => {
  it('writes all of it with one version, and names the keys that changed', async () => {
    const { commit, read } = setUp();
    await commit({ type: 'put', key: ['b'], value: 1 });
    const { result, changed } = await commit(
      { type: 'put', key: ['a'], value: 'x' },
      { type: 'delete', key: ['b'] },
      { type: 'check', key: ['c'], ifAbsent: true },
    );
    expect(result).toEqual({ ok: true, version: '2' });
    expect(changed).toEqual([idOf(['a']), idOf(['b'])]);
    expect([read(['a']), read(['b'])]).toEqual([['x', 2, Infinity], undefined]);
  });

  it('counts the bytes of its values', () => {
    const { unitOf } = setUp();
    const { unit } = unitOf([
      { type: 'put', key: ['a'], value: 'xx' },
      { type: 'put', key: ['b'], value: Uint8Array.of(1, 2, 3) },
      { type: 'delete', key: ['c'] },
    ]);
    expect(unit.size).toBe('j"xx"'.length + 4);
  });

  it('enters what expires into the table of expiries', async () => {
    const { commit, marks, read } = setUp();
    await commit(
      { type: 'put', key: ['a'], value: 1, ttlMs: 1_000 },
      { type: 'put', key: ['b'], value: 2 },
    );
    const [, , expiresAt] = read(['a']) as unknown[];
    expect(marks().map(fromExpiryKey)).toEqual([{ expiresAt, key: encodeKey(['a']) }]);
  });

  it('writes nothing where a condition does not hold, and names the first such key', async () => {
    const { commit, read } = setUp();
    await commit({ type: 'put', key: ['a'], value: 1 });
    const write: Op = { type: 'put', key: ['new'], value: 2 };
    const wrong: Op[] = [
      { type: 'put', key: ['a'], value: 2, ifAbsent: true },
      { type: 'put', key: ['a'], value: 2, ifVersion: '7' },
      { type: 'delete', key: ['a'], ifVersion: '7' },
      { type: 'check', key: ['a'], ifAbsent: true },
    ];
    for (const op of wrong) {
      const { result, changed } = await commit(write, op, {
        type: 'check',
        key: ['z'],
        ifVersion: '1',
      });
      expect([result, changed]).toEqual([{ ok: false, conflict: ['a'] }, []]);
    }
    expect([read(['new']), read(['a'])]).toEqual([undefined, [1, 1, Infinity]]);
  });

  it('goes through where all conditions hold', async () => {
    const { commit, read } = setUp();
    await commit({ type: 'put', key: ['a'], value: 1 });
    const { result } = await commit(
      { type: 'put', key: ['a'], value: 2, ifVersion: '1' },
      { type: 'put', key: ['b'], value: 2, ifAbsent: true },
    );
    expect(result).toEqual({ ok: true, version: '2' });
    expect(read(['a'])).toEqual([2, 2, Infinity]);
  });

  it.each(['01', '1.0', '1e0', '+1', ' 1', '', 'x', '-1', String(2 ** 53)])(
    'takes %j for no version',
    async (ifVersion) => {
      const { commit, read } = setUp();
      await commit({ type: 'put', key: ['a'], value: 1 });
      const { result } = await commit({ type: 'put', key: ['a'], value: 2, ifVersion });
      expect(result).toEqual({ ok: false, conflict: ['a'] });
      expect(read(['a'])).toEqual([1, 1, Infinity]);
    },
  );

  it('takes an expired row for absent, in a second go', async () => {
    const { commit, clock, read } = setUp();
    await commit({ type: 'put', key: ['a'], value: 1, ttlMs: 1_000 });
    const make: Op = { type: 'put', key: ['a'], value: 2, ifAbsent: true };
    clock.advance(999);
    expect(await commit(make)).toMatchObject({ result: { ok: false }, isAgain: false });
    clock.advance(1);
    const { result, isAgain } = await commit(make);
    expect([result, isAgain]).toEqual([{ ok: true, version: '4' }, true]);
    expect(read(['a'])).toEqual([2, 4, Infinity]);
  });

  it('finds no version in an expired row', async () => {
    const { commit, clock } = setUp();
    await commit({ type: 'put', key: ['a'], value: 1, ttlMs: 1_000 });
    const check: Op = { type: 'check', key: ['a'], ifVersion: '1' };
    clock.advance(999);
    expect((await commit(check)).result).toMatchObject({ ok: true });
    clock.advance(1);
    const { result, isAgain } = await commit(check);
    expect([result, isAgain]).toEqual([{ ok: false, conflict: ['a'] }, false]);
  });

  it('tries once more where the expired row was removed meanwhile, and gives way to a new one', async () => {
    const { commit, clock, go, unitOf, read } = setUp();
    await commit({ type: 'put', key: ['a'], value: 1, ttlMs: 1_000 });
    clock.advance(1_000);
    const make: Op = { type: 'put', key: ['a'], value: 2, ifAbsent: true };
    const [one, other] = [unitOf([make]), unitOf([make])];
    expect([await go(one.unit), await go(other.unit)]).toEqual(['again', 'again']);
    await commit({ type: 'delete', key: ['a'] });
    expect(await go(one.unit)).toBe('again');
    expect(await go(one.unit)).toEqual([idOf(['a'])]);
    expect(await go(other.unit)).toEqual([]);
    expect(one.results).toMatchObject([{ ok: true }]);
    expect(other.results).toEqual([{ ok: false, conflict: ['a'] }]);
    expect(read(['a'])).toEqual([2, 6, Infinity]);
  });
});

describe('increments in a group', () => {
  function unitOf({ context }: ReturnType<typeof setUp>) {
    const key = { bytes: encodeKey(['n']), id: idOf(['n']) };
    const state = { closed: 0 };
    const unit = createIncrementUnit(context, { ...key, onClosed: () => state.closed++ });
    const sums: number[] = [];
    const errors: StoreError[] = [];
    const add = (by: number, expiresAt = Infinity): void =>
      unit.add({
        by,
        expiresAt,
        resolve: (sum) => sums.push(sum),
        reject: (error) => errors.push(error as StoreError),
      });
    return { unit, add, sums, errors, state };
  }

  it('of one counter are one write, and each learns its own sum', async () => {
    const world = setUp();
    const { unit, add, sums, state } = unitOf(world);
    for (const by of [5, -2, 10]) add(by, 777);
    expect(state.closed).toBe(0);
    expect(await world.go(unit)).toEqual([idOf(['n'])]);
    expect([sums, state.closed]).toEqual([[5, 3, 13], 1]);
    expect(world.read(['n'])).toEqual([13, 1, 777]);
  });

  it('go on from what is there, whose end they leave', async () => {
    const world = setUp();
    await world.commit({ type: 'put', key: ['n'], value: 40, ttlMs: 1_000 });
    const [, , expiresAt] = world.read(['n']) as unknown[];
    world.clock.advance(999);
    const { unit, add, sums } = unitOf(world);
    add(2, 777);
    await world.go(unit);
    expect([sums, world.read(['n'])]).toEqual([[42], [42, 2, expiresAt]]);
  });

  it('begin anew where the counter has expired', async () => {
    const world = setUp();
    await world.commit({ type: 'put', key: ['n'], value: 40, ttlMs: 1_000 });
    world.clock.advance(1_000);
    const { unit, add, sums } = unitOf(world);
    add(2);
    await world.go(unit);
    expect([sums, world.read(['n'])]).toEqual([[2], [2, 2, Infinity]]);
  });

  it('that cannot be added fail alone', async () => {
    const world = setUp();
    const { unit, add, sums, errors } = unitOf(world);
    for (const by of [1, Number.MAX_VALUE, Number.MAX_VALUE, 2]) add(by);
    await world.go(unit);
    expect(sums).toEqual([1, Number.MAX_VALUE, Number.MAX_VALUE]);
    expect(errors).toMatchObject([{ code: 'invalid_value' }]);
  });

  it('of what is no number write nothing', async () => {
    const world = setUp();
    await world.commit({ type: 'put', key: ['n'], value: 'x' });
    const { unit, add, sums, errors } = unitOf(world);
    add(1);
    add(2);
    expect(unit.issue(9)).toEqual([]);
    expect(unit.done([], 9)).toEqual([]);
    expect([sums, errors.length, world.read(['n'])]).toEqual([[], 2, ['x', 1, Infinity]]);
  });

  it('take part in the next group where another process was faster, a thousand times at most', () => {
    const { unit, add, sums, errors } = unitOf(setUp());
    add(1);
    for (let tries = 1; tries < 1_000; tries++) {
      void unit.issue(tries);
      expect(unit.done([false], tries)).toBe('again');
    }
    void unit.issue(1_000);
    expect(unit.done([false], 1_000)).toEqual([]);
    expect([sums, errors]).toMatchObject([
      [],
      [{ code: 'unavailable', message: 'too many processes write one counter' }],
    ]);
  });

  it('all fail with their group, which nobody joins any more', () => {
    const { unit, add, errors, state } = unitOf(setUp());
    add(1);
    add(2);
    const error = { code: 'full' } as StoreError;
    unit.fail(error);
    expect([errors, state.closed]).toEqual([[error, error], 1]);
  });
});
