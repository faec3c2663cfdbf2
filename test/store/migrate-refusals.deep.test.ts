import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openStore } from '../../src/store/open-store.ts';
import { migrateStore, type MigrateOptions } from '../../src/store/raw/migrate-store.ts';
import { openRawTarget } from '../../src/store/raw/open-raw.ts';
import type { StoreConfig } from '../../src/store/store-config.ts';
import type { Op, Store } from '../../src/store/store.ts';
import { verifies } from '../requirements.ts';
import { inTurn } from '../runs.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { runScript } from './support/run-script.ts';
import { spawnWriter } from './support/spawn-writer.ts';
import { storePlaces } from './support/store-places.ts';

const places = storePlaces();
const clock = createFakeClock();
const LEASES = ['worker'];
const ROWS = 5_000;
/** When all is copied but not yet compared, or in the copy: one of them on each driver. */
const STEPS: Readonly<Record<string, string>> = { lmdb: '8', fs: '2', redis: '8', postgres: '2' };
const HOUR = 3_600_000;

const put = (n: number): Op => ({ type: 'put', key: ['row', n], value: `value ${n}` });

async function open(config: StoreConfig): Promise<Store> {
  const store = await openStore(config, { clock });
  onTestFinished(() => store.close());
  return store;
}

async function filled(driver: string, rows = 3): Promise<StoreConfig> {
  const config = await places.fresh(driver);
  const store = await openStore(config, { clock });
  for (let from = 0; from < rows; from += 1_000) {
    const count = Math.min(1_000, rows - from);
    await store.commit(Array.from({ length: count }, (_, index) => put(from + index)));
  }
  await store.close();
  return config;
}

function options(from: StoreConfig, to: StoreConfig, changes: Partial<MigrateOptions> = {}) {
  const { signal } = new AbortController();
  const ignore = (): void => undefined;
  return { from, to, clock, leases: LEASES, signal, onRows: ignore, onCopied: ignore, ...changes };
}

describe.each(inTurn('killed migrations', places.drivers).map((driver) => ({ driver })))(
  'a migration to $driver',
  ({ driver }) => {
    it(
      verifies('store.migrate', 'that is killed leaves nothing that opens, and can be done again'),
      async () => {
        const from = await filled('lmdb', ROWS);
        const to = await places.fresh(driver);
        const given = JSON.stringify({ from, to, leases: LEASES });
        const { signal } = await runScript('dying-work.ts', ['migrate', given, STEPS[driver]!]);
        expect(signal).toBe('SIGKILL');
        const refused = { code: 'locked', message: expect.stringMatching(/half copied/) };
        await expect(openStore(to, { clock })).rejects.toMatchObject(refused);
        expect(await migrateStore(options(from, to))).toMatchObject({ rows: ROWS });
        const store = await open(to);
        expect((await store.get(['row', ROWS - 1]))?.value).toBe(`value ${ROWS - 1}`);
      },
    );
  },
);

describe.each(places.drivers.map((driver) => ({ driver })))(
  'a migration to $driver',
  ({ driver }) => {
    it('is refused where rows are, or while a process uses it', async () => {
      const from = await filled('lmdb');
      const to = await filled(driver);
      const refused = { code: 'locked', message: expect.stringMatching(/not empty/) };
      await expect(migrateStore(options(from, to))).rejects.toMatchObject(refused);
      const empty = await places.fresh(driver);
      const store = await openStore(empty, { clock });
      const used = { code: 'locked', message: expect.stringMatching(/in use by/) };
      await expect(migrateStore(options(from, empty))).rejects.toMatchObject(used);
      await store.close();
      expect(await migrateStore(options(from, empty))).toMatchObject({ rows: 3 });
    });

    it('is refused while a process uses the source', async () => {
      const from = await filled(driver);
      const store = await openStore(from, { clock });
      const to = await places.fresh('lmdb');
      const used = { code: 'locked', message: expect.stringMatching(/in use by/) };
      await expect(migrateStore(options(from, to))).rejects.toMatchObject(used);
      await store.commit([
        { type: 'put', key: ['worker', 'w1'], value: { since: 1 }, ttlMs: 15_000 },
      ]);
      await store.close();
      const recent = { code: 'locked', message: expect.stringMatching(/15 seconds/) };
      await expect(migrateStore(options(from, to))).rejects.toMatchObject(recent);
      clock.advance(15_000);
      expect(await migrateStore(options(from, to))).toMatchObject({ rows: 4 });
    });
  },
);

