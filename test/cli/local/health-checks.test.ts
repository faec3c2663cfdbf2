import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  checkAdminKey,
  checkDirectory,
  checkMasterKey,
} from '../../../src/cli/local/health-checks.ts';
import { verifies } from '../../requirements.ts';
import { directoryOfTest } from '../../support/process/directory-of-test.ts';

const MIB = 1024 * 1024;

describe('the check of a directory', () => {
  it.each([
    [63, 'bad'],
    [64, 'warn'],
    [1023, 'warn'],
    [1024, 'ok'],
  ] as const)(verifies('store.disk-fault', 'with %i MiB free is %s'), async (free, state) => {
    const folder = await directoryOfTest();
    const finding = await checkDirectory('data', folder, async () => free * MIB);
    expect(finding).toMatchObject({ state, hint: expect.stringMatching(/last 64 MiB/) });
    expect(finding.message).toBe(
      `${folder} can be written; ${free.toLocaleString('en')} MiB are free`,
    );
  });

  it('writes there, and below the nearest folder that exists', async () => {
    const folder = await directoryOfTest();
    const absent = join(folder, 'a', 'b');
    const { message } = await checkDirectory('data', absent);
    expect(message).toMatch(/a\/b will be created by the first start; [\d,]+ MiB are free$/);
    expect(await readdir(folder)).toEqual([]);
    await writeFile(join(folder, 'file'), '');
    expect(await checkDirectory('data', join(folder, 'file'))).toMatchObject({ state: 'bad' });
  });
});

it('a master key that is easy to guess is a warning with the way to rotate it', () => {
  expect(checkMasterKey('abc')).toMatchObject({
    state: 'warn',
    message: expect.stringMatching(/3 characters/),
    hint: expect.stringMatching(/openssl rand -hex 32.*previous_keys/),
  });
  expect(checkMasterKey('a-master-key-of-32-characters-00').state).toBe('ok');
});

it(
  verifies('recovery.admin-key', 'a missing admin key is a warning where a gateway has run'),
  async () => {
    const folder = await directoryOfTest();
    expect(await checkAdminKey(folder)).toBeUndefined();
    await writeFile(join(folder, 'master.key'), '');
    expect(await checkAdminKey(folder)).toMatchObject({
      state: 'warn',
      hint: expect.stringMatching(/`gateway store admin-key` makes one/),
    });
    await writeFile(join(folder, 'admin.key'), '');
    expect(await checkAdminKey(folder)).toBeUndefined();
  },
);
