import { chmod, mkdir, stat, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  assertReadable,
  prepareDirectory,
  unusable,
} from '../../../src/store/backends/lmdb/prepare-directory.ts';
import { systemClock } from '../../../src/core/time/clock.ts';
import { openStore } from '../../../src/store/open-store.ts';
import { temporaryDirectory } from '../../conformance/store-kill.ts';

const unavailable = (message: RegExp) =>
  expect.objectContaining({ code: 'unavailable', message: expect.stringMatching(message) });

describe('the directory of a store', () => {
  it('is made for its owner alone, with those above it', async () => {
    const path = join(await temporaryDirectory(), 'a/b');
    expect(prepareDirectory(path)).toBe(false);
    for (const one of [path, dirname(path)]) expect((await stat(one)).mode & 0o777).toBe(0o700);
    expect(prepareDirectory(path)).toBe(false);
    expect(() => assertReadable(path)).toThrow(unavailable(/^there is no store in .*a\/b$/));
  });

  it('keeps its files from others where it was open to them before', async () => {
    const path = await temporaryDirectory();
    await chmod(path, 0o755);
    const files = ['data.mdb', 'lock.mdb'].map((name) => join(path, name));
    const modes = () => Promise.all(files.map(async (file) => (await stat(file)).mode & 0o777));
    const open = async () => {
      const store = await openStore({ driver: 'lmdb', path }, { clock: systemClock });
      await store.close();
    };
    await open();
    expect(await modes()).toEqual([0o600, 0o600]);
    for (const file of files) await chmod(file, 0o644);
    await open();
    expect(await modes()).toEqual([0o600, 0o600]);
  });

  it('holds a store once one was written', async () => {
    const path = await temporaryDirectory();
    const store = await openStore({ driver: 'lmdb', path }, { clock: systemClock });
    await store.close();
    expect(prepareDirectory(path)).toBe(assertReadable(path));
  });

  it.each(['data.mdb', 'lock.mdb'])('is refused where %s is no file', async (name) => {
    const path = await temporaryDirectory();
    await mkdir(join(path, name));
    const refused = unavailable(new RegExp(`${name} is not a file; name a directory on a local`));
    expect(() => prepareDirectory(path)).toThrow(refused);
    expect(() => assertReadable(path)).toThrow(unavailable(/^there is no store in/));
  });

  it('is refused where a file is in its place, or a link that leads nowhere', async () => {
    const path = await temporaryDirectory();
    await writeFile(join(path, 'file'), '');
    await symlink(join(path, 'nowhere/x'), join(path, 'link'));
    for (const name of ['file', 'link'])
      expect(() => prepareDirectory(join(path, name))).toThrow(
        unavailable(/^cannot use .* as the store/),
      );
  });

  it('with a damaged file is corrupt, not ended by', async () => {
    const path = await temporaryDirectory();
    await writeFile(join(path, 'data.mdb'), 'not pages at all');
    for (const look of [prepareDirectory, assertReadable])
      expect(() => look(path)).toThrow(expect.objectContaining({ code: 'corrupt' }));
  });

  it('tells what to do about a fault, and keeps its cause', () => {
    const cause = new Error('EROFS: read-only file system');
    expect(unusable('/srv/x', cause)).toMatchObject({
      code: 'unavailable',
      cause,
      message: expect.stringContaining('/srv/x as the store: EROFS: read-only file system'),
    });
  });
});
