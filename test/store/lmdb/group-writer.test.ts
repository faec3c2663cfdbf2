import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { LmdbEnvironment } from '../../../src/store/backends/lmdb/environment.ts';
import {
  createGroupWriter,
  type WriteUnit,
} from '../../../src/store/backends/lmdb/group-writer.ts';
import { StoreError } from '../../../src/store/store.ts';
import { createGate, type Gate } from '../support/gate.ts';

const MIB = 1024 * 1024;
const turn = () => new Promise((resolve) => setImmediate(resolve));
const turns = async (): Promise<void> => {
  for (let count = 0; count < 4; count++) await turn();
};

/** A writer over a database whose transactions the test ends. */
function setUp({ isHeld = false } = {}) {
  const groups: string[][] = [];
  const taken: number[] = [];
  const reserved: number[] = [];
  const written: [transaction: number, changed: readonly string[]][] = [];
  const held: Gate<boolean>[] = [];
  const state = { version: 10, transaction: 100, roomError: undefined as Error | undefined };
  let told: (event: { txnId?: number }) => void = () => undefined;
  const root = {
    on: (_name: string, listener: typeof told) => (told = listener),
    batch(issue: () => void) {
      groups.push([]);
      issue();
      told({ txnId: ++state.transaction });
      if (!isHeld) return Promise.resolve(true);
      const gate = createGate<boolean>();
      held.push(gate);
      return gate.promise;
    },
    remove: async () => true,
  };
  const writer = createGroupWriter({
    environment: { root } as unknown as LmdbEnvironment,
    versions: { reserve: (count) => void reserved.push(count), next: () => ++state.version },
    room: {
      take(bytes) {
        taken.push(bytes);
        if (state.roomError) throw state.roomError;
      },
    },
    onWritten: (transaction, changed) => written.push([transaction, changed]),
  });
  const log: string[] = [];
  const unit = (name: string, more: Partial<WriteUnit> = {}): WriteUnit => ({
    size: 1,
    issue() {
      groups.at(-1)?.push(name);
      return [];
    },
    done(_outcomes, version) {
      log.push(`${name} ${version}`);
      return [name];
    },
    fail: (error) => void log.push(`${name} ${error.code}`),
    ...more,
  });
  return { writer, unit, groups, taken, reserved, written, held, log, state };
}

