import { describe, expect, it } from 'vitest';
import { LaneHeads } from '../../../src/store/lanes/lane-heads.ts';
import type { CommitResult, Entry, Key, Op } from '../../../src/store/store.ts';
import { createGate, type Gate } from '../support/gate.ts';

const turn = () => new Promise((resolve) => setImmediate(resolve));
const conflict = (key: Key): CommitResult => ({ ok: false, conflict: key });
const ok = (version: string): CommitResult => ({ ok: true, version });

/** Lanes with numbers as heads: each step goes one further. */
function setUp(lanes: number, stored: ReadonlyMap<number, number> = new Map()) {
  const reads: number[] = [];
  const steps: [lane: number, head: number][] = [];
  const heads = new LaneHeads<number>({
    store: {
      async get<T>(key: Key): Promise<Entry<T> | undefined> {
        const lane = Number(key[1]);
        reads.push(lane);
        const value = stored.get(lane);
        return value === undefined ? undefined : { key, value: value as T, version: `v${value}` };
      },
    },
    lanes,
    first: 0,
    keyOf: (lane) => ['head', lane],
  });
  const write = (commit: (ops: readonly Op[]) => Promise<CommitResult>): Promise<CommitResult> =>
    heads.write((lane, head) => {
      steps.push([lane, head]);
      return { ops: [{ type: 'put', key: ['row', lane, head + 1], value: 1 }], next: head + 1 };
    }, commit);
  return { reads, steps, write };
}

describe('the heads of lanes', () => {
  it('are added to the commit, on condition that nobody was faster', async () => {
    const seen: (readonly Op[])[] = [];
    const { write } = setUp(1);
    const commit = async (ops: readonly Op[]): Promise<CommitResult> => {
      seen.push(ops);
      return ok(`w${seen.length}`);
    };
    expect(await write(commit)).toEqual(ok('w1'));
    await write(commit);
    expect(seen).toEqual([
      [
        { type: 'put', key: ['row', 0, 1], value: 1 },
        { type: 'put', key: ['head', 0], value: 1, ifAbsent: true },
      ],
      [
        { type: 'put', key: ['row', 0, 2], value: 1 },
        { type: 'put', key: ['head', 0], value: 2, ifVersion: 'w1' },
      ],
    ]);
  });

  it('are read once, and known from then on', async () => {
    const { reads, steps, write } = setUp(1, new Map([[0, 41]]));
    const conditions: unknown[] = [];
    const commit = async (ops: readonly Op[]): Promise<CommitResult> => {
      conditions.push(ops.at(-1)?.ifVersion);
      return ok('w');
    };
    await write(commit);
    await write(commit);
    expect([reads, steps]).toEqual([
      [0],
      [
        [0, 41],
        [0, 42],
      ],
    ]);
    expect(conditions).toEqual(['v41', 'w']);
  });

  it('are read anew after another process was faster, and the step is taken again', async () => {
    const stored = new Map([[0, 1]]);
    const { reads, steps, write } = setUp(1, stored);
    let tries = 0;
    const result = await write(async () => {
      if (++tries > 1) return ok('w');
      stored.set(0, 5);
      return conflict(['head', 0]);
    });
    expect(result).toEqual(ok('w'));
    expect(reads).toEqual([0, 0]);
    expect(steps).toEqual([
      [0, 1],
      [0, 5],
    ]);
  });

  it('stay known when another key of the commit is in conflict, which is told', async () => {
    const { reads, steps, write } = setUp(1, new Map([[0, 3]]));
    const foreign = conflict(['elsewhere', 0]);
    expect(await write(async () => foreign)).toBe(foreign);
    expect(await write(async () => ok('w'))).toEqual(ok('w'));
    expect(reads).toEqual([0]);
    expect(steps).toEqual([
      [0, 3],
      [0, 3],
    ]);
  });

  it('are read anew after a commit whose outcome is unknown', async () => {
    const { reads, write } = setUp(1);
    const lost = async (): Promise<never> => {
      throw new Error('no answer');
    };
    await expect(write(lost)).rejects.toThrow('no answer');
    await write(async () => ok('w'));
    expect(reads).toEqual([0, 0]);
  });

  it('let as many commits go on at once as there are lanes, and the next when one is over', async () => {
    const { steps, write } = setUp(2);
    const gates: Gate<CommitResult>[] = [];
    const writes = [1, 2, 3].map(() =>
      write(() => {
        const gate = createGate<CommitResult>();
        gates.push(gate);
        return gate.promise;
      }),
    );
    await turn();
    expect(steps).toEqual([
      [0, 0],
      [1, 0],
    ]);
    gates[1]?.resolve(ok('b'));
    await turn();
    expect(steps.at(-1)).toEqual([1, 1]);
    gates[0]?.resolve(ok('a'));
    gates[2]?.resolve(ok('c'));
    expect(await Promise.all(writes)).toEqual([ok('a'), ok('b'), ok('c')]);
  });

  it('leave a lane that others write for another one, and come back to the one that went well', async () => {
    const { steps, write } = setUp(3);
    let tries = 0;
    await write(async () => (++tries === 1 ? conflict(['head', 0]) : ok('w')));
    await write(async () => ok('x'));
    expect(steps.map(([lane]) => lane)).toEqual([0, 1, 1]);
  });

  it('give up after a hundred tries', async () => {
    const { steps, write } = setUp(2);
    await expect(write(async () => conflict(['head', 0]))).rejects.toMatchObject({
      code: 'conflict',
      message: 'too many writers at once; try again',
    });
    expect(steps).toHaveLength(100);
    expect(await write(async () => ok('w'))).toEqual(ok('w'));
  });
});
