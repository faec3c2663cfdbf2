import { describe, expect, it } from 'vitest';
import { openLmdbStore } from '../../src/store/backends/lmdb/open-lmdb-store.ts';
import { openEnvironment } from '../../src/store/backends/lmdb/environment.ts';
import type { Store } from '../../src/store/store.ts';
import { createTable } from '../../src/store/table.ts';
import { temporaryDirectory } from '../conformance/store-kill.ts';
import { until } from '../conformance/store.ts';
import { createFakeClock } from '../support/fake-clock.ts';

async function fill(store: Store, keys: number[], ttlMs?: number): Promise<void> {
  await store.commit(
    keys.map((i) => ({ type: 'put', key: ['k', i], value: i, ...(ttlMs && { ttlMs }) })),
  );
}

describe('sweeping', () => {
  it('removes expired rows of the embedded store in steps, and nothing else', async () => {
    const path = await temporaryDirectory();
    const clock = createFakeClock();
    const store = await openLmdbStore(path, clock);
    const keys = Array.from({ length: 600 }, (_, i) => i);
    await fill(store, keys, 1_000);
    await fill(store, [0, 1]);
    await fill(store, [2, 3], 60_000);
    const { data, expiry } = openEnvironment(path);
    expect(data.getCount()).toBe(600);
    clock.advance(1_000);
    await until(() => {
      clock.advance(20);
      return data.getCount() === 4;
    });
    expect(expiry.getCount()).toBe(2);
    expect((await store.list({ prefix: ['k'] })).map((entry) => entry.value)).toEqual([0, 1, 2, 3]);
    await store.close();
  });

  it('removes expired rows of a table in steps, and nothing else', () => {
    const clock = createFakeClock();
    const table = createTable(clock);
    const row = (expiresAt: number) => ({ envelope: Buffer.from('j1'), version: 1, expiresAt });
    const soon = clock.now() + 1_000;
    const ids = Array.from({ length: 10 }, (_, i) => String(i));
    table.apply(new Map(ids.map((id) => [id, row(soon)])));
    table.apply(
      new Map([
        ['0', row(Infinity)],
        ['1', row(soon + 1)],
        ['2', undefined],
      ]),
    );
    clock.advance(999);
    expect(table.sweep(4)).toBe(0);
    clock.advance(1);
    expect([table.sweep(4), table.sweep(4), table.sweep(4)]).toEqual([4, 3, 0]);
    expect(
      table
        .rows()
        .map(([id]) => id)
        .toSorted(),
    ).toEqual(['0', '1']);
  });
});
