import { describe, expect, it } from 'vitest';
import { blobName, createBlobs, type Blobs } from '../../../src/store/backends/journal/blobs.ts';
import { FORMAT } from '../../../src/store/backends/journal/migrations.ts';
import { replay, storedFormat } from '../../../src/store/backends/journal/replay.ts';
import { createTable } from '../../../src/store/table.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { createBlobMap } from '../support/blob-map.ts';

const OWNER = '0a1b2c3d';
const nameOf = (number: number): string => blobName('journal', number, OWNER);
const lineOf = (key: string, version: number, value: number): string =>
  `["j",["${key}"],${version},0,${value}]`;

/** Writes one blob of the journal behind `previous`. */
async function append(
  blobs: Blobs,
  number: number,
  { previous, version, lines }: { previous: number; version: number; lines: string[] },
): Promise<void> {
  const text = lines.join('\n');
  const head = { previous: previous === 0 ? '' : nameOf(previous), lastVersion: version };
  await blobs.write(nameOf(number), `${JSON.stringify({ ...head, chars: text.length })}\n${text}`);
}

async function read(blobs: Blobs) {
  const table = createTable(createFakeClock());
  const tip = await replay(blobs, table);
  return { tip, rows: table.list({ prefix: [] }).map(({ key, value }) => [key[0], value]) };
}

function setUp() {
  const map = createBlobMap();
  return { map, blobs: createBlobs(map) };
}

