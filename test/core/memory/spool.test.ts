import { existsSync, readdirSync, statSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/core/time/clock.ts';
import { createIdSource } from '../../../src/core/ids.ts';
import { createSpools } from '../../../src/core/memory/spool.ts';
import type { Spools } from '../../../src/core/memory/spool.ts';
import {
  fromBytes,
  gatherBody,
  joinBodies,
  sliceBody,
} from '../../../src/core/memory/spooled-body.ts';
import type { SpooledBody } from '../../../src/core/memory/spooled-body.ts';

let parent: string;
let directory: string;
let spools: Spools;

beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), 'spool-'));
  directory = join(parent, 'bodies');
  spools = createSpools(directory, createIdSource(systemClock));
});
afterEach(() => rm(parent, { recursive: true, force: true }));

async function read(body: SpooledBody, start?: number, end?: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of body.open(start, end)) chunks.push(chunk);
  return Buffer.concat(chunks);
}

const bytes = (length: number): Buffer =>
  Buffer.from(Array.from({ length }, (_, index) => (index * 7) % 251));

describe('a spool', () => {
  it.each([
    ['in memory', 1000, false],
    ['on disk', 1_000_000, true],
  ])('gives back what was written, as often as wanted, %s', async (_, length, onDisk) => {
    const spool = spools.create();
    const whole = bytes(length);
    for (let at = 0; at < length; at += 70_000) await spool.write(whole.subarray(at, at + 70_000));
    expect(spool).toHaveLength(length);
    expect(existsSync(directory)).toBe(onDisk);
    const [one, two] = await Promise.all([read(spool), read(spool)]);
    expect(one.equals(whole) && two.equals(whole)).toBe(true);
    expect((await read(spool, 300, 900)).equals(whole.subarray(300, 900))).toBe(true);
    await spool.dispose();
    await spool.dispose();
    await expect(read(spool)).rejects.toThrow('disposed');
  });

  it('leaves no name on the disk, in a directory that is nobody else’s', async () => {
    const spool = spools.create();
    await spool.write(bytes(500_000));
    expect(readdirSync(directory)).toEqual([]);
    expect(statSync(directory).mode & 0o777).toBe(0o700);
    await spool.dispose();
  });

  it('sweeps away the name of a file whose process ended before it could', async () => {
    await mkdir(directory);
    await writeFile(join(directory, 'body_old'), '');
    const spool = spools.create();
    await spool.write(bytes(500_000));
    expect(readdirSync(directory)).toEqual([]);
    await spool.dispose();
  });

  it('stops a reader that is at it when it is disposed of', async () => {
    const spool = spools.create();
    await spool.write(bytes(500_000));
    const reader = spool.open()[Symbol.asyncIterator]();
    expect((await reader.next()).value).toHaveLength(65_536);
    const next = reader.next();
    await spool.dispose();
    await next.catch(() => undefined);
    await expect(reader.next()).rejects.toThrow();
  });

  it('tells when there is no room', async () => {
    await writeFile(directory, 'in the way');
    await expect(spools.create().write(bytes(500_000))).rejects.toMatchObject({ code: 'EEXIST' });
  });
});

describe('bodies', () => {
  it('that are joined and cut read as their bytes would', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.uint8Array({ maxLength: 20 }), { maxLength: 5 }),
        fc.nat(100),
        fc.nat(100),
        async (pieces, a, b) => {
          const whole = Buffer.concat(pieces);
          const [start, end] = [a, b].map((at) => Math.min(at, whole.length)).sort((x, y) => x - y);
          const body = joinBodies(pieces.map((piece) => fromBytes(Buffer.from(piece))));
          expect((await read(body)).equals(whole)).toBe(true);
          const part = sliceBody(body, start as number, end as number);
          expect((await read(part)).equals(whole.subarray(start, end))).toBe(true);
          expect(part).toHaveLength((await read(body, start, end)).length);
        },
      ),
    );
  });

  it('are gathered up to a limit', async () => {
    expect((await gatherBody(fromBytes(bytes(10)), 10))?.length).toBe(10);
    expect(await gatherBody(fromBytes(bytes(11)), 10)).toBeUndefined();
  });
});
