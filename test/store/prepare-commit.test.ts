import { afterEach, describe, expect, it, vi } from 'vitest';
import { prepareCommit } from '../../src/store/prepare-commit.ts';
import type { Op } from '../../src/store/store.ts';

const putOf = (index: number, chars: number): Op => ({
  type: 'put',
  key: ['a', index],
  value: { text: 'x'.repeat(chars) },
});

describe('prepareCommit', () => {
  afterEach(() => vi.restoreAllMocks());

  it('prepares a small commit at once', () => {
    expect(prepareCommit([putOf(1, 10), putOf(2, 10)], 0)).toMatchObject([
      { type: 'put', key: ['a', 1] },
      { type: 'put', key: ['a', 2] },
    ]);
  });

  it('writes the values of a large commit a few in each turn', async () => {
    let elapsed = 0;
    vi.spyOn(performance, 'now').mockImplementation(() => (elapsed += 5));
    const native = vi.spyOn(JSON, 'stringify');
    const ops = Array.from({ length: 200 }, (_, index) => putOf(index, 110 * 1024));
    const perTurn: number[] = [];
    const count = (): void => {
      perTurn.push(native.mock.calls.length);
      native.mockClear();
      if (!isDone) setImmediate(count);
    };
    let isDone = false;
    setImmediate(count);
    const prepared = await prepareCommit(ops, 0);
    isDone = true;
    expect(prepared.map(({ key, envelope }) => [key, envelope.length])).toEqual(
      ops.map(({ key }) => [key, 110 * 1024 + '{"text":""}'.length + 1]),
    );
    expect(Math.max(...perTurn)).toBeLessThanOrEqual(6);
  });

  it('refuses a large commit as it does a small one', async () => {
    const ops = Array.from({ length: 20 }, (_, index) => putOf(index % 19, 110 * 1024));
    await expect(Promise.resolve().then(() => prepareCommit(ops, 0))).rejects.toThrow(
      'two operations on one key',
    );
  });
});
