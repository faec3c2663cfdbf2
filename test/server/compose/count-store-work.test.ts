import { expect, it } from 'vitest';
import { countStoreWork } from '../../../src/server/compose/count-store-work.ts';
import { openMemoryStore } from '../../../src/store/backends/memory/open-memory-store.ts';
import { createFakeClock } from '../../support/fake-clock.ts';

it('counts what the store was asked for and has not done, whatever comes of it', async () => {
  const { store, work } = countStoreWork(openMemoryStore(createFakeClock()));
  const put = { type: 'put', key: ['a'], value: 1 } as const;
  const asked = [
    store.commit([put]),
    store.increment(['b'], 1),
    store.commit([{ ...put, key: [] }]).catch(() => undefined),
    store.get(['a']),
    store.list({ prefix: ['a'] }),
  ];
  expect(work()).toEqual({ reads: 2, writes: 3, failed: 0 });
  await Promise.all(asked);
  expect(work()).toEqual({ reads: 0, writes: 0, failed: 1 });
});
