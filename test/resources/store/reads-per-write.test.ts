import { describe, expect, it } from 'vitest';
import { openMemoryStore } from '../../../src/store/backends/memory/open-memory-store.ts';
import type { Key, ListOptions, Store } from '../../../src/store/store.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { makeResources } from '../make-resources.ts';

function setUp() {
  const clock = createFakeClock();
  const store = openMemoryStore(clock);
  const work = { reads: 0, rows: 0, commits: 0 };
  const counting: Store = {
    ...store,
    async get<T>(key: Key) {
      work.reads += 1;
      return store.get<T>(key);
    },
    async list<T>(options: ListOptions) {
      work.reads += 1;
      const found = await store.list<T>(options);
      work.rows += found.length;
      return found;
    },
    async commit(ops) {
      work.commits += 1;
      return store.commit(ops);
    },
  };
  const { call } = makeResources({ store: counting, clock });
  const create = async (collection: string, body: object) => {
    const reply = await call(`POST ${collection}`, { body });
    expect(reply).toMatchObject({ status: 201 });
  };
  return { work, create };
}

type Make = (index: number) => [collection: string, body: object];

const KINDS: readonly [string, Make][] = [
  ['organizations', (i) => ['organizations', { name: `o${i}` }]],
  ['providers', (i) => ['providers', { name: `p${i}`, type: 'mock' }]],
  ['models', (i) => ['models', { name: `v/m${i}`, routes: [{ provider: 'echo' }] }]],
];

describe('what one creation asks of the store', () => {
  it.each(KINDS)(
    'is one commit and the same reads among few and among many %s',
    async (_kind, make) => {
      const { work, create } = setUp();
      await create('providers', { name: 'echo', type: 'mock' });
      const costOf = async (index: number) => {
        Object.assign(work, { reads: 0, rows: 0, commits: 0 });
        await create(...make(index));
        return { ...work };
      };
      await costOf(0);
      const few = await costOf(1);
      for (let index = 2; index < 150; index++) await create(...make(index));
      const many = await costOf(150);
      expect(many).toEqual(few);
      expect(many.commits).toBe(1);
    },
  );
});
