import { chmod, mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { atPath, atPathFault, probeFolder } from '../../src/core/disk-fault.ts';
import { verifies } from '../requirements.ts';
import { directoryOfTest } from '../support/process/directory-of-test.ts';

const refusal = (code: string) => Object.assign(new Error(`${code}: told, write`), { code });

describe('a refusal of the system', () => {
  it.each([
    ['ENOSPC', /no space is left on its disk \(ENOSPC\); free some space/],
    ['EDQUOT', /quota of this user is used up \(EDQUOT\)/],
    ['EROFS', /mounted read-only \(EROFS\)/],
    ['EACCES', /has no right to it \(EACCES\)/],
    ['EMFILE', /too many files open \(EMFILE\); raise the limit/],
    ['ENFILE', /on this machine \(ENFILE\)/],
    ['EIO', /disk is failing \(EIO\)/],
  ])('of the code %s names the path, the cause and the next step', async (code, words) => {
    const failing = atPath('/data/x', () => Promise.reject(refusal(code)), { setting: 'a.b' });
    await expect(failing).rejects.toThrow(words);
    await expect(failing).rejects.toThrow(
      /^cannot write \/data\/x: .*, or name another with a\.b$/,
    );
    await expect(failing).rejects.toMatchObject({ code });
  });

  it('of another code stays as it is', () => {
    for (const error of [refusal('EPROTO'), new Error('other'), 'text'])
      expect(atPathFault('/data/x', error)).toBe(error);
  });
});

describe('the probe of a folder', () => {
  it(verifies('store.disk-fault', 'writes there truly, and leaves nothing'), async () => {
    const folder = await directoryOfTest();
    expect(await probeFolder(folder)).toBeGreaterThan(0);
    expect(await readdir(folder)).toEqual([]);
    await writeFile(join(folder, 'file'), '');
    await expect(probeFolder(join(folder, 'file'))).rejects.toThrow(
      /a part of that path is a file/,
    );
  });

  it.skipIf(process.getuid?.() === 0)('is refused in a closed one', async () => {
    const folder = join(await directoryOfTest(), 'closed');
    await mkdir(folder);
    await chmod(folder, 0o500);
    await expect(probeFolder(folder)).rejects.toThrow(/has no right to it \(EACCES\)/);
  });
});
