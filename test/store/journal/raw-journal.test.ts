import { describe, expect, it, onTestFinished } from 'vitest';
import { openJournalStore } from '../../../src/store/backends/journal/open-journal-store.ts';
import {
  openHeldJournal,
  openRawJournal,
  openRawJournalTarget,
} from '../../../src/store/backends/journal/raw-journal.ts';
import { encodeKey } from '../../../src/store/key-codec.ts';
import type { RawRow } from '../../../src/store/raw/raw-store.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { createBlobMap, type BlobMap } from '../support/blob-map.ts';

const clock = createFakeClock();
const rowOf = (n: number): RawRow => ({
  key: encodeKey(['k', n]),
  envelope: Buffer.from(`j${n}`),
  version: n,
  expiresAt: Infinity,
});

/** A journal of three rows, one of which has expired. */
async function filled(): Promise<BlobMap> {
  const driver = createBlobMap();
  const own = createFakeClock();
  const store = await openJournalStore(driver, own);
  await store.commit([
    { type: 'put', key: ['k', 1], value: 1 },
    { type: 'put', key: ['k', 3], value: 3 },
    { type: 'put', key: ['k', 2], value: 2, ttlMs: 1_000 },
  ]);
  await store.close();
  return driver;
}

const keysOf = (rows: readonly RawRow[]): string[] => rows.map(({ key }) => key.toString('hex'));

describe('the rows of a journal as they lie there', () => {
  it('are read in key order from any key on, expired or not', async () => {
    const raw = await openRawJournal(await filled());
    onTestFinished(() => raw.close());
    const keys = [1, 2, 3].map((n) => encodeKey(['k', n]));
    const hex = keys.map((key) => key.toString('hex'));
    expect(keysOf(await raw.read(undefined))).toEqual(hex);
    expect(keysOf(await raw.read(keys[0]))).toEqual(hex.slice(1));
    expect(keysOf(await raw.read(encodeKey(['k', 2.5])))).toEqual(hex.slice(2));
    expect(await raw.read(keys[2])).toEqual([]);
    expect(await raw.lastVersion()).toBe(1);
    expect([raw.driver, await raw.users(), await raw.faults(3)]).toEqual(['blob-map', [], []]);
  });

  it('are nowhere where there is no store', async () => {
    const there = { code: 'unavailable', message: 'there is no store in this place' };
    await expect(openRawJournal(createBlobMap())).rejects.toMatchObject(there);
    await expect(openHeldJournal(createBlobMap(), clock)).rejects.toMatchObject(there);
  });

  it('are kept from others while they are held', async () => {
    const driver = await filled();
    const held = await openHeldJournal(driver, clock);
    expect(keysOf(await held.read(undefined))).toHaveLength(3);
    await expect(openJournalStore(driver, clock)).rejects.toMatchObject({ code: 'locked' });
    await held.close();
    await (await openJournalStore(driver, clock)).close();
  });
});

describe('a journal that is being filled', () => {
  it('is half copied until it is complete, and a store as any other then', async () => {
    const driver = await filled();
    const incoming = { from: 'other', startedAt: clock.now() };
    const target = await openRawJournalTarget(driver, clock);
    await target.begin(incoming);
    expect(await target.read(undefined)).toEqual([]);
    await target.write([rowOf(7)]);
    await target.write([rowOf(8), rowOf(9)]);
    await target.flush(50);
    expect(await target.lastVersion()).toBe(50);
    expect(await target.read(undefined)).toEqual([rowOf(7), rowOf(8), rowOf(9)]);
    await target.close();

    const half = await openRawJournal(driver);
    expect(half.meta.incoming).toEqual(incoming);
    await half.close();
    await expect(openJournalStore(driver, clock)).rejects.toMatchObject({ code: 'locked' });

    const again = await openRawJournalTarget(driver, clock);
    await again.begin(incoming);
    await again.write([rowOf(7)]);
    await again.flush(60);
    await again.complete();
    await again.close();
    const store = await openJournalStore(driver, clock);
    onTestFinished(() => store.close());
    expect(await store.list({ prefix: [] })).toEqual([{ key: ['k', 7], value: 7, version: '7' }]);
    expect(await store.commit([{ type: 'put', key: ['n'], value: 1 }])).toEqual({
      ok: true,
      version: '61',
    });
  });

  it('keeps its identity', async () => {
    const driver = await filled();
    const before = await openRawJournal(driver);
    const target = await openRawJournalTarget(driver, clock);
    await target.begin({ from: 'other', startedAt: 1 });
    await target.flush(9);
    await target.complete();
    await target.close();
    const behind = await openRawJournal(driver);
    expect(behind.meta).toEqual({ identity: before.meta.identity });
    expect(before.meta.identity).toMatch(/^[0-9a-f-]{36}$/);
  });
});