describe('the writer of the embedded store', () => {
  it('writes what was asked for in one turn in one transaction, each with a version of its own', async () => {
    const { writer, unit, groups, taken, reserved, written, log } = setUp();
    writer.add(unit('a', { size: 3 }));
    writer.add(unit('b', { size: 4 }));
    await writer.idle();
    expect([groups, taken, reserved]).toEqual([[['a', 'b']], [7], [2]]);
    expect(log).toEqual(['a 11', 'b 12']);
    expect(written).toEqual([[101, ['a', 'b']]]);
  });

  it('writes what arrives meanwhile in the next transaction', async () => {
    const { writer, unit, groups, held, log } = setUp({ isHeld: true });
    writer.add(unit('a'));
    await turns();
    writer.add(unit('b'));
    writer.add(unit('c'));
    await turns();
    expect([groups, log]).toEqual([[['a']], []]);
    held[0]?.resolve(true);
    await turns();
    expect([groups, log]).toEqual([[['a'], ['b', 'c']], ['a 11']]);
    held[1]?.resolve(true);
    await writer.idle();
    expect(log).toEqual(['a 11', 'b 12', 'c 13']);
  });

  it('hands every unit the outcomes of its own conditions', async () => {
    const { writer, unit, written } = setUp();
    const seen: (readonly boolean[])[] = [];
    const withOutcomes = (name: string, ...outcomes: boolean[]): WriteUnit =>
      unit(name, {
        issue: () => outcomes.map((one) => Promise.resolve(one)),
        done(own) {
          seen.push(own);
          return own.includes(false) ? [] : [name];
        },
      });
    writer.add(withOutcomes('a', true, false));
    writer.add(withOutcomes('b', true));
    await writer.idle();
    expect(seen).toEqual([[true, false], [true]]);
    expect(written).toEqual([[101, ['b']]]);
  });

  it('tells nobody of a transaction in which no condition held', async () => {
    const { writer, unit, written } = setUp();
    writer.add(unit('a', { issue: () => [Promise.resolve(false)], done: () => [] }));
    await writer.idle();
    expect(written).toEqual([]);
  });

  it('takes a unit that lost into the next transaction, before those that wait', async () => {
    const { writer, unit, groups, held } = setUp({ isHeld: true });
    let tries = 0;
    writer.add(unit('a', { done: () => (++tries === 1 ? 'again' : ['a']) }));
    await turns();
    writer.add(unit('b'));
    held[0]?.resolve(true);
    await turns();
    expect(groups).toEqual([['a'], ['a', 'b']]);
    held[1]?.resolve(true);
    await writer.idle();
    expect(tries).toBe(2);
  });

  it('fails a whole group that is not durable, and goes on', async () => {
    const { writer, unit, held, log, written } = setUp({ isHeld: true });
    writer.add(unit('a'));
    writer.add(unit('b'));
    await turns();
    held[0]?.reject(Object.assign(new Error('no space'), { code: 28 }));
    await writer.idle();
    writer.add(unit('c'));
    await turns();
    held[1]?.resolve(true);
    await writer.idle();
    expect(log).toEqual(['a full', 'b full', 'c 13']);
    expect(written).toEqual([[102, ['c']]]);
  });

  it('begins no transaction that the disk has no room for', async () => {
    const { writer, unit, groups, log, state } = setUp();
    state.roomError = new StoreError('full', 'no room');
    writer.add(unit('a'));
    await writer.idle();
    expect([groups, log]).toEqual([[], ['a full']]);
  });

  it('writes 2,000 units in one transaction at most', async () => {
    const { writer, unit, groups } = setUp();
    for (let n = 0; n < 2_001; n++) writer.add(unit('a'));
    await writer.idle();
    expect(groups.map(({ length }) => length)).toEqual([2_000, 1]);
  });

  it('lets 50,000 units wait at most', async () => {
    const { writer, unit, log } = setUp();
    for (let n = 0; n < 50_000; n++) writer.add(unit('a'));
    const more = unit('more');
    expect(() => writer.add(more)).toThrow('too many commits wait for the disk');
    await writer.idle();
    writer.add(more);
    await writer.idle();
    expect(log).toHaveLength(50_001);
  });

  it('lets values of 256 MiB wait, and gives their room back', async () => {
    const { writer, unit, log } = setUp();
    writer.add(unit('a', { size: 256 * MIB }));
    writer.add(unit('b', { size: 1 }));
    expect(() => writer.add(unit('c'))).toThrow('too many commits wait for the disk');
    await writer.idle();
    let tries = 0;
    writer.add(unit('d', { size: 200 * MIB, done: () => (++tries === 1 ? 'again' : ['d']) }));
    await writer.idle();
    writer.add(unit('e', { size: 256 * MIB }));
    writer.add(unit('f'));
    await writer.idle();
    expect(log).toEqual(['a 11', 'b 12', 'e 15', 'f 16']);
  });
});

describe('a disk that does not answer', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
  afterEach(() => void vi.useRealTimers());

  it('fails what was asked of it after 30 seconds, and refuses more until it does', async () => {
    const { writer, unit, held, log } = setUp({ isHeld: true });
    writer.add(unit('a'));
    await turns();
    writer.add(unit('b'));
    vi.advanceTimersByTime(29_999);
    expect(log).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(log).toEqual(['a unavailable', 'b unavailable']);
    expect(() => writer.add(unit('c'))).toThrow('the disk did not answer within 30 s');
    held[0]?.resolve(true);
    await writer.idle();
    writer.add(unit('d'));
    await turns();
    held[1]?.resolve(true);
    await writer.idle();
    expect(log.at(-1)).toMatch(/^d /);
    expect(vi.getTimerCount()).toBe(0);
  });
});