describe('a migration', () => {
  it.skipIf(!places.drivers.includes('postgres'))(
    verifies('store.migrate', 'copies thousands of rows in bounded steps, there and back'),
    async () => {
      const from = await filled('lmdb', ROWS);
      const [there, back] = [await places.fresh('postgres'), await places.fresh('redis')];
      let last = 0;
      let largest = 0;
      const onRows = (rows: number): void => {
        largest = Math.max(largest, rows - last);
        last = rows;
      };
      const first = await migrateStore(options(from, there, { onRows }));
      expect(largest).toBeLessThanOrEqual(1_000);
      expect(first.rows).toBe(ROWS);
      const second = await migrateStore(options(there, back));
      expect(second.checksum).toBe(first.checksum);
    },
  );

  it('names the process that has the source open', async () => {
    const from = await places.fresh('lmdb');
    const writer = spawnWriter('lmdb', from.path ?? '', 'w');
    await writer.reached(1);
    const used = { message: expect.stringMatching(/source is in use by process \d+/) };
    await expect(migrateStore(options(from, await places.fresh('fs')))).rejects.toMatchObject(used);
    await writer.kill();
  });

  it(
    verifies('store.migrate', 'is not said to be done when the source changes under it'),
    async () => {
      const from = await filled('lmdb');
      const to = await places.fresh('fs');
      // A writer that tells nobody: only the comparison can find what it did.
      const silent = await openRawTarget(from, clock);
      onTestFinished(() => silent.close());
      const key = Buffer.from([0x20, 0x7a, 0]);
      const row = { key, envelope: Buffer.from('j1'), version: 9, expiresAt: Infinity };
      const writing = options(from, to, { onCopied: () => void silent.write([row]) });
      await expect(migrateStore(writing)).rejects.toMatchObject({
        code: 'corrupt',
        message: expect.stringMatching(/source changed.*3 rows.*4 rows|4 rows.*3 rows/),
      });
      await expect(openStore(to, { clock })).rejects.toMatchObject({ code: 'locked' });
      expect(await migrateStore(options(from, to))).toMatchObject({ rows: 4 });
    },
  );

  it('is refused into itself, by whatever name, and over half a copy of another store', async () => {
    const from = await filled('lmdb');
    const path = join(dirname(from.path ?? ''), 'link');
    await symlink(from.path ?? '', path);
    const same = { code: 'locked', message: expect.stringMatching(/same store/) };
    await expect(migrateStore(options(from, from))).rejects.toMatchObject(same);
    await expect(migrateStore(options(from, { ...from, path }))).rejects.toMatchObject(same);
    const half = await places.fresh('fs');
    const target = await openRawTarget(half, clock);
    await target.begin({ from: 'another', startedAt: 0 });
    await target.close();
    const other = { code: 'locked', message: expect.stringMatching(/from another store/) };
    await expect(migrateStore(options(from, half))).rejects.toMatchObject(other);
    const source = { code: 'locked', message: expect.stringMatching(/itself half copied/) };
    await expect(migrateStore(options(half, await places.fresh('lmdb')))).rejects.toMatchObject(
      source,
    );
  });

  it.each([2 * HOUR, 400 * 24 * HOUR])(
    'waits for no lease of a killed gateway whose clock was ahead by %i ms',
    async (ms) => {
      const config = await places.fresh('lmdb');
      const store = await openStore(config, { clock });
      const lease: Op = { type: 'put', key: [...LEASES, 'killed'], value: 1, ttlMs: 15_000 };
      await store.commit([lease]);
      const held = { code: 'locked', message: expect.stringMatching(/a few seconds ago/) };
      await store.close();
      await expect(migrateStore(options(config, await places.fresh('fs')))).rejects.toMatchObject(
        held,
      );
      const later = createFakeClock(clock.now() + ms);
      const ahead = await openStore(config, { clock: later });
      await ahead.commit([lease]);
      await ahead.close();
      expect(await migrateStore(options(config, await places.fresh('fs')))).toMatchObject({
        rows: 1,
      });
    },
  );

  it(verifies('store.migrate', 'is not said to be done when rows cannot be read'), async () => {
    const from = await filled('lmdb', 100);
    const file = join(from.path ?? '', 'data.mdb');
    const damaged = await readFile(file);
    for (let at = damaged.indexOf('value 1'); at >= 0; at = damaged.indexOf('value 1', at + 1))
      damaged[at - 1] = '?'.charCodeAt(0);
    await writeFile(file, damaged);
    const to = await places.fresh('fs');
    const broken = { code: 'corrupt', message: expect.stringMatching(/gateway store restore/) };
    await expect(migrateStore(options(from, to))).rejects.toMatchObject(broken);
    await expect(openStore(to, { clock })).rejects.toMatchObject({ code: 'locked' });
  });

  it('makes nothing of a source that is not there', async () => {
    for (const driver of places.drivers) {
      const from = await places.fresh(driver);
      if (driver === 'fs') await mkdir(from.path ?? '', { recursive: true });
      const absent = { code: 'unavailable', message: expect.stringMatching(/there is no store/) };
      await expect(migrateStore(options(from, await places.fresh('fs')))).rejects.toMatchObject(
        absent,
      );
    }
    const memory = migrateStore(options({ driver: 'memory' }, await places.fresh('fs')));
    await expect(memory).rejects.toMatchObject({ code: 'unavailable' });
  });
});
