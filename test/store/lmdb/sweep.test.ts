import { describe, expect, it } from 'vitest';
import { toDeadline } from '../../../src/core/time/deadline.ts';
import { createSteadyClock } from '../../../src/core/time/steady-clock.ts';
import { putRow } from '../../../src/store/backends/lmdb/commit-unit.ts';
import { createCorrectUnit, findAhead } from '../../../src/store/backends/lmdb/correct.ts';
import { fromExpiryKey } from '../../../src/store/backends/lmdb/rows.ts';
import { createSweepUnit, findExpired } from '../../../src/store/backends/lmdb/sweep.ts';
import { encodeKey } from '../../../src/store/key-codec.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { createRowMap } from '../support/row-map.ts';

const MINUTE = 60_000;
const ENVELOPE = Buffer.from('j1');

function setUp() {
  const clock = createFakeClock();
  const { environment, marks } = createRowMap();
  const put = (n: number, expiresAt: number, version = 1): void =>
    putRow(environment, { bytes: encodeKey([n]), envelope: ENVELOPE, expiresAt }, version);
  const rowOf = (n: number) => environment.peek(encodeKey([n]));
  return { clock, marks, put, rowOf, context: { environment, steady: createSteadyClock(clock) } };
}

function settling() {
  const log: string[] = [];
  return { log, settle: { resolve: () => log.push('done'), reject: () => log.push('failed') } };
}

describe('sweeping the embedded store', () => {
  it('finds what has expired, the oldest first, as many as it may', () => {
    const { clock, put, context } = setUp();
    const now = clock.now();
    for (const [n, after] of [2, 0, 1, -5].entries()) put(n, now + after, n);
    const found = (limit: number) => findExpired(context, limit).map(({ version }) => version);
    expect(found(10)).toEqual([3, 1]);
    expect(found(1)).toEqual([3]);
    clock.advance(1);
    expect(found(10)).toEqual([3, 1, 2]);
  });

  it('removes the row and its mark, and tells nobody', () => {
    const { clock, put, rowOf, marks, context } = setUp();
    put(1, clock.now());
    put(2, clock.now() + 1);
    const { log, settle } = settling();
    const unit = createSweepUnit(context, findExpired(context, 10), settle);
    expect([unit.size, unit.issue(9)]).toEqual([0, []]);
    expect([rowOf(1), rowOf(2)?.version, marks().length]).toEqual([undefined, 1, 1]);
    expect(unit.done([], 9)).toEqual([]);
    expect(log).toEqual(['done']);
  });

  it('removes the mark alone where the row was written again', () => {
    const { clock, put, rowOf, marks, context } = setUp();
    put(1, clock.now());
    put(1, clock.now() + MINUTE, 2);
    const due = findExpired(context, 10);
    expect(due.map(({ version }) => version)).toEqual([undefined]);
    void createSweepUnit(context, due, settling().settle).issue(9);
    expect(rowOf(1)?.version).toBe(2);
    expect(marks().map((mark) => fromExpiryKey(mark).expiresAt)).toEqual([clock.now() + MINUTE]);
  });

  it('leaves a row that is written between the look and the removal', () => {
    const { clock, put, rowOf, context } = setUp();
    put(1, clock.now());
    const due = findExpired(context, 10);
    put(1, Infinity, 2);
    void createSweepUnit(context, due, settling().settle).issue(9);
    expect(rowOf(1)?.version).toBe(2);
  });
});

describe('correcting the expiries of the embedded store', () => {
  async function ahead({ context, clock }: ReturnType<typeof setUp>) {
    const steps = [];
    for await (const step of findAhead(context, clock)) steps.push(step);
    return steps;
  }

  it('finds the rows of a clock that was ahead, with their length from now on', async () => {
    const world = setUp();
    const now = world.clock.now();
    world.put(1, toDeadline(now + 60 * MINUTE, MINUTE), 4);
    world.put(2, toDeadline(now, 60 * MINUTE));
    world.put(3, toDeadline(now - 2 * MINUTE, MINUTE));
    expect(await ahead(world)).toMatchObject([
      [{ key: encodeKey([1]), version: 4, expiresAt: toDeadline(now, MINUTE) }],
    ]);
  });

  it('looks at 2,000 rows in one step', async () => {
    const world = setUp();
    const far = world.clock.now() + 60 * MINUTE;
    for (let n = 0; n < 2_001; n++) world.put(n, toDeadline(far + n, MINUTE));
    expect((await ahead(world)).map(({ length }) => length)).toEqual([2_000, 1]);
  });

  it('writes the row with its own version, and moves its mark', async () => {
    const world = setUp();
    const now = world.clock.now();
    world.put(1, toDeadline(now + 60 * MINUTE, MINUTE), 4);
    const [step = []] = await ahead(world);
    const { log, settle } = settling();
    const unit = createCorrectUnit(world.context, step, settle);
    expect([unit.size, unit.issue(9), unit.done([], 9), log]).toEqual([0, [], [], ['done']]);
    const expiresAt = toDeadline(now, MINUTE);
    expect(world.rowOf(1)).toEqual({ envelope: ENVELOPE, version: 4, expiresAt });
    expect(world.marks().map((mark) => fromExpiryKey(mark).expiresAt)).toEqual([expiresAt]);
  });

  it('leaves a row that was written since, and removes its old mark', async () => {
    const world = setUp();
    const now = world.clock.now();
    const [far, farther] = [60, 90].map((minutes) => toDeadline(now + minutes * MINUTE, MINUTE));
    world.put(1, far ?? 0, 4);
    world.put(1, Infinity, 5);
    world.put(2, farther ?? 0, 6);
    const [step = []] = await ahead(world);
    expect(step.map(({ version }) => version)).toEqual([undefined, 6]);
    world.put(2, Infinity, 7);
    void createCorrectUnit(world.context, step, settling().settle).issue(9);
    expect([world.rowOf(1), world.rowOf(2)]).toMatchObject([
      { version: 5, expiresAt: Infinity },
      { version: 7, expiresAt: Infinity },
    ]);
    expect(world.marks()).toEqual([]);
  });
});
