import { describe, expect, it } from 'vitest';
import { hashAfter, NO_CUT, sealKey, SEALS } from '../../src/audit/audit-rows.ts';
import type { Seal } from '../../src/audit/audit-rows.ts';
import { SealReader } from '../../src/audit/seal-reader.ts';
import type { SealRead } from '../../src/audit/seal-reader.ts';
import type { Entry, ListOptions } from '../../src/store/store.ts';

/** Sound seals by number. */
function sealsOf(count: number): Seal[] {
  const seals: Seal[] = [];
  for (let number = 1; number <= count; number++) {
    const seal = { number, at: 1_000 * number, heads: { 3: { number, hash: `h${number}` } } };
    seals.push({ ...seal, hash: hashAfter(seals.at(-1)?.hash ?? '', seal) });
  }
  return seals;
}

function readerOf(seals: readonly Seal[], last: number, from = NO_CUT.seal) {
  const asked: ListOptions[] = [];
  const store = {
    async list<T>(options: ListOptions): Promise<Entry<T>[]> {
      asked.push(options);
      const behind = Number(options.after?.at(-1));
      return seals
        .map((seal, index) => [sealKey(index + 1), seal] as const)
        .filter(([key]) => Number(key[1]) > behind)
        .slice(0, options.limit)
        .map(([key, value]) => ({ key, value: value as T, version: '1' }));
    },
  };
  return { asked, reader: new SealReader({ store, from, last }) };
}

async function readAll(reader: SealReader): Promise<SealRead[]> {
  const all: SealRead[] = [];
  for (;;) {
    const read = await reader.next();
    if (!read) return all;
    all.push(read);
    if ('fault' in read) return all;
  }
}

describe('reading seals', () => {
  it('gives the places of one after the other, to the last', async () => {
    const { reader, asked } = readerOf(sealsOf(3), 3);
    expect([reader.at, reader.count]).toEqual([null, 0]);
    expect(await reader.next()).toEqual({ heads: { 3: { number: 1, hash: 'h1' } } });
    expect([reader.at, reader.count]).toEqual([1_000, 1]);
    expect(await readAll(reader)).toHaveLength(2);
    expect([reader.at, reader.count]).toEqual([3_000, 3]);
    expect(await reader.next()).toBeUndefined();
    expect(asked).toEqual([{ prefix: SEALS, after: sealKey(0), limit: 500 }]);
  });

  it('reads no further than the last that counts', async () => {
    const { reader } = readerOf(sealsOf(3), 2);
    expect(await readAll(reader)).toHaveLength(2);
    expect(reader.count).toBe(2);
  });

  it.each([
    [499, 1],
    [500, 2],
    [501, 2],
  ])('reads %d seals in pages of 500', async (count, pages) => {
    const { reader, asked } = readerOf(sealsOf(count), count);
    const all = await readAll(reader);
    expect(all.some((read) => 'fault' in read)).toBe(false);
    expect([all.length, reader.count]).toEqual([count, count]);
    expect(asked.length).toBe(pages);
  });

  it('begins behind what retention has removed', async () => {
    const seals = sealsOf(5);
    const { number, hash, at } = seals[2]!;
    const { reader } = readerOf(seals, 5, { number, hash, at });
    expect(await readAll(reader)).toEqual([4, 5].map((n) => ({ heads: seals[n - 1]?.heads })));
  });

  it.each<[string, (seals: Seal[]) => void, string, number]>([
    ['a seal', (seals) => (seals[1] = { ...seals[1]!, at: 7 }), 'changed', 2],
    ['the hash of a seal', (seals) => (seals[1] = { ...seals[1]!, hash: 'x' }), 'changed', 2],
    ['the number of a seal', (seals) => (seals[1] = { ...seals[1]!, number: 1 }), 'changed', 2],
    ['a seal that is gone', (seals) => void seals.splice(1, 1), 'missing', 2],
    ['the last seal, which is gone', (seals) => void seals.pop(), 'missing', 3],
  ])('notices %s', async (...[, tamper, problem, number]) => {
    const seals = sealsOf(3);
    tamper(seals);
    const { reader } = readerOf(seals, 3);
    const [fault] = (await readAll(reader)).slice(-1);
    const verb = problem === 'missing' ? 'is' : 'was';
    expect(fault).toEqual({
      fault: { problem, message: `seal ${number} ${verb} ${problem}` },
    });
    expect(reader.count).toBe(number - 1);
  });

  it('finds nothing where nothing was sealed', async () => {
    const { reader } = readerOf([], 0);
    expect(await reader.next()).toBeUndefined();
  });
});
