import { mkdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { SecretRef } from '../../../src/config/objects/references.ts';
import type { ServerConfig } from '../../../src/config/schema/server-config.ts';
import { createKeyDirectory } from '../../../src/resources/kinds/key-directory.ts';
import { assertNotEmptied, firstStart } from '../../../src/server/process/first-start.ts';
import { makeResources } from '../../resources/make-resources.ts';
import { directoryOfTest } from '../../support/process/directory-of-test.ts';

type Place = Pick<ServerConfig, 'dataDir' | 'store' | 'secrets'>;

let dataDir: string;
let place: Place;
beforeEach(async () => {
  dataDir = join(await directoryOfTest(), 'data');
  await mkdir(join(dataDir, 'store'), { recursive: true });
  place = placeOf('lmdb');
});

function placeOf(driver: string): Place {
  return {
    dataDir,
    store: { driver, path: join(dataDir, 'store'), options: {} },
    secrets: {
      masterKey: undefined,
      previousKeys: [],
      masterKeyFile: join(dataDir, 'master.key'),
      exec: [],
    },
  };
}

const write = (name: string, text: string): Promise<void> => writeFile(join(dataDir, name), text);

describe('a store whose file is missing or empty', () => {
  it.each<[string, Record<string, string>]>([
    ['nothing', {}],
    ['an empty admin key', { 'admin.key': '' }],
    ['rows and an admin key', { 'store/data.mdb': 'rows', 'admin.key': 'sk' }],
    ['rows and a master key', { 'store/data.mdb': 'rows', 'master.key': 'k' }],
    ['a master key alone', { 'master.key': 'k' }],
    ['an empty file alone', { 'store/data.mdb': '' }],
    ['an empty file and an empty master key', { 'store/data.mdb': '', 'master.key': '' }],
  ])('is taken for new beside %s', async (_what, files) => {
    for (const [name, text] of Object.entries(files)) await write(name, text);
    await expect(assertNotEmptied(place)).resolves.toBeUndefined();
  });

  it.each<[string, Record<string, string>, string]>([
    ['an admin key', { 'admin.key': 'sk' }, 'admin.key'],
    ['an empty file and an admin key', { 'store/data.mdb': '', 'admin.key': 'sk' }, 'admin.key'],
    ['an empty file and a master key', { 'store/data.mdb': '', 'master.key': 'k' }, 'master.key'],
  ])('is refused beside %s', async (_what, files, key) => {
    for (const [name, text] of Object.entries(files)) await write(name, text);
    await expect(assertNotEmptied(place)).rejects.toMatchObject({
      name: 'StoreError',
      code: 'corrupt',
      message: expect.stringContaining(
        `${join(dataDir, 'store/data.mdb')} is damaged: it is missing or empty, but ${join(dataDir, key)} belongs to one`,
      ),
    });
  });

  it('is taken for new where the master key is the configuration’s', async () => {
    await write('store/data.mdb', '');
    await write('master.key', 'k');
    const masterKey = new SecretRef('env', 'KEY', '.');
    const secrets = { ...place.secrets, masterKey };
    await expect(assertNotEmptied({ ...place, secrets })).resolves.toBeUndefined();
    const { secrets: _secrets, ...without } = place;
    await expect(assertNotEmptied(without)).resolves.toBeUndefined();
  });

  it('is refused below a file as below a folder', async () => {
    await write('admin.key', 'sk');
    await write('in-the-way', 'a');
    const store = { ...place.store, path: join(dataDir, 'in-the-way') };
    await expect(assertNotEmptied({ ...place, store })).rejects.toMatchObject({ code: 'corrupt' });
  });

  it('is no matter where the rows are no file', async () => {
    await write('admin.key', 'sk');
    await expect(assertNotEmptied(placeOf('memory'))).resolves.toBeUndefined();
  });

  it('is not known where it cannot be looked at', async () => {
    await symlink('data.mdb', join(dataDir, 'store/data.mdb'));
    await expect(assertNotEmptied(place)).rejects.toMatchObject({ code: 'ELOOP' });
  });
});

describe('the first start on a store', () => {
  it('keeps the admin key in a private file, and gives the client key this once', async () => {
    const resources = makeResources();
    const made = await firstStart(resources.repository, place);
    const file = join(dataDir, 'admin.key');
    expect(await readFile(file, 'utf8')).toBe(`${made?.adminKey}\n`);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const directory = createKeyDirectory(resources);
    await directory.update('everything');
    expect(directory.lookup(made?.adminKey ?? '')).toMatchObject({ keyName: 'admin' });
    expect(directory.lookup(made?.clientKey ?? '')).toMatchObject({ keyName: 'default' });
    expect(await firstStart(resources.repository, place)).toBeUndefined();
  });

  it('keeps the client key in a private file where nobody reads along', async () => {
    const resources = makeResources();
    const made = await firstStart(resources.repository, place, { keepsClientKey: true });
    const file = join(dataDir, 'client.key');
    expect(await readFile(file, 'utf8')).toBe(`${made?.clientKey}\n`);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const directory = createKeyDirectory(resources);
    await directory.update('everything');
    expect(directory.lookup(made?.clientKey ?? '')).toMatchObject({ keyName: 'default' });
  });

  it('gives no client key where keys are declared', async () => {
    const made = await firstStart(makeResources().repository, place, { declaresKeys: true });
    expect(made).toMatchObject({ clientKey: undefined });
  });

  it('goes on with the admin key of one that died', async () => {
    const value = `sk-${'a'.repeat(64)}`;
    await write('admin.key', `${value}\n`);
    const resources = makeResources();
    await resources.call('POST organizations', { body: { name: 'default' } });
    expect(await firstStart(resources.repository, place)).toMatchObject({ adminKey: value });
  });

  it('is refused for rows in files that have no organization beside an admin key', async () => {
    await write('admin.key', `sk-${'a'.repeat(64)}\n`);
    const { repository, call } = makeResources();
    await expect(firstStart(repository, place)).rejects.toMatchObject({
      code: 'corrupt',
      message: expect.stringContaining(`${join(dataDir, 'store')} is damaged`),
    });
    expect((await call('GET organizations')).body['data']).toEqual([]);
    expect(await firstStart(repository, placeOf('memory'))).toBeDefined();
  });

  it('is not refused beside an empty admin key, which it cannot use', async () => {
    await write('admin.key', '');
    await expect(firstStart(makeResources().repository, place)).rejects.toThrow('is empty; put');
  });
});
