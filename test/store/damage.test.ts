import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../src/core/time/clock.ts';
import { openStore } from '../../src/store/open-store.ts';
import type { Op } from '../../src/store/store.ts';
import { temporaryDirectory } from '../conformance/store-kill.ts';
import { verifies } from '../requirements.ts';
import { runsOf } from '../runs.ts';
import { bundleScript } from '../support/process/bundle-script.ts';
import type { DamageReport } from './support/damaged-store-process.ts';

const SCRIPT = fileURLToPath(new URL('support/damaged-store-process.ts', import.meta.url));
const SECRET = 'BYTES-OF-A-ROW';
const SENTENCE = /is damaged: [^`]+; restore a backup: `gateway store restore BACKUP --replace`/;

/** A small store with all that a file can hold: rows, long values, rows that expire, free pages. */
async function makeStore(): Promise<{ directory: string; content: Buffer }> {
  const directory = await temporaryDirectory();
  const store = await openStore({ driver: 'lmdb', path: directory }, { clock: systemClock });
  for (let round = 0; round < 20; round++)
    await store.commit(
      Array.from({ length: 20 }, (_, index) => {
        const value = { text: `${SECRET} ${'x'.repeat(index * 7)}` };
        const key = ['row', round * 20 + index];
        return { type: 'put' as const, key, value, ...(index % 3 === 0 && { ttlMs: 3_600_000 }) };
      }),
    );
  for (let i = 0; i < 6; i++)
    await store.commit([{ type: 'put', key: ['big', i % 3], value: SECRET.repeat(700) }]);
  await store.close();
  return { directory, content: await readFile(join(directory, 'data.mdb')) };
}

/** One process for many damaged stores; how it ended where it did. */
function createReader() {
  let child: ChildProcess | undefined;
  const start = async (): Promise<ChildProcess> => {
    const next = fork(await bundleScript(SCRIPT), [], { stdio: 'ignore' });
    await once(next, 'message');
    return next;
  };
  onTestFinished(() => void child?.kill('SIGKILL'));
  return async (path: string): Promise<readonly string[]> => {
    const reader = (child ??= await start());
    const failures = await new Promise<readonly string[]>((resolve) => {
      reader.once('exit', (code, signal) => resolve([`ended with ${signal ?? code}`]));
      reader.once('message', (report: DamageReport) => resolve(report.failures));
      reader.send(path);
    });
    reader.removeAllListeners();
    if (reader.exitCode !== null || reader.signalCode !== null) child = undefined;
    return failures;
  };
}

/** The same numbers each time (mulberry32). */
function createRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return (((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below || 0;
  };
}

const FLIPS = runsOf(40, 200);
const SHORT = runsOf(2, 5);

describe('a data file', () => {
  it(
    verifies(
      'store.damage.flipped-bytes',
      'with flipped bytes is told in one sentence, without a byte of a row, or does no harm',
    ),
    async () => {
      const { content } = await makeStore();
      const root = await temporaryDirectory();
      const read = createReader();
      const random = createRandom(13);
      let found = 0;
      for (let i = 0; i < FLIPS; i++) {
        const flipped = Buffer.from(content);
        // Every other time in the head of a page, where the file is most easily broken.
        const at = Math.floor(random(content.length));
        const place = i % 2 === 0 ? at : Math.floor(at / 4_096) * 4_096 + Math.floor(random(200));
        for (let n = 0; n < 1 + (i % 3); n++)
          flipped[place + n] = flipped[place + n]! ^ (1 + Math.floor(random(255)));
        const directory = join(root, String(i));
        await mkdir(directory);
        await writeFile(join(directory, 'data.mdb'), flipped);
        const failures = await read(directory);
        const where = `byte ${place} of page ${Math.floor(place / 4_096)}`;
        for (const failure of failures) expect(failure, where).toMatch(SENTENCE);
        expect(failures.join(), where).not.toMatch(/BYTES|xxx|JSON|Unexpected/);
        if (failures.length > 0) found++;
      }
      expect(found).toBeGreaterThan(FLIPS / 10);
    },
    120_000,
  );

  it('is sound where a commit gave back pages unwritten, or put a short value in the pages of a long one', async () => {
    const random = createRandom(29);
    const read = createReader();
    const root = await temporaryDirectory();
    let short = 0;
    for (let number = 0; short < SHORT; number++) {
      expect(number, 'stores').toBeLessThan(100);
      const { file, closed } = await growUntilShort(random);
      const directory = join(root, String(number));
      await mkdir(directory);
      await writeFile(join(directory, 'data.mdb'), file);
      expect(await read(directory)).toEqual([]);
      await writeFile(join(directory, 'data.mdb'), file.subarray(0, file.length / 2));
      expect((await read(directory)).join()).toContain('it is shorter than its last commit');
      if (file.length < countedBytes(file)) short++;
      // Whoever closes a store leaves it whole, so that every page that it loses is missed.
      expect(closed.length).toBeGreaterThanOrEqual(countedBytes(closed));
      await writeFile(join(directory, 'data.mdb'), closed.subarray(0, countedBytes(closed) - PAGE));
      expect((await read(directory)).join()).toContain('it is shorter than its last commit');
    }
  }, 120_000);
});

const PAGE = 4_096;

/**
 * File of a new store after a few commits, or as soon as it is shorter than the pages that it counts; and as
 * it is once the store is closed.
 */
async function growUntilShort(
  random: (below: number) => number,
): Promise<{ file: Buffer; closed: Buffer }> {
  const below = (limit: number): number => Math.floor(random(limit));
  const path = await temporaryDirectory();
  const store = await openStore({ driver: 'lmdb', path }, { clock: systemClock });
  let content = Buffer.alloc(0);
  for (let round = 0; round < 30 && content.length >= countedBytes(content); round++) {
    const first = below(300);
    // Commits that come together become one of the file, in which values replace each other.
    const together = Array.from({ length: 1 + below(60) }, async () => {
      const key = ['row', first + below(80)];
      const value = randomText(below(10) < 8 ? below(700) : below(30_000), below);
      const op: Op = below(10) < 4 ? { type: 'delete', key } : { type: 'put', key, value };
      await store.commit([op]);
    });
    await Promise.all(together);
    content = await readFile(join(path, 'data.mdb'));
  }
  await store.close();
  return { file: content, closed: await readFile(join(path, 'data.mdb')) };
}

/** Text that no compression makes much shorter. */
function randomText(length: number, below: (limit: number) => number): string {
  return String.fromCharCode(...Array.from({ length }, () => 33 + below(90)));
}

/** Bytes of the pages that the newer of the two first pages counts. */
function countedBytes(content: Buffer): number {
  if (content.length === 0) return 0;
  const [, last] = [0, PAGE]
    .map((at) => [content.readUIntLE(at + 152, 6), content.readUIntLE(at + 144, 6)] as const)
    .reduce((newest, other) => (other[0] > newest[0] ? other : newest));
  return (last + 1) * PAGE;
}
