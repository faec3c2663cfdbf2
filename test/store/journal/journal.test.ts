import { readFile } from 'node:fs/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createHostLiveness } from '../../../src/core/liveness.ts';
import { openJournalStore } from '../../../src/store/backends/journal/open-journal-store.ts';
import { createBlobs } from '../../../src/store/backends/journal/blobs.ts';
import { acquireLease } from '../../../src/store/backends/journal/lease.ts';
import type { Op, Store } from '../../../src/store/store.ts';
import { until } from '../../conformance/store.ts';
import { verifies } from '../../requirements.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { createBlobMap, type BlobMap } from '../support/blob-map.ts';

const HOUR = 3_600_000;
const put = (key: string, value: unknown): Op => ({ type: 'put', key: [key], value });
const names = (driver: BlobMap, kind: string): string[] =>
  [...driver.blobs.keys()].filter((name) => name.startsWith(kind)).toSorted();

async function open(driver: BlobMap, clock = createFakeClock()): Promise<Store> {
  const store = await openJournalStore(driver, clock);
  onTestFinished(() => store.close());
  return store;
}

/** The blobs as a process leaves them that is killed here. */
function killed(driver: BlobMap): BlobMap {
  const locks = new Set(names(driver, 'lock'));
  return createBlobMap(new Map([...driver.blobs].filter(([name]) => !locks.has(name))));
}

async function values(store: Store): Promise<unknown[]> {
  return (await store.list({ prefix: [], limit: 10_000 })).map((entry) => entry.value);
}