describe('replaying a journal', () => {
  it('begins with nothing where there is nothing', async () => {
    expect(await read(setUp().blobs)).toEqual({
      tip: { last: '', lastVersion: 0, nextNumber: 1, format: 0, meta: {} },
      rows: [],
    });
  });

  it('follows the chain, blob by blob', async () => {
    const { blobs } = setUp();
    await append(blobs, 1, { previous: 0, version: 3, lines: [lineOf('a', 3, 1)] });
    await append(blobs, 2, {
      previous: 1,
      version: 5,
      lines: [lineOf('a', 4, 2), lineOf('b', 5, 3)],
    });
    await append(blobs, 3, { previous: 2, version: 4, lines: ['["d",["b"]]'] });
    expect(await read(blobs)).toEqual({
      tip: { last: nameOf(3), lastVersion: 5, nextNumber: 4, format: FORMAT, meta: {} },
      rows: [['a', 2]],
    });
  });

  it('reads a long journal in order', async () => {
    const { blobs } = setUp();
    for (let n = 1; n <= 20; n++)
      await append(blobs, n, { previous: n - 1, version: n, lines: [lineOf('a', n, n)] });
    const { tip, rows } = await read(blobs);
    expect([tip.lastVersion, rows]).toEqual([20, [['a', 20]]]);
  });

  it('passes over a blob that nobody names, and never gives its number out again', async () => {
    const { blobs } = setUp();
    await append(blobs, 1, { previous: 0, version: 1, lines: [lineOf('a', 1, 1)] });
    await append(blobs, 2, { previous: 1, version: 9, lines: [lineOf('a', 9, 9)] });
    await append(blobs, 3, { previous: 1, version: 2, lines: [lineOf('b', 2, 2)] });
    const { tip, rows } = await read(blobs);
    expect(rows).toEqual([
      ['a', 1],
      ['b', 2],
    ]);
    expect(tip).toMatchObject({ last: nameOf(3), lastVersion: 2, nextNumber: 4 });
  });

  it('takes up behind a snapshot', async () => {
    const { blobs } = setUp();
    const part = `${blobName('part', 2, OWNER)}-000000`;
    await append(blobs, 1, { previous: 0, version: 1, lines: [lineOf('a', 1, 1)] });
    await blobs.write(part, lineOf('b', 7, 7));
    const head = { last: nameOf(1), lastVersion: 7, parts: [part], meta: { identity: 'x' } };
    await blobs.write(blobName('snapshot', 2, OWNER), JSON.stringify(head));
    await append(blobs, 3, { previous: 1, version: 6, lines: [lineOf('c', 6, 6)] });
    expect(await read(blobs)).toEqual({
      tip: {
        last: nameOf(3),
        lastVersion: 7,
        nextNumber: 4,
        format: FORMAT,
        meta: { identity: 'x' },
      },
      rows: [
        ['b', 7],
        ['c', 6],
      ],
    });
  });

  it('takes an older snapshot where a part of the newest is missing', async () => {
    const { blobs } = setUp();
    const partOf = (number: number): string => `${blobName('part', number, OWNER)}-000000`;
    for (const number of [1, 2]) {
      const head = { last: '', lastVersion: number, parts: [partOf(number)] };
      await blobs.write(blobName('snapshot', number, OWNER), JSON.stringify(head));
    }
    await blobs.write(partOf(1), lineOf('a', 1, 1));
    const { tip, rows } = await read(blobs);
    expect([tip.lastVersion, tip.nextNumber, rows]).toEqual([1, 3, [['a', 1]]]);
  });

  it('refuses parts without a snapshot, unless the journal holds everything', async () => {
    const { blobs } = setUp();
    await blobs.write(`${blobName('part', 2, OWNER)}-000000`, lineOf('b', 7, 7));
    await expect(read(blobs)).rejects.toMatchObject({
      code: 'corrupt',
      message: expect.stringContaining('no snapshot can be read'),
    });
    await append(blobs, 1, { previous: 0, version: 1, lines: [lineOf('a', 1, 1)] });
    expect((await read(blobs)).rows).toEqual([['a', 1]]);
  });

  it.each([
    ['its beginning', 2, /its journal has a hole, journal-000000000001-0a1b2c3d is missing/],
    ['a blob in between', 3, /its journal has a hole, journal-000000000002-0a1b2c3d is missing/],
  ])('refuses a journal that misses %s', async (_what, first, message) => {
    const { blobs, map } = setUp();
    for (const n of [1, 2, 3])
      await append(blobs, n, { previous: n - 1, version: n, lines: [lineOf('a', n, n)] });
    map.blobs.delete(nameOf(first - 1));
    await expect(read(blobs)).rejects.toMatchObject({
      code: 'corrupt',
      message: expect.stringMatching(message),
    });
  });

  it('takes a last blob that was cut short for none, and one that was changed for damage', async () => {
    const { blobs, map } = setUp();
    await append(blobs, 1, { previous: 0, version: 1, lines: [lineOf('a', 1, 1)] });
    await append(blobs, 2, { previous: 1, version: 2, lines: [lineOf('a', 2, 2)] });
    const whole = map.blobs.get(nameOf(2)) ?? '';
    for (let length = 0; length < whole.length; length++) {
      map.blobs.set(nameOf(2), whole.slice(0, length));
      const { tip, rows } = await read(blobs);
      expect([tip.last, tip.nextNumber, rows]).toEqual([nameOf(1), 3, [['a', 1]]]);
    }
    map.blobs.set(nameOf(2), whole.replace('2,0,2]', '2,0,3]'));
    await expect(read(blobs)).rejects.toMatchObject({
      code: 'corrupt',
      message: expect.stringContaining(`${nameOf(2)} was changed`),
    });
  });
});

describe('the format of a journal', () => {
  it('is that of its newest whole snapshot, else of its newest whole blob', async () => {
    const { blobs, map } = setUp();
    expect(await storedFormat(blobs, await blobs.list())).toBe(0);
    blobs.useFormat(1);
    await append(blobs, 1, { previous: 0, version: 1, lines: [] });
    blobs.useFormat(FORMAT);
    await append(blobs, 2, { previous: 1, version: 1, lines: [] });
    expect(await storedFormat(blobs, await blobs.list())).toBe(FORMAT);
    map.blobs.set(nameOf(2), 'torn');
    expect(await storedFormat(blobs, await blobs.list())).toBe(1);
    await blobs.write(blobName('snapshot', 1, OWNER), '{}');
    expect(await storedFormat(blobs, await blobs.list())).toBe(FORMAT);
  });
});
