import { readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { firstStart } from '../../../src/server/process/first-start.ts';
import { writeOnce } from '../../../src/server/secrets/write-once.ts';
import { verifies } from '../../requirements.ts';
import { makeResources } from '../../resources/make-resources.ts';
import { directoryOfTest } from '../../support/process/directory-of-test.ts';

it('gives everybody who starts at once the same line, in a file of their own', async () => {
  const directory = join(await directoryOfTest(), 'data');
  const path = join(directory, 'secret');
  const lines = await Promise.all(
    Array.from({ length: 50 }, (_, index) =>
      writeOnce(path, { what: 'the line', make: () => `line ${index}` }),
    ),
  );
  expect(new Set(lines).size).toBe(1);
  expect(await writeOnce(path, { what: 'the line', make: () => 'another' })).toBe(lines[0]);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect(await readdir(directory)).toEqual(['secret']);
});

it(
  verifies(
    'console-free-bootstrap',
    'a first start makes no key of an admin key file that is empty',
  ),
  async () => {
    const directory = await directoryOfTest();
    await writeFile(join(directory, 'admin.key'), '');
    const { repository } = makeResources();
    await expect(
      firstStart(repository, {
        dataDir: directory,
        store: { driver: 'memory', path: '', options: {} },
      }),
    ).rejects.toThrow('admin.key is empty');
    await rm(join(directory, 'admin.key'));
    expect(
      await firstStart(repository, {
        dataDir: directory,
        store: { driver: 'memory', path: '', options: {} },
      }),
    ).toBeDefined();
  },
);
