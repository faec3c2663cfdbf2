import { execFile } from 'node:child_process';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { open as openLmdb } from 'lmdb';
import { describe, expect, it } from 'vitest';
import { openJournalStore } from '../../src/store/backends/journal/open-journal-store.ts';
import { openStore } from '../../src/store/open-store.ts';
import { openRaw } from '../../src/store/raw/open-raw.ts';
import { temporaryDirectory } from '../conformance/store-kill.ts';
import { verifies } from '../requirements.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { bundleScript } from '../support/process/bundle-script.ts';
import { createBlobMap, type BlobMap } from './support/blob-map.ts';
import { contentOf, expectFormatOneRows, formatOneStore } from './support/format-one.ts';

const run = promisify(execFile);
const runScript = async (name: string, ...args: string[]): Promise<{ stdout: string }> => {
  const script = fileURLToPath(new URL(`support/${name}`, import.meta.url));
  return run(process.execPath, [await bundleScript(script), ...args]);
};
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const DRIVERS = ['lmdb', 'fs'] as const;

async function look(driver: string, path: string): Promise<{ format: number; identity?: string }> {
  const raw = await openRaw({ driver, path }, { clock: createFakeClock(), isHeld: false });
  await raw.close();
  const { identity } = raw.meta;
  return { format: raw.format, ...(identity !== undefined && { identity }) };
}

async function oldStore(driver: 'lmdb' | 'fs'): Promise<string> {
  const path = join(await temporaryDirectory(), driver);
  await formatOneStore(driver, path);
  return path;
}

describe.each(DRIVERS)('a %s store of format 1', (driver) => {
  it(
    verifies('store.migrations', 'is brought forward once, with every row as it was'),
    async () => {
      const path = await oldStore(driver);
      expect(await look(driver, path)).toEqual({ format: 1 });
      const store = await openStore({ driver, path }, { clock: createFakeClock() });
      await expectFormatOneRows(store);
      expect(await store.increment(['count'], 1)).toBe(43);
      await store.close();
      const first = await look(driver, path);
      expect(first).toEqual({ format: 2, identity: expect.stringMatching(UUID) });
      const again = await openStore({ driver, path }, { clock: createFakeClock() });
      expect((await again.get(['count']))?.value).toBe(43);
      await again.close();
      expect(await look(driver, path)).toEqual(first);
    },
  );

  it('is read without being changed', async () => {
    const path = await oldStore(driver);
    const before = await contentOf(path);
    expect(await look(driver, path)).toEqual({ format: 1 });
    expect(await contentOf(path)).toEqual(before);
  });
});

it.each(DRIVERS)('gives each new %s store an identity of its own', async (driver) => {
  const paths = [await temporaryDirectory(), await temporaryDirectory()];
  const identities = await Promise.all(
    paths.map(async (path) => {
      await (await openStore({ driver, path }, { clock: createFakeClock() })).close();
      return (await look(driver, path)).identity;
    }),
  );
  expect(new Set(identities).size).toBe(2);
});

describe('bringing lmdb forward', () => {
  it(
    verifies('store.migrations', 'leaves the old form whole when it is killed before the commit'),
    async () => {
      const path = await oldStore('lmdb');
      const killed = runScript('killed-migration.ts', path);
      await expect(killed).rejects.toMatchObject({ signal: 'SIGKILL' });
      expect(await look('lmdb', path)).toEqual({ format: 1 });
      const store = await openStore({ driver: 'lmdb', path }, { clock: createFakeClock() });
      await expectFormatOneRows(store);
      await store.close();
    },
  );

  it(
    verifies('store.migrations', 'is done by one of the processes that open it at once'),
    async () => {
      const path = await oldStore('lmdb');
      const told = await Promise.all(
        Array.from({ length: 3 }, () => runScript('open-identity.ts', 'lmdb', path)),
      );
      const identities = new Set(told.map(({ stdout }) => stdout.trim()));
      expect([...identities]).toEqual([(await look('lmdb', path)).identity]);
    },
  );

  it(
    verifies('store.migrations', 'refuses a newer store before a byte of it changes'),
    async () => {
      const path = await oldStore('lmdb');
      const root = openLmdb({ path, noSubdir: false, overlappingSync: false });
      await root.openDB('meta', { encoding: 'json' }).put('format', 99);
      await root.close();
      const before = await contentOf(path);
      const refused = { code: 'newer_format', message: expect.stringMatching(/format 99/) };
      const clock = createFakeClock();
      await expect(openStore({ driver: 'lmdb', path }, { clock })).rejects.toMatchObject(refused);
      await expect(look('lmdb', path)).rejects.toMatchObject(refused);
      expect(await contentOf(path)).toEqual(before);
    },
  );
});

/** The blobs of the fixture, in memory. */
async function oldBlobs(): Promise<BlobMap> {
  const path = await oldStore('fs');
  const names = await readdir(path);
  const texts = names.map(
    async (name) => [name, await readFile(join(path, name), 'utf8')] as const,
  );
  return createBlobMap(new Map(await Promise.all(texts)));
}

const unlocked = (driver: BlobMap): Map<string, string> =>
  new Map([...driver.blobs].filter(([name]) => !name.startsWith('lock')));

describe('bringing a journal forward', () => {
  it(
    verifies(
      'store.migrations',
      'leaves the old form whole wherever it is killed before the switch',
    ),
    async () => {
      const old = await oldBlobs();
      const original = new Map(old.blobs);
      const crashes: Map<string, string>[] = [];
      old.beforeWrite = () => void crashes.push(unlocked(old));
      const store = await openJournalStore(old, createFakeClock());
      await store.close();
      expect(crashes.length).toBeGreaterThanOrEqual(3);
      let wasOld = 0;
      for (const blobs of crashes) {
        const isOld = ![...blobs.keys()].some((name) => name.startsWith('snapshot'));
        // What an older release reads stands there, in the form that it knows.
        if (isOld) {
          wasOld++;
          for (const [name, text] of original) expect(blobs.get(name)).toBe(text);
        }
        const again = await openJournalStore(createBlobMap(blobs), createFakeClock());
        await expectFormatOneRows(again);
        await again.close();
      }
      expect(wasOld).toBeGreaterThan(0);
    },
  );

  it('gives the store back to the old release when it cannot be written', async () => {
    const old = await oldBlobs();
    old.beforeWrite = (name) => {
      if (!name.startsWith('lock')) throw Object.assign(new Error('full'), { code: 'ENOSPC' });
    };
    const opening = openJournalStore(old, createFakeClock());
    await expect(opening).rejects.toMatchObject({ code: 'full' });
    for (const text of old.blobs.values()) expect(text).toMatch(/^gateway-store 1 /);
  });

  it(
    verifies('store.migrations', 'refuses a newer store before a byte of it changes'),
    async () => {
      const path = await oldStore('fs');
      const body = '{"last":"","lastVersion":9,"parts":[]}';
      const newer = `gateway-store 99 ${'0'.repeat(32)}\n${body}`;
      await writeFile(join(path, 'snapshot-000000000009-0123abcd'), newer);
      const before = await contentOf(path);
      const refused = { code: 'newer_format', message: expect.stringMatching(/format 99/) };
      const clock = createFakeClock();
      await expect(openStore({ driver: 'fs', path }, { clock })).rejects.toMatchObject(refused);
      await expect(look('fs', path)).rejects.toMatchObject(refused);
      expect(await contentOf(path)).toEqual(before);
    },
  );
});
