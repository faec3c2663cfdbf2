import { describe, expect, it } from 'vitest';
import { StoreError } from '../../../src/store/store.ts';
import { createTableWriter, type Stage } from '../../../src/store/table-writer.ts';
import { createTable, type Changes, type Row } from '../../../src/store/table.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { createGate, type Gate } from '../support/gate.ts';

const rowOf = (version: number): Row => ({
  envelope: Buffer.from('j1'),
  version,
  expiresAt: Infinity,
});
const put =
  (id: string) =>
  (stage: Stage): number => {
    const version = stage.nextVersion();
    stage.set(id, rowOf(version));
    return version;
  };
const turn = () => new Promise((resolve) => setImmediate(resolve));

/** A writer whose groups become durable as the test lets them. */
function setUp({ isHeld = false, lastVersion = 0 } = {}) {
  const table = createTable(createFakeClock());
  const groups: { ids: string[]; lastVersion: number }[] = [];
  const told: string[][] = [];
  const held: Gate<void>[] = [];
  const writer = createTableWriter({
    table,
    lastVersion,
    async persist(changes: Changes, last) {
      groups.push({ ids: [...changes.keys()], lastVersion: last });
      if (!isHeld) return;
      const gate = createGate();
      held.push(gate);
      await gate.promise;
    },
    onChanged: (changes) => told.push([...changes.keys()]),
  });
  return { table, groups, told, held, writer };
}

describe('the writer of a table', () => {
  it('makes what arrives in one turn one group, with ascending versions', async () => {
    const { writer, groups, told } = setUp({ lastVersion: 40 });
    const versions = await Promise.all(['a', 'b', 'c'].map((id) => writer.write(put(id))));
    expect(versions).toEqual([41, 42, 43]);
    expect(groups).toEqual([{ ids: ['a', 'b', 'c'], lastVersion: 43 }]);
    expect(told).toEqual([['a', 'b', 'c']]);
    expect(await writer.write(put('d'))).toBe(44);
  });

  it('makes what arrives meanwhile the next group, and shows no group before it is durable', async () => {
    const { writer, table, groups, told, held } = setUp({ isHeld: true });
    const first = writer.write(put('a'));
    await turn();
    const others = [writer.write(put('b')), writer.write((stage) => stage.look('a')?.version)];
    await turn();
    expect([groups.length, told, table.get('a')]).toEqual([1, [], undefined]);
    held[0]?.resolve();
    expect(await first).toBe(1);
    expect(table.get('a')?.version).toBe(1);
    await turn();
    expect(groups.map(({ ids }) => ids)).toEqual([['a'], ['b']]);
    expect(table.get('b')).toBeUndefined();
    held[1]?.resolve();
    expect(await Promise.all(others)).toEqual([2, 1]);
  });

  it('judges every step by what the steps before it left', async () => {
    const { writer, table } = setUp();
    table.apply(new Map([['a', rowOf(7)]]));
    const seen = await Promise.all([
      writer.write((stage) => stage.look('a')?.version),
      writer.write((stage) => stage.set('a', undefined)),
      writer.write((stage) => stage.look('a')),
      writer.write(put('a')),
      writer.write((stage) => stage.look('a')?.version),
    ]);
    expect(seen).toEqual([7, undefined, undefined, 1, 1]);
    expect(table.get('a')?.version).toBe(1);
  });

  it('writes nothing down for steps that only look', async () => {
    const { writer, groups } = setUp();
    expect(await writer.write((stage) => stage.look('a'))).toBeUndefined();
    expect(groups).toEqual([]);
  });

  it('fails a group as a whole when it cannot be made durable, and goes on', async () => {
    const { writer, table, told, held } = setUp({ isHeld: true });
    const error = new StoreError('full', 'no room');
    const lost = Promise.allSettled([writer.write(put('a')), writer.write(put('b'))]);
    await turn();
    const next = writer.write(put('c'));
    held[0]?.reject(error);
    expect(await lost).toEqual([
      { status: 'rejected', reason: error },
      { status: 'rejected', reason: error },
    ]);
    expect([table.get('a'), told]).toEqual([undefined, []]);
    await turn();
    held[1]?.resolve();
    await next;
    expect(told).toEqual([['c']]);
  });

  it('fails a step that throws alone', async () => {
    const { writer, table } = setUp();
    const wrong = (): never => {
      throw new StoreError('invalid_value', 'wrong');
    };
    const [before, failed, behind] = await Promise.allSettled([
      writer.write(put('a')),
      writer.write(wrong),
      writer.write(put('b')),
    ]);
    expect(failed).toMatchObject({ status: 'rejected', reason: { code: 'invalid_value' } });
    expect([before.status, behind.status]).toEqual(['fulfilled', 'fulfilled']);
    expect(table.rows()).toHaveLength(2);
  });

  it('takes 1,000 writes in one group at most', async () => {
    const { writer, groups } = setUp();
    const writes = Array.from({ length: 1_001 }, (_, n) => writer.write(put(String(n))));
    await Promise.all(writes);
    expect(groups.map(({ ids }) => ids.length)).toEqual([1_000, 1]);
  });

  it('refuses to let more than 50,000 writes wait', async () => {
    const { writer } = setUp();
    const look = (): number => 1;
    const waiting = Array.from({ length: 50_000 }, () => writer.write(look));
    await expect(writer.write(look)).rejects.toMatchObject({ code: 'unavailable' });
    expect(await Promise.all(waiting)).toHaveLength(50_000);
    expect(await writer.write(look)).toBe(1);
  });

  it('is idle when no group is under way or waiting', async () => {
    const { writer, held } = setUp({ isHeld: true });
    await writer.idle();
    let isIdle = false;
    const written = writer.write(put('a'));
    const idle = writer.idle().then(() => (isIdle = true));
    await turn();
    expect(isIdle).toBe(false);
    held[0]?.resolve();
    await Promise.all([written, idle]);
    expect(isIdle).toBe(true);
  });
});
