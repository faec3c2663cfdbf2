import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { blobName, createBlobs } from '../../../src/store/backends/journal/blobs.ts';
import { FORMAT } from '../../../src/store/backends/journal/migrations.ts';
import { createBlobMap } from '../support/blob-map.ts';

const OWNER = '0a1b2c3d';
const NAME = blobName('journal', 12, OWNER);
const sumOf = (body: string): string =>
  createHash('sha256').update(body).digest('hex').slice(0, 32);
const frameOf = (body: string, format: number = FORMAT, sum = sumOf(body)): string =>
  `gateway-store ${format} ${sum}\n${body}`;
const holding = (text: string) => createBlobs(createBlobMap(new Map([[NAME, text]])));

describe('blobs', () => {
  it('have names that sort by their numbers', () => {
    expect(NAME).toBe('journal-000000000012-0a1b2c3d');
    expect(blobName('lock', 9, OWNER) < blobName('lock', 10, OWNER)).toBe(true);
  });

  it('are written with a head, and read without', async () => {
    const map = createBlobMap();
    const blobs = createBlobs(map);
    await blobs.write(NAME, 'one\ntwo');
    expect(map.blobs.get(NAME)).toBe(frameOf('one\ntwo'));
    expect(await blobs.read(NAME)).toBe('one\ntwo');
    expect(await blobs.formatOf(NAME)).toBe(FORMAT);
    blobs.useFormat(1);
    await blobs.write(blobName('journal', 13, OWNER), 'x');
    expect(await blobs.formatOf(blobName('journal', 13, OWNER))).toBe(1);
    await blobs.remove(NAME);
    expect(await blobs.read(NAME)).toBeUndefined();
  });

  it('are listed by kind and number, wherever the driver puts them and whatever lies beside them', async () => {
    const names = [
      'snapshot-000000000003-0a1b2c3d',
      'part-000000000003-0a1b2c3d-000001',
      'base:journal-000000000010-0a1b2c3d',
      'base/journal-000000000009-ffffffff',
    ];
    const others = [
      'journal-1-0a1b2c3d',
      'journal-000000000010-0a1b2c3d.tmp',
      'xjournal-000000000010-0a1b2c3d',
      'journal-000000000010-0A1B2C3D',
      'other-000000000010-0a1b2c3d',
      'journal-000000000010-0a1b2c3d-01',
    ];
    const map = createBlobMap(new Map([...names, ...others].map((name) => [name, ''])));
    expect(await createBlobs(map).list()).toEqual([
      { name: 'journal-000000000009-ffffffff', kind: 'journal', number: 9, owner: 'ffffffff' },
      { name: 'journal-000000000010-0a1b2c3d', kind: 'journal', number: 10, owner: OWNER },
      { name: 'part-000000000003-0a1b2c3d-000001', kind: 'part', number: 3, owner: OWNER },
      { name: 'snapshot-000000000003-0a1b2c3d', kind: 'snapshot', number: 3, owner: OWNER },
    ]);
  });

  it.each([
    ['torn', frameOf('body').slice(0, -1), 'bod'],
    ['changed', frameOf('body', FORMAT, sumOf('other')), 'body'],
    ['no head', 'body', undefined],
    ['another head', frameOf('body').replace('gateway-store', 'gateway'), undefined],
  ])('that are damaged are read as nothing: %s', async (_what, text, rest) => {
    const blobs = holding(text);
    expect(await blobs.read(NAME)).toBeUndefined();
    expect(await blobs.formatOf(NAME)).toBeUndefined();
    expect(await blobs.readBroken(NAME)).toBe(rest);
  });

  it('are read from bytes as from text', async () => {
    const driver = { ...createBlobMap(), getItem: () => Buffer.from(frameOf('ü')) };
    expect(await createBlobs(driver).read(NAME)).toBe('ü');
    const odd = { ...createBlobMap(), getItem: () => ({ parsed: true }) };
    expect(await createBlobs(odd).read(NAME)).toBeUndefined();
    expect(await createBlobs(odd).readBroken(NAME)).toBeUndefined();
  });

  it('of a later format are refused, whole or not', async () => {
    for (const text of [frameOf('body', FORMAT + 1), frameOf('body', FORMAT + 1).slice(0, -1)])
      await expect(holding(text).read(NAME)).rejects.toMatchObject({ code: 'newer_format' });
    expect(await holding(frameOf('body', 1)).read(NAME)).toBe('body');
  });

  it.each([
    ['ENOSPC', 'full'],
    ['EDQUOT', 'full'],
    ['EFBIG', 'full'],
    ['EROFS', 'read_only'],
    ['EACCES', 'read_only'],
    ['EPERM', 'read_only'],
    ['EIO', 'unavailable'],
  ])('fail as a store does: %s is %s', async (code, expected) => {
    const error = Object.assign(new Error('broken'), { code });
    const map = createBlobMap();
    map.beforeWrite = () => {
      throw error;
    };
    await expect(createBlobs(map).write(NAME, 'x')).rejects.toMatchObject({
      code: expected,
      message: 'the storage driver could not write: broken',
      cause: error,
    });
  });

  it('fail where the driver gives an error back, or cannot write at all', async () => {
    const returning = { ...createBlobMap(), getKeys: () => new Error('gone') as never };
    await expect(createBlobs(returning).list()).rejects.toMatchObject({
      code: 'unavailable',
      message: 'the storage driver could not list blobs: gone',
    });
    const told = { ...createBlobMap(), getItem: () => Promise.reject('offline') };
    await expect(createBlobs(told).read(NAME)).rejects.toMatchObject({
      code: 'unavailable',
      message: 'the storage driver could not read: offline',
    });
    const { setItem: _, ...reading } = createBlobMap();
    await expect(createBlobs(reading).write(NAME, 'x')).rejects.toMatchObject({
      code: 'read_only',
      message: 'this storage driver cannot write',
    });
  });
});
