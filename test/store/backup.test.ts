import { rmSync } from 'node:fs';
import { cp, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
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
      const place = await site();
      const { store, media, backup } = place;
      let ended = 'killed';
      let survived = 0;
      for (let steps = 1; ended === 'killed'; steps += 2) {
        const options = JSON.stringify({ store, media, target: backup });
        const { signal, stdout } = await runScript('dying-work.ts', [
          'backUp',
          options,
          String(steps),
        ]);
        ended = signal === 'SIGKILL' ? 'killed' : stdout;
        if (ended !== 'killed') break;
        survived++;
        expect(await readdir(place.root)).not.toContain('backup');
        for (const name of (await readdir(place.root)).filter((name) => name.includes('partial'))) {
          const from = join(place.root, name);
          const refused = { code: 'unavailable', message: expect.stringMatching(/no backup/) };
          await expect(restore({ ...restoreOf(place, true), from })).rejects.toMatchObject(refused);
        }
      }
      expect(ended).toBe('done');
      expect(survived).toBeGreaterThanOrEqual(2);
      expect((await verifyBackup(backup, work)).problems).toEqual([]);
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
      const original = join(place.root, 'original');
      await cp(place.store, original, { recursive: true });
      let ended = 'killed';
      const seen: unknown[] = [];
      for (let steps = 1; ended === 'killed'; steps += 2) {
        await rm(place.store, { recursive: true });
        await cp(original, place.store, { recursive: true });
        const { store, media, backup: from } = place;
        const options = JSON.stringify({ from, store, media, replace: true });
        const { signal, stdout } = await runScript('dying-work.ts', [
          'restore',
          options,
          String(steps),
        ]);
        ended = signal === 'SIGKILL' ? 'killed' : stdout;
        seen.push(await rowOf(store));
      }
      expect(ended).toBe('done');
      expect(seen.length).toBeGreaterThanOrEqual(3);
      expect(seen.slice(0, -1)).toEqual(seen.slice(0, -1).map(() => 'new'));
      expect(seen.at(-1)).toBe('old');
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
