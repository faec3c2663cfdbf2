import { mkdir, readdir, stat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createSessionDirectories } from '../../../src/runtime/harness/session-directories.ts';
import { directoryOfTest } from '../../support/process/directory-of-test.ts';

describe('the directory of a Session', () => {
  it('is absolute, private, and the same each time', async () => {
    const root = await directoryOfTest();
    const directories = createSessionDirectories(relative(process.cwd(), root));
    const path = await directories.open('sess_1');
    expect(path).toBe(join(root, 'sess_1'));
    expect((await stat(path)).mode & 0o777).toBe(0o700);
    await mkdir(join(path, 'kept'));
    await directories.open('sess_1');
    expect(await readdir(path)).toEqual(['kept']);
  });

  it('is swept away when its Session has ended, and nothing else is', async () => {
    const root = await directoryOfTest();
    const directories = createSessionDirectories(root);
    for (const name of ['sess_1', 'sess_2', 'sess_3']) await directories.open(name);
    await mkdir(join(root, 'other'));
    await directories.sweep(async (id) => {
      if (id === 'sess_3') throw new Error('the store fails');
      return id !== 'sess_1';
    });
    expect((await readdir(root)).toSorted()).toEqual(['other', 'sess_1', 'sess_3']);
    await createSessionDirectories(join(root, 'missing')).sweep(async () => true);
  });
});