describe('journal', () => {
  it(
    verifies('store.disk-full', 'rejects while the driver fails, stays readable, and recovers'),
    async () => {
      const driver = createBlobMap();
      const store = await open(driver);
      await store.commit([put('a', 1)]);
      driver.beforeWrite = () => {
        throw Object.assign(new Error('no space left'), { code: 'ENOSPC' });
      };
      const refused = { name: 'StoreError', code: 'full' };
      await expect(store.commit([put('a', 2), put('b', 2)])).rejects.toMatchObject(refused);
      await expect(store.increment(['n'], 1)).rejects.toMatchObject(refused);
      await expect(store.ping()).rejects.toMatchObject(refused);
      expect(await values(store)).toEqual([1]);
      driver.beforeWrite = undefined;
      await store.ping();
      expect(await store.commit([put('b', 3)])).toMatchObject({ ok: true });
      expect(await values(store)).toEqual([1, 3]);
      expect(await values(await open(killed(driver)))).toEqual([1, 3]);
    },
  );

  it('passes over a write that failed and landed all the same, once another was acknowledged', async () => {
    const driver = createBlobMap();
    const store = await open(driver);
    await store.commit([put('a', 'first')]);
    driver.setItem = (name, text) => {
      driver.blobs.set(name, text);
      throw new Error('connection lost');
    };
    const create = (value: string): Op => ({ type: 'put', key: ['b'], value, ifAbsent: true });
    await expect(store.commit([create('lost')])).rejects.toMatchObject({ code: 'unavailable' });
    driver.setItem = (name, text) => void driver.blobs.set(name, text);
    expect(await store.commit([create('won')])).toMatchObject({ ok: true });
    expect(await values(await open(killed(driver)))).toEqual(['first', 'won']);
  });

  it('ignores a torn tail, whatever is left of it', async () => {
    const driver = createBlobMap();
    const store = await open(driver);
    await store.commit([put('a', 1)]);
    await store.commit([put('b', 2), put('c', 3)]);
    const last = names(driver, 'journal').at(-1) ?? '';
    const text = driver.blobs.get(last) ?? '';
    for (let length = 0; length < text.length; length += 7) {
      const torn = killed(driver);
      torn.blobs.set(last, text.slice(0, length));
      const again = await open(torn);
      expect(await values(again)).toEqual([1]);
      await again.commit([put('d', 4)]);
      expect(await values(await open(killed(torn)))).toEqual([1, 4]);
    }
  });

  it('refuses a last blob that was changed, since what it holds was acknowledged', async () => {
    const driver = createBlobMap();
    const store = await open(driver);
    await store.commit([put('a', 1)]);
    await store.commit([put('b', 2)]);
    const last = names(driver, 'journal').at(-1) ?? '';
    const text = driver.blobs.get(last) ?? '';
    for (let at = text.lastIndexOf('\n') + 1; at < text.length; at += 3) {
      const flipped = killed(driver);
      flipped.blobs.set(last, `${text.slice(0, at)}~${text.slice(at + 1)}`);
      const message = expect.stringMatching(
        /was changed; restore a backup: `gateway store restore/,
      );
      await expect(open(flipped)).rejects.toMatchObject({ code: 'corrupt', message });
    }
  });

  it('refuses snapshots of which none can be read, where the journal begins behind them', async () => {
    const driver = createBlobMap();
    const store = await open(driver);
    for (let i = 0; i < 600; i++) await store.commit([put('k', i)]);
    await until(() => names(driver, 'part').length > 0 && names(driver, 'journal').length < 500);
    const flipped = killed(driver);
    for (const name of [...names(driver, 'snapshot'), ...names(driver, 'journal')])
      flipped.blobs.delete(name);
    await expect(open(flipped)).rejects.toMatchObject({ code: 'corrupt' });
  });

  it('refuses a journal with a hole instead of losing what was acknowledged', async () => {
    const driver = createBlobMap();
    const store = await open(driver);
    for (let i = 0; i < 3; i++) await store.commit([put('k', i)]);
    const [first, second] = names(driver, 'journal');
    for (const name of [first, second]) {
      const damaged = killed(driver);
      damaged.blobs.delete(name ?? '');
      await expect(open(damaged)).rejects.toMatchObject({ code: 'corrupt' });
      // The refusal gives the lock back.
      await expect(open(damaged)).rejects.toMatchObject({ code: 'corrupt' });
    }
  });

  it('refuses a newer format and leaves its data', async () => {
    const driver = createBlobMap();
    const store = await open(driver);
    await store.commit([put('a', 1)]);
    const [name = ''] = names(driver, 'journal');
    const newer = killed(driver);
    const text = (driver.blobs.get(name) ?? '').replace(/^gateway-store \d+/, 'gateway-store 99');
    newer.blobs.set(name, text);
    await expect(open(newer)).rejects.toMatchObject({ code: 'newer_format' });
    expect(newer.blobs.get(name)).toBe(text);
  });

  it('folds the journal into snapshots and survives a crash between any two writes of one', async () => {
    const driver = createBlobMap();
    const store = await open(driver);
    const state = new Map<string, unknown>();
    const crashes: [BlobMap, unknown[]][] = [];
    driver.beforeWrite = (name) => {
      if (/^(part|snapshot)/.test(name)) crashes.push([killed(driver), []]);
    };
    for (let i = 0; i < 1_100; i++) {
      const key = `k${String(i % 50).padStart(2, '0')}`;
      state.set(key, i);
      await store.commit([put(key, i), { type: 'delete', key: [`d${i}`] }]);
    }
    await until(() => names(driver, 'journal').length < 1_000);
    expect(crashes.length).toBeGreaterThanOrEqual(4);
    for (const [blobs] of crashes) expect(await values(await open(blobs))).toHaveLength(50);
    const again = await open(killed(driver));
    expect(await values(again)).toEqual(
      Array.from(state.keys())
        .toSorted()
        .map((key) => state.get(key)),
    );
    expect(names(driver, 'snapshot')).toHaveLength(1);
  });

  it('takes up where a snapshot was torn', async () => {
    const driver = createBlobMap();
    const store = await open(driver);
    driver.beforeWrite = (name) => {
      if (name.startsWith('snapshot')) throw new Error('interrupted');
    };
    for (let i = 0; i < 520; i++) await store.commit([put('k', i)]);
    expect(names(driver, 'part').length).toBeGreaterThan(0);
    expect(await values(await open(killed(driver)))).toEqual([519]);
  });
});

describe('lock of a journal', () => {
  it(
    verifies('store.scope-refusal', 'refuses a second process and names what allows one'),
    async () => {
      const driver = createBlobMap();
      const clock = createFakeClock();
      const store = await open(driver, clock);
      await store.commit([put('a', 1)]);
      clock.advance(60_000);
      await store.ping();
      await expect(openJournalStore(driver, clock)).rejects.toMatchObject({
        code: 'locked',
        message: expect.stringMatching(/for several processes on one host use lmdb/),
      });
      expect(await store.commit([put('a', 2)])).toMatchObject({ ok: true });
    },
  );

  it('is taken over when it ran out, and the sleeper may not write any more', async () => {
    const driver = createBlobMap();
    const sleeper = await open(driver);
    await sleeper.commit([put('a', 'sleeper')]);
    const later = createFakeClock(Date.UTC(2026, 10, 21) + 20_000);
    const successor = await open(driver, later);
    await successor.commit([put('a', 'successor')]);
    await expect(sleeper.ping()).rejects.toMatchObject({ code: 'locked' });
    await expect(sleeper.commit([put('a', 'late')])).rejects.toMatchObject({ code: 'locked' });
    expect(await values(sleeper)).toEqual(['sleeper']);
    await sleeper.close();
    await successor.close();
    expect(await values(await open(driver, later))).toEqual(['successor']);
  });

  it.runIf(createHostLiveness() !== undefined)(
    'is held by a process that is seen to live, and by no other, whatever the clock says',
    async () => {
      const clock = createFakeClock();
      const driver = createBlobMap();
      const { release } = await acquireLease(createBlobs(driver), clock, 'aaaaaaaa');
      const [name = ''] = names(driver, 'lock');
      const lock = JSON.parse((await createBlobs(driver).read(name)) ?? '');
      await release();
      const parent = await readFile(`/proc/${process.ppid}/stat`, 'latin1');
      const started = parent.slice(parent.lastIndexOf(')') + 2).split(' ')[19];
      const heldBy = async (place: object): Promise<BlobMap> => {
        const other = createBlobMap();
        const row = { ...lock, pid: process.ppid, place: { ...lock.place, ...place } };
        await createBlobs(other).write(name, JSON.stringify(row));
        return other;
      };
      for (const ms of [2 * HOUR, 400 * 24 * HOUR].flatMap((far) => [far, -far])) {
        const stepped = createFakeClock(clock.now() + ms);
        const living = createBlobs(await heldBy({ pid: process.ppid, started }));
        await expect(acquireLease(living, stepped, 'bbbbbbbb')).rejects.toMatchObject({
          code: 'locked',
        });
        const dead = createBlobs(await heldBy({ pid: process.ppid, started: '1' }));
        await (await acquireLease(dead, stepped, 'bbbbbbbb')).release();
      }
    },
  );

  it('lets at most one of several through that come at once', async () => {
    const driver = createBlobMap();
    const results = await Promise.allSettled(Array.from({ length: 4 }, () => open(driver)));
    const opened = results.filter((result) => result.status === 'fulfilled');
    expect(opened.length).toBeLessThanOrEqual(1);
    for (const result of results) {
      if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'locked' });
    }
  });

  it('is free at once when its holder was closed, and leaves one blob behind', async () => {
    const driver = createBlobMap();
    const clock = createFakeClock();
    const store = await openJournalStore(driver, clock);
    for (let i = 0; i < 5; i++) await store.ping();
    await store.close();
    await (await openJournalStore(driver, clock)).close();
    expect(names(driver, 'lock')).toHaveLength(1);
  });
});
