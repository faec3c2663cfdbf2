import { createHash } from 'node:crypto';
import { mkdir, readFile, stat, statfs, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  assertRoom,
  asStoreErrors,
  digestFile,
  filesBelow,
} from '../../../../src/store/backends/lmdb/backup/files.ts';
import { findWaiting, waitingFolder } from '../../../../src/store/backends/lmdb/waiting-files.ts';
import { StoreError } from '../../../../src/store/store.ts';
import { temporaryDirectory } from '../../../conformance/store-kill.ts';

const MIB = 1024 * 1024;
const { signal } = new AbortController();

describe('the digest of a file', () => {
  it.each([0, 1, MIB, MIB + 1])('is that of all its bytes: %d', async (size) => {
    const directory = await temporaryDirectory();
    const [from, to] = [join(directory, 'a'), join(directory, 'sub', 'b')];
    const bytes = Buffer.alloc(size, 'abc');
    await writeFile(from, bytes);
    const seen: number[] = [];
    const digest = await digestFile(from, { signal, onBytes: (count) => seen.push(count) }, to);
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    expect(digest).toEqual({ size, sha256 });
    expect(seen.reduce((sum, one) => sum + one, 0)).toBe(size);
    expect((await readFile(to)).equals(bytes)).toBe(true);
    const modes = [(await stat(to)).mode, (await stat(join(directory, 'sub'))).mode];
    expect(modes.map((mode) => mode & 0o777)).toEqual([0o600, 0o700]);
    expect(await digestFile(from, { signal, onBytes: () => undefined })).toEqual(digest);
  });

  it('is written over nothing', async () => {
    const directory = await temporaryDirectory();
    const [from, to] = [join(directory, 'a'), join(directory, 'b')];
    await writeFile(from, 'new');
    await writeFile(to, 'old');
    const copying = digestFile(from, { signal, onBytes: () => undefined }, to);
    await expect(copying).rejects.toMatchObject({ code: 'EEXIST' });
    expect(await readFile(to, 'utf8')).toBe('old');
  });

  it('breaks off when it is told to', async () => {
    const from = join(await temporaryDirectory(), 'a');
    await writeFile(from, Buffer.alloc(3 * MIB));
    const controller = new AbortController();
    const seen: number[] = [];
    const onBytes = (count: number): void => {
      seen.push(count);
      controller.abort(new Error('enough'));
    };
    const digesting = digestFile(from, { signal: controller.signal, onBytes });
    await expect(digesting).rejects.toThrow('enough');
    expect(seen).toEqual([MIB]);
  });
});

describe('the files below a folder', () => {
  it('are listed by path, in order, without folders and links', async () => {
    const directory = await temporaryDirectory();
    await mkdir(join(directory, 'b', 'c'), { recursive: true });
    for (const name of ['z', 'a', 'b/c/x', 'b/y']) await writeFile(join(directory, name), '');
    await symlink(join(directory, 'a'), join(directory, 'link'));
    expect(await filesBelow(directory)).toEqual(['a', 'b/c/x', 'b/y', 'z']);
  });

  it('are none where there is no folder, and an error where it cannot be read', async () => {
    const directory = await temporaryDirectory();
    expect(await filesBelow(join(directory, 'none'))).toEqual([]);
    await writeFile(join(directory, 'file'), '');
    await expect(filesBelow(join(directory, 'file'))).rejects.toMatchObject({ code: 'ENOTDIR' });
  });

  it('that wait for the store are those of its ledger', async () => {
    const directory = await temporaryDirectory();
    expect(await findWaiting(directory)).toEqual([]);
    await mkdir(waitingFolder(directory));
    await writeFile(join(waitingFolder(directory), 'x'), '');
    expect(await findWaiting(directory)).toEqual(['x']);
  });
});

describe('the room of a disk', () => {
  it('is refused where 64 MiB would not be left', async () => {
    const directory = await temporaryDirectory();
    const { bavail, bsize } = await statfs(directory);
    await assertRoom(directory, 0);
    await expect(assertRoom(directory, bavail * bsize * 2)).rejects.toMatchObject({
      code: 'full',
      message: expect.stringContaining(
        `too little room: ${Math.ceil((bavail * bsize * 2) / MIB)} MiB are needed`,
      ),
    });
  });
});

describe('refusals of the system', () => {
  it.each([
    ['ENOSPC', 'full'],
    ['EDQUOT', 'full'],
    ['EFBIG', 'full'],
    ['EROFS', 'read_only'],
    ['EACCES', 'read_only'],
    ['EPERM', 'read_only'],
    ['EIO', 'unavailable'],
  ])('are told as those of a store: %s is %s', async (code, expected) => {
    const error = Object.assign(new Error('told'), { code });
    const failing = asStoreErrors('cannot copy', () => Promise.reject(error));
    await expect(failing).rejects.toMatchObject({
      name: 'StoreError',
      code: expected,
      message: 'cannot copy: told',
      cause: error,
    });
  });

  it('are no other errors, which stay as they are', async () => {
    for (const error of [new Error('bug'), new StoreError('locked', 'taken')])
      await expect(asStoreErrors('x', () => Promise.reject(error))).rejects.toBe(error);
    expect(await asStoreErrors('x', async () => 7)).toBe(7);
  });
});
