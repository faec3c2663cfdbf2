import { Buffer } from 'node:buffer';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { openMediaMount } from '../../src/assets/media-mount.ts';
import { fromBytes } from '../../src/core/memory/spooled-body.ts';
import { createFakeClock } from '../support/fake-clock.ts';

const MIB = 1024 * 1024;

it('takes back the pieces of media that could not be written whole', async () => {
  const path = await mkdtemp(join(tmpdir(), 'mount-'));
  onTestFinished(() => rm(path, { recursive: true, force: true }));
  const mount = await openMediaMount({ driver: 'fs', path, options: {} }, createFakeClock());
  const files = async (): Promise<string[]> =>
    (await readdir(path, { recursive: true, withFileTypes: true }))
      .filter((entry) => entry.isFile())
      .map(({ name }) => name);
  const content = fromBytes(Buffer.alloc(9 * MIB, 1));
  await mount.write('media_1', content);
  expect(await files()).toEqual(['0', '1', '2']);
  await mount.remove('media_1', content.length);

  let reads = 0;
  const written = mount.write('media_2', {
    length: content.length,
    open(start, end) {
      if (++reads === 3) throw new Error('no space left');
      return content.open(start, end);
    },
  });
  await expect(written).rejects.toThrow('no space left');
  expect(reads).toBe(3);
  expect(await files()).toEqual([]);
});
