import { Buffer } from 'node:buffer';
import { chmod, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
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

it('keeps media from others in a folder that was open to them before', async () => {
  const path = await mkdtemp(join(tmpdir(), 'mount-'));
  onTestFinished(() => rm(path, { recursive: true, force: true }));
  await chmod(path, 0o755);
  const open = () => openMediaMount({ driver: 'fs', path, options: {} }, createFakeClock());
  const mode = async () => (await stat(join(path, 'media'))).mode & 0o777;
  await (await open()).write('media_1', fromBytes(Buffer.alloc(1)));
  expect(await mode()).toBe(0o700);
  await chmod(join(path, 'media'), 0o755);
  const mount = await open();
  expect(await mode()).toBe(0o700);
  await mount.remove('media_1', 1);
});
