import { describe, expect, it } from 'vitest';
import { ChangeLog, KEPT_CHANGES, readChanges } from '../../../src/resources/changes/change-log.ts';
import type { LogPosition } from '../../../src/resources/changes/change-log.ts';
import { EPOCH_KEY, resourceKey } from '../../../src/resources/store/storage-keys.ts';
import { openMemoryStore } from '../../../src/store/backends/memory/open-memory-store.ts';
import { StoreError } from '../../../src/store/store.ts';
import type { Op, Store } from '../../../src/store/store.ts';
import { createFakeClock } from '../../support/fake-clock.ts';

const put = (id: string): Op => ({ type: 'put', key: resourceKey('model', id), value: id });

function setUp() {
  const store = openMemoryStore(createFakeClock());
  let position: LogPosition | undefined;
  /** Ids of what changed since the last time. */
  const changed = async (): Promise<string[] | 'everything'> => {
    const read = await readChanges(store, position);
    position = read.position;
    const { changes } = read;
    return changes === 'everything' ? changes : changes.map(({ id }) => id).toSorted();
  };
  return { store, log: new ChangeLog(store), changed };
}

describe('the log of changes', () => {
  it('tells which rows changed since, each once', async () => {
    const { log, changed } = setUp();
    expect(await changed()).toBe('everything');
    expect(await changed()).toEqual([]);
    await log.commit([put('a')]);
    await log.commit([put('b'), put('c'), { type: 'put', key: ['other'], value: 1 }]);
    await log.commit([{ type: 'delete', key: resourceKey('model', 'a') }]);
    expect(await changed()).toEqual(['a', 'b', 'c']);
    expect(await changed()).toEqual([]);
  });

  it('misses none of what many processes write at once', async () => {
    const { store, changed } = setUp();
    await changed();
    const logs = Array.from({ length: 5 }, () => new ChangeLog(store));
    const written = logs.flatMap((log, at) =>
      Array.from({ length: 40 }, async (_, i) => log.commit([put(`${at}-${i}`)])),
    );
    const seen = new Set<string>();
    const writing = Promise.all(written);
    for (let round = 0; round < 20; round++) for (const id of await changed()) seen.add(id);
    const conflicts = await writing;
    for (const id of await changed()) seen.add(id);
    expect(conflicts.every((conflict) => conflict === undefined)).toBe(true);
    expect(seen.size).toBe(200);
  });

  it('has no gap after a commit that met another writer', async () => {
    const { log, changed } = setUp();
    await changed();
    await log.commit([put('a')]);
    const key = resourceKey('model', 'a');
    const again: Op = { type: 'put', key, value: 1, ifAbsent: true };
    expect(await log.commit([again])).toEqual(key);
    await log.commit([put('b')]);
    expect(await changed()).toEqual(['a', 'b']);
  });

  it('is in the way of a commit that holds the epoch', async () => {
    const { store, log } = setUp();
    await log.commit([put('a')]);
    const held = (await store.get(EPOCH_KEY))?.version;
    await log.commit([put('b')]);
    expect(await log.commit([put('c')], { heldEpoch: held })).toEqual(EPOCH_KEY);
    const heldEpoch = (await store.get(EPOCH_KEY))?.version;
    expect(await log.commit([put('c')], { heldEpoch })).toBeUndefined();
  });

  it.each(['written', 'not written'])(
    'goes on after a commit of which it is not known that it was %s',
    async (outcome) => {
      const { store, changed } = setUp();
      await changed();
      let isLost = true;
      const unsure: Store = {
        ...store,
        async commit(ops) {
          if (!isLost) return store.commit(ops);
          isLost = false;
          if (outcome === 'written') await store.commit(ops);
          throw new StoreError('unavailable', 'no answer');
        },
      };
      const log = new ChangeLog(unsure);
      await expect(log.commit([put('a')])).rejects.toThrow('no answer');
      await log.commit([put('b')]);
      expect(await changed()).toEqual(outcome === 'written' ? ['a', 'b'] : ['b']);
    },
  );

  it('goes round, and tells everything to who fell behind by more than it keeps', async () => {
    const { log, changed } = setUp();
    await changed();
    const write = async (count: number): Promise<void> => {
      for (let i = 0; i < count; i++) await log.commit([put(`m${i}`)]);
    };
    await write(KEPT_CHANGES - 3);
    expect(await changed()).toHaveLength(KEPT_CHANGES - 3);
    await write(10);
    expect(await changed()).toHaveLength(10);
    await write(KEPT_CHANGES);
    expect(await changed()).toHaveLength(KEPT_CHANGES);
    await write(KEPT_CHANGES + 1);
    expect(await changed()).toBe('everything');
    await write(1);
    expect(await changed()).toEqual(['m0']);
  });

  it('tells everything when a gateway wrote that keeps no log', async () => {
    const { store, log, changed } = setUp();
    await log.commit([put('a')]);
    await changed();
    await store.commit([put('b'), { type: 'put', key: EPOCH_KEY, value: 'epoch_1' }]);
    expect(await changed()).toBe('everything');
  });
});
