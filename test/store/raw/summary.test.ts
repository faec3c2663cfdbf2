import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { RawRow, RawStore } from '../../../src/store/raw/raw-store.ts';
import { createSumming, walk } from '../../../src/store/raw/summary.ts';
import { takeStep } from '../../../src/store/raw/take-step.ts';

const rowOf = (key: string, envelope: string, more: Partial<RawRow> = {}): RawRow => ({
  key: Buffer.from(key),
  envelope: Buffer.from(envelope, 'latin1'),
  version: 1,
  expiresAt: Infinity,
  ...more,
});
const sumOf = (...rows: RawRow[]) => {
  const summing = createSumming();
  for (const row of rows) summing.add(row);
  return summing.result();
};

describe('the sum of rows', () => {
  it('counts rows and bytes, and knows the highest version', () => {
    const rows = [
      rowOf('a', 'j"xx"', { version: 4 }),
      rowOf('bb', 'b123', { version: 9 }),
      rowOf('ccc', 'j{}', { version: 2 }),
    ];
    expect(sumOf(...rows)).toMatchObject({
      rows: 3,
      bytes: 1 + 5 + 2 + 4 + 3 + 3,
      highestVersion: 9,
    });
    expect(sumOf()).toEqual({
      rows: 0,
      bytes: 0,
      highestVersion: 0,
      checksum: createHash('sha256').digest('hex'),
    });
  });

  it('has a checksum of lengths, version, expiry, key and value', () => {
    const head = Buffer.alloc(24);
    head.writeUInt32BE(1, 0);
    head.writeUInt32BE(5, 4);
    head.writeDoubleBE(4, 8);
    head.writeDoubleBE(77.5, 16);
    const checksum = createHash('sha256').update(head).update('aj"xx"').digest('hex');
    expect(sumOf(rowOf('a', 'j"xx"', { version: 4, expiresAt: 77.5 })).checksum).toBe(checksum);
  });

  it.each([
    ['key', rowOf('b', 'j1', { version: 4, expiresAt: 77 })],
    ['value', rowOf('a', 'j2', { version: 4, expiresAt: 77 })],
    ['version', rowOf('a', 'j1', { version: 5, expiresAt: 77 })],
    ['expiry', rowOf('a', 'j1', { version: 4, expiresAt: 78 })],
  ])('differs by another %s', (_what, other) => {
    expect(sumOf(other).checksum).not.toBe(
      sumOf(rowOf('a', 'j1', { version: 4, expiresAt: 77 })).checksum,
    );
  });

  it('differs by the order of rows, and may be asked for on the way', () => {
    const [a, b] = [rowOf('a', 'j1'), rowOf('b', 'j2')];
    expect(sumOf(a, b).checksum).not.toBe(sumOf(b, a).checksum);
    const summing = createSumming();
    summing.add(a);
    expect(summing.result()).toEqual(sumOf(a));
    summing.add(b);
    expect(summing.result()).toEqual(sumOf(a, b));
  });

  it.each([
    ['j1e+3', 'j1000'],
    ['j-0.50', 'j-0.5'],
    ['j1E2', 'j100'],
    [`j${'0'.repeat(37)}.0`, 'j0'],
  ])('takes the number %s for %s, as databases write numbers of their own', (one, other) => {
    expect(sumOf(rowOf('a', one))).toEqual(sumOf(rowOf('a', other)));
  });

  it.each([
    ['j"1e3"', 'j1000'],
    ['b1e3', 'b1000'],
    ['j1e3 ', 'j1000'],
    ['j+5', 'j5'],
    // Longer than any number that a database writes.
    [`j${'0'.repeat(38)}.0`, 'j0'],
  ])('takes %s for no other form of %s', (one, other) => {
    expect(sumOf(rowOf('a', one)).checksum).not.toBe(sumOf(rowOf('a', other)).checksum);
  });
});

describe('walking the rows of a store', () => {
  const steps = [[rowOf('a', 'j1'), rowOf('b', 'j1')], [rowOf('c', 'j1')]];
  function storeOf() {
    const asked: (string | undefined)[] = [];
    const read = async (after: Buffer | undefined): Promise<readonly RawRow[]> => {
      asked.push(after?.toString());
      return steps[asked.length - 1] ?? [];
    };
    return { asked, store: { read } as RawStore };
  }

  it('goes step by step behind the last key, and counts the rows that were seen', async () => {
    const { asked, store } = storeOf();
    const counts: number[] = [];
    const { signal } = new AbortController();
    const seen: (readonly RawRow[])[] = [];
    for await (const step of walk(store, { signal, onRows: (rows) => counts.push(rows) }))
      seen.push(step);
    expect(seen).toEqual(steps);
    expect(asked).toEqual([undefined, 'b', 'c']);
    expect(counts).toEqual([2, 3]);
  });

  it('breaks off when it is told to', async () => {
    const { asked, store } = storeOf();
    const controller = new AbortController();
    const onRows = (): void => controller.abort(new Error('enough'));
    const all = (async () => {
      for await (const _ of walk(store, { signal: controller.signal, onRows }));
    })();
    await expect(all).rejects.toThrow('enough');
    expect(asked).toHaveLength(1);
  });
});

describe('a step of rows', () => {
  const MIB = 1024 * 1024;
  const rowsOf = (count: number, bytes: number): RawRow[] => {
    const envelope = Buffer.alloc(bytes);
    return Array.from({ length: count }, (_, version) => ({
      ...rowOf('a', ''),
      envelope,
      version,
    }));
  };

  it('has a thousand rows at most', () => {
    const rows = rowsOf(1_500, 1);
    expect(takeStep(rows, 0)).toEqual(rows.slice(0, 1_000));
    expect(takeStep(rows, 1_000)).toEqual(rows.slice(1_000));
    expect(takeStep(rows, 1_500)).toEqual([]);
  });

  it.each([
    [8 * MIB, 1],
    [8 * MIB - 1, 2],
    [4 * MIB, 2],
    [4 * MIB - 1, 3],
    [20 * MIB, 1],
  ])('ends behind the row that reaches 8 MiB: rows of %d bytes', (bytes, count) => {
    expect(takeStep(rowsOf(4, bytes), 1)).toHaveLength(count);
  });
});
