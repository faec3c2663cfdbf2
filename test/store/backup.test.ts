import { cpSync, rmSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { backUp, type BackUpOptions } from '../../src/store/backends/lmdb/backup/back-up.ts';
import { restore, type RestoreOptions } from '../../src/store/backends/lmdb/backup/restore.ts';
import { verifyBackup } from '../../src/store/backends/lmdb/backup/verify-backup.ts';
import { openStore } from '../../src/store/open-store.ts';
import type { Store } from '../../src/store/store.ts';
import { expectWhole, temporaryDirectory } from '../conformance/store-kill.ts';
import { verifies } from '../requirements.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { formatOneStore, expectFormatOneRows } from './support/format-one.ts';
import { runScript } from './support/run-script.ts';
import { spawnWriter } from './support/spawn-writer.ts';

const clock = createFakeClock();
const ignore = (): void => undefined;
const work = { signal: new AbortController().signal, onRows: ignore, onBytes: ignore, clock };

interface Site {
  readonly root: string;
  readonly store: string;
  readonly media: string;
  readonly backup: string;
}

/** A store with one row and a folder of media. */
async function site(value = 'old'): Promise<Site> {
  const root = await temporaryDirectory();
  const [store, media] = [join(root, 'store'), join(root, 'media')];
  await writeRow(store, value);
  await mkdir(join(media, 'media', 'asset_1'), { recursive: true });
  await writeFile(join(media, 'media', 'asset_1', '0'), 'a picture');
  return { root, store, media, backup: join(root, 'backup') };
}

async function open(path: string): Promise<Store> {
  const store = await openStore({ driver: 'lmdb', path }, { clock });
  onTestFinished(() => store.close());
  return store;
}

async function writeRow(path: string, value: string): Promise<void> {
  const store = await openStore({ driver: 'lmdb', path }, { clock });
  await store.commit([{ type: 'put', key: ['k'], value }]);
  await store.close();
}

async function rowOf(path: string): Promise<unknown> {
  const store = await openStore({ driver: 'lmdb', path }, { clock });
  const entry = await store.get(['k']);
  await store.close();
  return entry?.value;
}

const backUpOf = ({ store, media, backup }: Site): BackUpOptions => ({
  ...work,
  store,
  media,
  target: backup,
});
const restoreOf = ({ store, media, backup }: Site, replace = false): RestoreOptions => ({
  ...work,
  from: backup,
  store,
  media,
  replace,
});

type Steps = Pick<BackUpOptions, 'clock' | 'onRows' | 'onBytes'>;

/** Copies of the site as a kill leaves it, one for each step that the work reports. */
async function statesOf(
  { root }: Site,
  run: (steps: Steps) => Promise<unknown>,
): Promise<string[]> {
  const kept = await temporaryDirectory();
  const states: string[] = [];
  const step = (): void => {
    const state = join(kept, String(states.length));
    cpSync(root, state, { recursive: true });
    states.push(state);
  };
  const now = (): number => {
    step();
    return clock.now();
  };
  await run({ clock: { ...clock, now }, onRows: step, onBytes: step });
  expect(states.length).toBeGreaterThan(2);
  return states;
}

/** The same work in a process that dies at one of the steps. */
async function killAt(step: number, name: string, options: object): Promise<void> {
  const args = [name, JSON.stringify(options), String(step)];
  expect((await runScript('dying-work.ts', args)).signal).toBe('SIGKILL');
}

describe('a backup', () => {
  it(
    verifies(
      'store.backup-restore',
      'holds every write acknowledged before it, while processes write',
    ),
    async () => {
      const { root, store, backup } = await site();
      const writers = ['first', 'second'].map((name) => spawnWriter('lmdb', store, name));
      await Promise.all(writers.map((writer) => writer.reached(200)));
      const before = writers.map(({ acknowledged }) => [...acknowledged]);
      await backUp({ ...work, store, media: undefined, target: backup });
      // They wrote on meanwhile.
      await Promise.all(writers.map((writer, i) => writer.reached(before[i]!.length + 50)));
      await Promise.all(writers.map((writer) => writer.kill()));
      const copy = join(root, 'copy');
      const { formerStore } = await restore({
        ...work,
        from: backup,
        store: copy,
        media: join(root, 'media-of-copy'),
        replace: false,
      });
      expect(formerStore).toBeUndefined();
      const restored = await open(copy);
      await expectWhole(restored, 'first', before[0]!);
      await expectWhole(restored, 'second', before[1]!);
    },
  );

  it('copies media behind the store, and nothing of a key', async () => {
    const place = await site();
    await writeFile(join(place.root, 'master.key'), 'secret');
    const { files, store } = await backUp(backUpOf(place));
    expect(files.map(({ path }) => path)).toEqual(['store/data.mdb', 'media/media/asset_1/0']);
    expect(store).toMatchObject({ rows: 1, identity: expect.any(String) });
    expect((await readdir(place.backup, { recursive: true })).toSorted()).toEqual([
      'backup.json',
      'media',
      'media/media',
      'media/media/asset_1',
      'media/media/asset_1/0',
      'store',
      'store/data.mdb',
    ]);
    expect((await stat(place.backup)).mode & 0o777).toBe(0o700);
    expect((await stat(join(place.backup, 'store/data.mdb'))).mode & 0o777).toBe(0o600);
    const report = await verifyBackup(place.backup, work);
    expect(report).toMatchObject({ problems: [], store: { segments: { k: 1 } } });
  });

  it('leaves a store of an older format as it is, and brings the restored one forward', async () => {
    const place = await site();
    const old = join(place.root, 'older');
    await formatOneStore('lmdb', old);
    const before = await readFile(join(old, 'data.mdb'), 'hex');
    const { store } = await backUp({ ...backUpOf(place), store: old });
    expect(store).toMatchObject({ format: 1, identity: null, rows: 6 });
    expect(await readFile(join(old, 'data.mdb'), 'hex')).toBe(before);
    await restore(restoreOf(place, true));
    await expectFormatOneRows(await open(place.store));
  });

  it('goes on without a file of media that is deleted meanwhile', async () => {
    const place = await site();
    const gone = join(place.media, 'media', 'asset_2');
    await mkdir(gone);
    await writeFile(join(gone, '0'), 'another picture');
    const onBytes = (): void => rmSync(gone, { recursive: true, force: true });
    const { files } = await backUp({ ...backUpOf(place), onBytes });
    expect(files.map(({ path }) => path)).toEqual(['store/data.mdb', 'media/media/asset_1/0']);
    expect(await verifyBackup(place.backup, work)).toMatchObject({ problems: [] });
  });

  it(
    verifies('store.backup-restore', 'is refused where calls of a killed gateway are not stored'),
    async () => {
      const place = await site();
      await mkdir(join(place.store, 'ledger'));
      await writeFile(join(place.store, 'ledger', '1.wal'), 'a call');
      const refused = { code: 'locked', message: expect.stringContaining('was killed') };
      await expect(backUp(backUpOf(place))).rejects.toMatchObject(refused);
      expect((await readdir(place.root)).toSorted()).toEqual(['media', 'store']);
    },
  );

  it('is not written where something is', async () => {
    const place = await site();
    await mkdir(place.backup);
    await writeFile(join(place.backup, 'mine'), 'x');
    const refused = { code: 'unavailable', message: expect.stringMatching(/not empty/) };
    await expect(backUp(backUpOf(place))).rejects.toMatchObject(refused);
    expect(await readdir(place.backup)).toEqual(['mine']);
    await rm(join(place.backup, 'mine'));
    await backUp(backUpOf(place));
  });

  it('leaves nothing when it fails or there is nothing to copy', async () => {
    const place = await site();
    const absent = { ...backUpOf(place), store: join(place.root, 'absent') };
    await expect(backUp(absent)).rejects.toMatchObject({ code: 'unavailable' });
    const inFile = join(place.media, 'media', 'asset_1', '0', 'backup');
    const barred = { ...backUpOf(place), target: inFile };
    await expect(backUp(barred)).rejects.toMatchObject({ code: 'unavailable' });
    expect((await readdir(place.root)).toSorted()).toEqual(['media', 'store']);
  });

  it('leaves nothing on a full disk', async () => {
    const place = await site();
    const store = await open(place.store);
    const value = 'x'.repeat(2_000_000);
    await store.commit([{ type: 'put', key: ['large'], value }]);
    await store.close();
    const { media, backup: target } = place;
    const options = JSON.stringify({ store: place.store, media, target });
    const { stdout } = await runScript('dying-work.ts', ['backUp', options, ''], {
      fileBlocks: 1_024,
    });
    expect(['full', 'unavailable']).toContain(stdout);
    expect((await readdir(place.root)).toSorted()).toEqual(['media', 'store']);
  });

  it(
    verifies(
      'store.backup-restore',
      'that is killed anywhere leaves nothing that is taken for one',
    ),
    async () => {
      const expectNone = async ({ root, ...place }: Site): Promise<void> => {
        const names = await readdir(root);
        expect(names).not.toContain('backup');
        for (const name of names.filter((one) => one.includes('partial'))) {
          const from = join(root, name);
          const refused = { code: 'unavailable', message: expect.stringMatching(/no backup/) };
          await expect(
            restore({ ...restoreOf({ root, ...place }, true), from }),
          ).rejects.toMatchObject(refused);
        }
      };
      const place = await site();
      const states = await statesOf(place, (steps) => backUp({ ...backUpOf(place), ...steps }));
      for (const root of states) await expectNone({ ...place, root });
      expect((await verifyBackup(place.backup, work)).problems).toEqual([]);

      const other = await site();
      const { store, media, backup: target } = other;
      for (const step of [2, states.length]) {
        await killAt(step, 'backUp', { store, media, target });
        await expectNone(other);
      }
      await backUp(backUpOf(other));
      expect((await verifyBackup(target, work)).problems).toEqual([]);
    },
  );
});

describe('restoring', () => {
  it(
    verifies(
      'store.backup-restore',
      'moves the store that is there aside, and names where it lies',
    ),
    async () => {
      const place = await site();
      await backUp(backUpOf(place));
      await writeRow(place.store, 'new');
      await rm(join(place.media, 'media'), { recursive: true });
      const refused = { code: 'locked', message: expect.stringMatching(/--replace/) };
      await expect(restore(restoreOf(place))).rejects.toMatchObject(refused);
      expect(await rowOf(place.store)).toBe('new');
      const { formerStore = '' } = await restore(restoreOf(place, true));
      expect(await rowOf(place.store)).toBe('old');
      expect(await rowOf(formerStore)).toBe('new');
      expect(await readFile(join(place.media, 'media', 'asset_1', '0'), 'utf8')).toBe('a picture');
    },
  );

  it('leaves writes that were not stored yet with the store to which they belong', async () => {
    const place = await site();
    await backUp(backUpOf(place));
    await mkdir(join(place.store, 'ledger'));
    await writeFile(join(place.store, 'ledger', '1.wal'), 'a call');
    const { formerStore = '' } = await restore(restoreOf(place, true));
    expect(await readFile(join(formerStore, 'ledger', '1.wal'), 'utf8')).toBe('a call');
    expect(await readdir(place.store)).not.toContain('ledger');
  });

  it('is refused while a process has the store open, which it names', async () => {
    const place = await site();
    await backUp(backUpOf(place));
    const writer = spawnWriter('lmdb', place.store, 'w');
    await writer.reached(1);
    const refused = { code: 'locked', message: expect.stringMatching(/process \d+ has .*open/) };
    await expect(restore(restoreOf(place, true))).rejects.toMatchObject(refused);
    await writer.kill();
    expect((await readdir(place.root)).toSorted()).toEqual(['backup', 'media', 'store']);
    await restore(restoreOf(place, true));
    expect(await rowOf(place.store)).toBe('old');
  });

  it(
    verifies('store.backup-restore', 'that is killed anywhere leaves the old store or the new one'),
    async () => {
      const place = await site();
      await backUp(backUpOf(place));
      await writeRow(place.store, 'new');
      const { store, media, backup: from } = place;
      const states = await statesOf(place, (steps) =>
        restore({ ...restoreOf(place, true), ...steps }),
      );
      for (const root of states) expect(await rowOf(join(root, 'store'))).toBe('new');
      expect(await rowOf(store)).toBe('old');

      await writeRow(store, 'new');
      for (const step of [2, states.length]) {
        await killAt(step, 'restore', { from, store, media, replace: true });
        expect(await rowOf(store)).toBe('new');
      }
      await restore(restoreOf(place, true));
      expect(await rowOf(store)).toBe('old');
    },
  );

  it(
    verifies(
      'store.backup-restore',
      'is refused for a backup in which a byte is another, or a file gone',
    ),
    async () => {
      const place = await site();
      const { files } = await backUp(backUpOf(place));
      await writeRow(place.store, 'new');
      for (const { path } of files) {
        const file = join(place.backup, path);
        const content = await readFile(file);
        const damaged = Buffer.from(content);
        damaged.writeUInt8(damaged.readUInt8(damaged.length - 5) ^ 1, damaged.length - 5);
        for (const change of [() => writeFile(file, damaged), () => rm(file)]) {
          await change();
          const { problems } = await verifyBackup(place.backup, work);
          expect(problems).toMatchObject([{ where: path }]);
          await expect(restore(restoreOf(place, true))).rejects.toMatchObject({ code: 'corrupt' });
          await writeFile(file, content);
        }
      }
      const manifest = join(place.backup, 'backup.json');
      const text = await readFile(manifest, 'utf8');
      const hostile = text.replace('media/media/asset_1/0', '../../escaped');
      for (const broken of [text.slice(0, -20), '{}', hostile, hostile.replace('../../', '/')]) {
        await writeFile(manifest, broken);
        await expect(restore(restoreOf(place, true))).rejects.toMatchObject({ code: 'corrupt' });
      }
      await writeFile(manifest, text.replace('"format": 1', '"format": 9'));
      await expect(restore(restoreOf(place))).rejects.toMatchObject({ code: 'newer_format' });
      expect(await rowOf(place.store)).toBe('new');
      expect((await readdir(place.root)).toSorted()).toEqual(['backup', 'media', 'store']);
    },
  );
});
