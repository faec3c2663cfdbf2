import { describe, expect, it } from 'vitest';
import { encodeKey } from '../../../src/store/key-codec.ts';
import type { RawRow, RawStore } from '../../../src/store/raw/raw-store.ts';
import { verifyStore } from '../../../src/store/raw/verify-store.ts';
import type { Key } from '../../../src/store/store.ts';

const rowOf = (key: Key | Buffer, more: Partial<RawRow> = {}): RawRow => ({
  key: Buffer.isBuffer(key) ? key : encodeKey(key),
  envelope: Buffer.from('j1'),
  version: 1,
  expiresAt: Infinity,
  ...more,
});

async function verify(rows: readonly RawRow[], faults: (rows: number) => string[] = () => []) {
  const store = {
    driver: 'test',
    read: async (after: Buffer | undefined) => (after ? [] : rows),
    faults: async (count: number) => faults(count),
  } as Partial<RawStore> as RawStore;
  const { signal } = new AbortController();
  return verifyStore(store, { signal, onRows: () => undefined });
}

describe('verifying rows', () => {
  it('counts them by the first segment of their keys, and finds nothing in sound ones', async () => {
    const rows = [
      rowOf([1, 'x']),
      rowOf(['a', 1]),
      rowOf(['a', 2], { expiresAt: 1 }),
      rowOf(['b']),
    ];
    expect(await verify(rows)).toMatchObject({
      rows: 4,
      segments: { 1: 1, a: 2, b: 1 },
      problems: [],
    });
  });

  it.each<[string, RawRow, string, RegExp]>([
    ['a value', rowOf(['a'], { envelope: Buffer.from('j{') }), '["a"]', /a row cannot be read/],
    ['a form', rowOf(['a'], { envelope: Buffer.from('?') }), '["a"]', /unknown form/],
    [
      'an expiry',
      rowOf(['a'], { expiresAt: NaN }),
      '["a"]',
      /^the instant of its end is no number/,
    ],
    ['a key without an end', rowOf(Buffer.from(' a')), '0x2061', /a row cannot be read/],
    // Another zero than the one that keys are written with.
    [
      'a key in a foreign form',
      rowOf(Buffer.from('107fffffffffffffff', 'hex')),
      '[0]',
      /^the key is not in its own form/,
    ],
  ])('names %s that is wrong', async (...[, row, where, what]) => {
    const { problems, rows } = await verify([row]);
    expect(problems).toEqual([{ where, what: expect.stringMatching(what) }]);
    expect(rows).toBe(1);
  });

  it.each([
    ['the same key twice', ['a'], ['a']],
    ['a lower key', ['b'], ['a']],
  ])('finds %s', async (_what, first, second) => {
    const { problems } = await verify([rowOf(first), rowOf(second)]);
    expect(problems).toEqual([{ where: JSON.stringify(second), what: 'the key is out of order' }]);
  });

  it('shows no more than 200 characters of a key', async () => {
    const { problems } = await verify([rowOf(['x'.repeat(500)], { expiresAt: NaN })]);
    expect(problems[0]?.where).toHaveLength(200);
  });

  it('tells of a hundred rows and of all that the store itself contradicts', async () => {
    const rows = Array.from({ length: 101 }, (_, n) => rowOf(['a', n], { expiresAt: NaN }));
    const { problems } = await verify(rows, (count) => [`an index has not ${count}`]);
    expect(problems).toHaveLength(101);
    expect(problems.at(-1)).toEqual({ where: 'test', what: 'an index has not 101' });
  });

  it('counts a thousand segments, and goes on to count those it knows', async () => {
    const rows = Array.from({ length: 1_001 }, (_, n) => rowOf([n]));
    const { segments } = await verify([...rows, rowOf(['0'])]);
    expect(Object.keys(segments)).toHaveLength(1_000);
    expect(segments).toMatchObject({ 0: 2, 999: 1 });
    expect(segments).not.toHaveProperty('1000');
  });
});
