import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { firstStart } from '../../../src/server/process/first-start.ts';
import { writeOnce } from '../../../src/server/process/write-once.ts';
import { verifies } from '../../requirements.ts';
import { makeResources } from '../../resources/make-resources.ts';

async function newDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'gateway-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

it('gives everybody who starts at once the same line, in a file of their own', async () => {
  const directory = join(await newDirectory(), 'data');
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
    const directory = await newDirectory();
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
