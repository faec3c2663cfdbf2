import { closeSync, openSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { assertUncut, markClosed } from '../../../src/store/backends/lmdb/closed-mark.ts';
import { openEnvironment } from '../../../src/store/backends/lmdb/environment.ts';
import { bytesOf, readMeta } from '../../../src/store/backends/lmdb/file/meta-page.ts';
import {
  FORMAT,
  formatOf,
  migrate,
  toStoreMeta,
} from '../../../src/store/backends/lmdb/migrations.ts';
import { temporaryDirectory } from '../../conformance/store-kill.ts';

async function setUp() {
  const directory = await temporaryDirectory();
  const { root, meta, lastTransaction } = openEnvironment(directory);
  onTestFinished(() => root.close());
  const opened = { root, meta, directory };
  const write = (): void => meta.transactionSync(() => void meta.put('n', 1));
  const file = join(directory, 'data.mdb');
  return { opened, meta, write, file, lastTransaction };
}

describe('the mark of a store that was closed', () => {
  it('is the number of the last transaction', async () => {
    const { opened, meta, lastTransaction } = await setUp();
    markClosed(opened);
    expect(meta.get('closed')).toBeGreaterThan(0);
    expect(() => assertUncut(opened)).toThrow(
      expect.objectContaining({
        code: 'corrupt',
        message: expect.stringContaining('it is shorter than its last commit'),
      }),
    );
    expect(meta.get('closed')).toBe(lastTransaction());
  });

  it('tells nothing any more once somebody has written', async () => {
    const { opened, write } = await setUp();
    assertUncut(opened);
    markClosed(opened);
    write();
    assertUncut(opened);
  });

  it('leaves the file as long as the pages that it counts', async () => {
    const { opened, file } = await setUp();
    markClosed(opened);
    const descriptor = openSync(file, 'r');
    const counted = readMeta(descriptor);
    closeSync(descriptor);
    expect(counted && statSync(file).size >= bytesOf(counted)).toBe(true);
  });

  it('is left out where the store cannot be written any more', () => {
    const root = {
      transactionSync: () => {
        throw new Error('full');
      },
    };
    const meta = {} as Parameters<typeof markClosed>[0]['meta'];
    expect(() => markClosed({ root, meta, directory: '/nowhere' })).not.toThrow();
  });
});

describe('the format of the embedded store', () => {
  it('is the present one when it is made, with an identity that stays', async () => {
    const { meta } = await setUp();
    const { identity, incoming } = toStoreMeta(meta);
    expect([formatOf(meta), incoming]).toEqual([FORMAT, undefined]);
    expect(identity).toMatch(/^[0-9a-f-]{36}$/);
    migrate(meta);
    expect(toStoreMeta(meta).identity).toBe(identity);
  });

  it('is brought forward step by step, and refused where it is later', async () => {
    const { meta } = await setUp();
    meta.transactionSync(() => {
      void meta.put('format', 1);
      void meta.remove('identity');
    });
    expect(toStoreMeta(meta).identity).toBeUndefined();
    migrate(meta);
    expect([formatOf(meta), typeof toStoreMeta(meta).identity]).toEqual([FORMAT, 'string']);
    meta.transactionSync(() => void meta.put('format', FORMAT + 1));
    expect(() => migrate(meta)).toThrow(expect.objectContaining({ code: 'newer_format' }));
    expect(formatOf(meta)).toBe(FORMAT + 1);
    expect([formatOf(undefined), toStoreMeta(undefined)]).toEqual([0, {}]);
  });

  it('knows a copy that is under way', async () => {
    const { meta } = await setUp();
    const incoming = { from: 'other', startedAt: 7 };
    meta.transactionSync(() => void meta.put('incoming', incoming));
    expect(toStoreMeta(meta).incoming).toEqual(incoming);
  });
});
