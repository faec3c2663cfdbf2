import { describe, expect, it } from 'vitest';
import type { Op } from '../../src/store/store.ts';
import type { StoreSite } from './store.ts';

const create = (name: string, value: unknown): Op => ({
  type: 'put',
  key: [name],
  value,
  ifAbsent: true,
});
/** So large that it is prepared in turns. */
const large = (name: string): Op[] => [
  create(name, 'large'),
  ...Array.from({ length: 12 }, (_, index): Op => ({
    type: 'put',
    key: [name, index],
    value: 'x'.repeat(100 * 1024),
  })),
];

/** The order of writes that one process asks for without waiting in between. */
export function storeOrder(setUp: () => Promise<StoreSite>): void {
  describe('order', () => {
    it('keeps small writes behind a large one that was asked for before', async () => {
      const { store } = await setUp();
      const results = await Promise.all([
        store.commit([create('first', 'small')]),
        store.commit(large('first')),
        store.commit(large('a')),
        store.commit([create('a', 'small')]),
        store.commit(large('n')),
        store.increment(['n'], 1).catch((error: unknown) => error),
        store.commit([{ type: 'put', key: ['a'], value: 'last' }]),
      ]);
      expect(results).toMatchObject([
        { ok: true },
        { ok: false, conflict: ['first'] },
        { ok: true },
        { ok: false, conflict: ['a'] },
        { ok: true },
        { code: 'invalid_value' },
        { ok: true },
      ]);
      expect((await store.get(['a']))?.value).toBe('last');
    });

    it('lets writes pass that stand behind a large one that is refused', async () => {
      const { store } = await setUp();
      const twice = [...large('a'), create('a', 'again')];
      const results = await Promise.allSettled([
        store.commit(twice),
        store.commit(twice),
        store.increment(['n'], 2),
        store.commit([create('a', 'small')]),
      ]);
      expect(results).toMatchObject([
        { reason: { code: 'invalid_commit' } },
        { reason: { code: 'invalid_commit' } },
        { value: 2 },
        { value: { ok: true } },
      ]);
    });

    it('finishes a large commit and what stands behind it before it closes', async () => {
      const { store, reopen } = await setUp();
      const asked = [
        store.commit(large('a')),
        store.commit([create('b', 'small')]),
        store.increment(['n'], 3),
      ];
      let isClosed = false;
      const closed = store.close().then(() => (isClosed = true));
      const late = store.commit([create('late', 1)]);
      await expect(late).rejects.toMatchObject({ code: 'closed' });
      const results = await Promise.all(
        asked.map(async (write) => ({ result: await write, isClosed })),
      );
      expect(results).toMatchObject([
        { result: { ok: true }, isClosed: false },
        { result: { ok: true }, isClosed: false },
        { result: 3, isClosed: false },
      ]);
      await closed;
      const again = await reopen?.();
      if (!again) return;
      expect((await again.get(['a', 11]))?.value).toHaveLength(100 * 1024);
      expect((await again.get(['b']))?.value).toBe('small');
      expect(await again.get(['late'])).toBeUndefined();
    });
  });
}
