import { describe, expect, it } from 'vitest';
import { blobName, createBlobs } from '../../../src/store/backends/journal/blobs.ts';
import { replay } from '../../../src/store/backends/journal/replay.ts';
import { writeHead, writeSnapshot } from '../../../src/store/backends/journal/snapshot.ts';
import { encodeKey } from '../../../src/store/key-codec.ts';
import { toId } from '../../../src/store/prepare-commit.ts';
import { createTable, type Row } from '../../../src/store/table.ts';
import { toEnvelope } from '../../../src/store/value-codec.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { createBlobMap } from '../support/blob-map.ts';

const OWNER = '0a1b2c3d';
const MIB = 1024 * 1024;
const rowsOf = (count: number, chars: number): [string, Row][] =>
  Array.from({ length: count }, (_, n) => [
    toId(encodeKey(['k', n])),
    { envelope: toEnvelope('x'.repeat(chars)), version: n + 1, expiresAt: Infinity },
  ]);
const optionsOf = (rows: [string, Row][]) => ({
  owner: OWNER,
  number: 5,
  rows,
  last: '',
  lastVersion: 9,
  meta: { identity: 'one' },
});

describe('a snapshot', () => {
  it('is written in parts of about a mebibyte, the blob that makes them count last', async () => {
    const map = createBlobMap();
    const written: string[] = [];
    map.beforeWrite = (name) => written.push(name);
    const head = await writeSnapshot(createBlobs(map), optionsOf(rowsOf(5, 0.4 * MIB)));
    const parts = ['part-000000000005-0a1b2c3d-000000', 'part-000000000005-0a1b2c3d-000001'];
    expect(head).toEqual({ last: '', lastVersion: 9, parts, meta: { identity: 'one' } });
    expect(written).toEqual([...parts, 'snapshot-000000000005-0a1b2c3d']);
    const lines = (name: string) => map.blobs.get(name)?.split('\n').length ?? 0;
    // One more for the head of the blob.
    expect(parts.map(lines)).toEqual([4, 3]);
  });

  it('has no empty part behind a full one, and none without rows', async () => {
    const full = await writeSnapshot(createBlobs(createBlobMap()), optionsOf(rowsOf(1, MIB)));
    expect(full.parts).toHaveLength(1);
    const empty = await writeSnapshot(createBlobs(createBlobMap()), optionsOf([]));
    expect(empty.parts).toEqual([]);
  });

  it('gives its rows back, with what the store knows of itself', async () => {
    const blobs = createBlobs(createBlobMap());
    const rows = rowsOf(30, 0.1 * MIB);
    await writeSnapshot(blobs, optionsOf(rows));
    const table = createTable(createFakeClock());
    expect(await replay(blobs, table)).toMatchObject({
      last: '',
      lastVersion: 9,
      nextNumber: 6,
      meta: { identity: 'one' },
    });
    // A deep comparison of so many bytes takes seconds.
    const text = (some: readonly [string, Row][]): string[] =>
      some
        .map(([id, { envelope, version }]) => `${id} ${version} ${envelope.toString()}`)
        .toSorted();
    expect(text(table.rows())).toEqual(text(rows));
  });

  it('removes what it replaces, and no lock and no later blob of the journal', async () => {
    const blobs = createBlobs(createBlobMap());
    const [lock, old, last, later] = [
      blobName('lock', 1, OWNER),
      blobName('journal', 2, OWNER),
      blobName('journal', 3, OWNER),
      blobName('journal', 4, OWNER),
    ];
    const replaced = [blobName('snapshot', 1, OWNER), `${blobName('part', 1, OWNER)}-000000`];
    for (const name of [lock, old, last, later, ...replaced]) await blobs.write(name, 'x');
    const { parts } = await writeSnapshot(blobs, { ...optionsOf(rowsOf(1, 1)), last });
    const names = (await blobs.list()).map(({ name }) => name);
    expect(names).toEqual([later, lock, ...parts, blobName('snapshot', 5, OWNER)]);
  });

  it('gets another head without another part', async () => {
    const blobs = createBlobs(createBlobMap());
    const head = await writeSnapshot(blobs, optionsOf(rowsOf(1, 1)));
    await writeHead(blobs, { owner: OWNER, number: 6, head: { ...head, meta: {} } });
    const names = (await blobs.list()).map(({ name }) => name);
    expect(names).toEqual([...head.parts, blobName('snapshot', 6, OWNER)]);
  });
});
