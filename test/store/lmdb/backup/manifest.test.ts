import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  readManifest,
  type Manifest,
} from '../../../../src/store/backends/lmdb/backup/manifest.ts';
import { temporaryDirectory } from '../../../conformance/store-kill.ts';

describe('the manifest of a backup', () => {
  const SHA = 'a'.repeat(64);
  const manifest = (path = 'store/data.mdb'): Manifest => ({
    format: 1,
    created_at: '2026-11-21T00:00:00Z',
    store: { driver: 'lmdb', format: 2, identity: null, rows: 3, checksum: 'x' },
    files: [{ path, size: 0, sha256: SHA }],
  });
  async function read(content: unknown): Promise<Manifest> {
    const directory = await temporaryDirectory();
    const text = typeof content === 'string' ? content : JSON.stringify(content);
    await writeFile(join(directory, 'backup.json'), text);
    return readManifest(directory);
  }

  it.each(['store/data.mdb', 'media/a', 'media/a/b.bin', 'media/..a'])(
    'may name %s',
    async (path) => {
      expect(await read(manifest(path))).toEqual(manifest(path));
    },
  );

  it.each([
    'store/lock.mdb',
    'media',
    'mediax/a',
    '/media/a',
    'media/../store/data.mdb',
    'media/../../etc/passwd',
    'media//a',
    'media/./a',
    '',
  ])('may not name %j', async (path) => {
    await expect(read(manifest(path))).rejects.toMatchObject({
      code: 'corrupt',
      message: expect.stringMatching(
        /^backup\.json of .* is damaged: files\.0\.path: expected a path inside of the backup$/,
      ),
    });
  });

  it.each([
    ['no JSON', '{', /is damaged: it is no JSON$/],
    ['nothing', {}, /is damaged: format: /],
    ['no format', { ...manifest(), format: '1' }, /is damaged: format: /],
    ['too few rows', { ...manifest(), store: { ...manifest().store, rows: -1 } }, /store\.rows: /],
    [
      'a short digest',
      { ...manifest(), files: [{ path: 'media/a', size: 1, sha256: SHA.slice(1) }] },
      /files\.0\.sha256: /,
    ],
    [
      'a long digest',
      { ...manifest(), files: [{ path: 'media/a', size: 1, sha256: `${SHA}a` }] },
      /files\.0\.sha256: /,
    ],
  ])('is damaged where it has %s', async (_what, content, message) => {
    await expect(read(content)).rejects.toMatchObject({
      code: 'corrupt',
      message: expect.stringMatching(message),
    });
  });

  it('of a later format is refused, whatever else it holds', async () => {
    await expect(read({ format: 2 })).rejects.toMatchObject({
      code: 'newer_format',
      message: 'the backup has format 2, this release knows up to 1',
    });
  });

  it('is missing where there is no backup', async () => {
    const directory = await temporaryDirectory();
    await expect(readManifest(directory)).rejects.toMatchObject({
      code: 'unavailable',
      message: `${directory} is no backup: it has no backup.json`,
    });
  });
});
