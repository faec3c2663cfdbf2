import { createHash } from 'node:crypto';
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { open as openLmdb } from 'lmdb';
import { describe, expect, it } from 'vitest';
import { openStore } from '../../src/store/open-store.ts';
import type { StoreConfig } from '../../src/store/store-config.ts';
import { temporaryDirectory } from '../conformance/store-kill.ts';
import { createFakeClock } from '../support/fake-clock.ts';

const open = (config: StoreConfig) => openStore(config, { clock: createFakeClock() });

describe('openStore', () => {
  it('says which drivers there are when it does not know one', async () => {
    await expect(open({ driver: 'postgre' })).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringMatching(
        /"postgre"; did you mean postgres\? known are lmdb, redis, postgres, memory, .*fs.*mongodb.*s3/,
      ),
    });
    await expect(open({ driver: '../evil' })).rejects.toMatchObject({ code: 'unavailable' });
    await expect(open({ driver: 'constructor' })).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('says what a driver refuses', async () => {
    await expect(open({ driver: 'fs' })).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringMatching(/fs.*base/),
    });
    await expect(open({ driver: 'lmdb' })).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('refuses a driver that swallows what is written', async () => {
    await expect(open({ driver: 'null' })).rejects.toMatchObject({ code: 'read_only' });
    const options = { base: await temporaryDirectory(), readOnly: true };
    await expect(open({ driver: 'fs', options })).rejects.toMatchObject({ code: 'read_only' });
  });

  it('says what to do when the directory cannot be used', async () => {
    const file = join(await temporaryDirectory(), 'file');
    await writeFile(file, 'x');
    const occupied = join(await temporaryDirectory(), 'data');
    await mkdir(join(occupied, 'lock.mdb'), { recursive: true });
    for (const path of [file, join(file, 'below'), occupied]) {
      await expect(open({ driver: 'lmdb', path })).rejects.toMatchObject({
        code: 'unavailable',
        message: expect.stringMatching(/name a directory on a local disk/),
      });
    }
  });

  it('makes the data directory for its owner alone', async () => {
    const path = join(await temporaryDirectory(), 'deep', 'data.dir');
    const store = await open({ driver: 'lmdb', path });
    await store.close();
    expect((await stat(path)).mode & 0o777).toBe(0o700);
  });

  it.each([
    ['text', 'no store at all '.repeat(1_000)],
    ['zeros', '\0'.repeat(20_000)],
    ['a stump', 'abc'],
  ])('reports a data file of %s as corrupt, and leaves it', async (_, content) => {
    const path = await temporaryDirectory();
    const file = join(path, 'data.mdb');
    await writeFile(file, content);
    await expect(open({ driver: 'lmdb', path })).rejects.toMatchObject({ code: 'corrupt' });
    expect(await readFile(file, 'utf8')).toBe(content);
  });

  it('starts afresh on an empty data file', async () => {
    const path = await temporaryDirectory();
    await writeFile(join(path, 'data.mdb'), '');
    const store = await open({ driver: 'lmdb', path });
    await store.ping();
    await store.close();
  });

  it('refuses a store of a newer format and leaves it as it is', async () => {
    const path = await temporaryDirectory();
    const store = await open({ driver: 'lmdb', path });
    await store.commit([{ type: 'put', key: ['k'], value: 'kept' }]);
    await store.close();
    const root = openLmdb({ path, noSubdir: false, overlappingSync: false });
    await root.openDB('meta', { encoding: 'json' }).put('format', 99);
    await root.close();
    const digest = async () =>
      createHash('sha256')
        .update(await readFile(join(path, 'data.mdb')))
        .digest('hex');
    const before = await digest();
    await expect(open({ driver: 'lmdb', path })).rejects.toMatchObject({
      code: 'newer_format',
      message: expect.stringMatching(/format 99.*knows up to 2/),
    });
    expect(await digest()).toBe(before);
  });

  it('names the scope that its guarantees reach to', async () => {
    const path = await temporaryDirectory();
    const stores = [
      await open({ driver: 'memory' }),
      await open({ driver: 'lmdb', path: join(path, 'lmdb') }),
      await open({ driver: 'fs', path: join(path, 'fs') }),
    ];
    expect(stores.map(({ driver, scope }) => [driver, scope])).toEqual([
      ['memory', 'process'],
      ['lmdb', 'host'],
      ['fs', 'process'],
    ]);
    for (const store of stores) await store.close();
  });
});
