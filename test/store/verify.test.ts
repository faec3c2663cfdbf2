import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openStore } from '../../src/store/open-store.ts';
import { openRaw, openRawTarget } from '../../src/store/raw/open-raw.ts';
import { verifyApart } from '../../src/store/raw/verify-apart.ts';
import { verifyStore, type Verified } from '../../src/store/raw/verify-store.ts';
import { temporaryDirectory } from '../conformance/store-kill.ts';
import { verifies } from '../requirements.ts';
import { createFakeClock } from '../support/fake-clock.ts';

const PAGE = 4096;
const clock = createFakeClock();
const work = { signal: new AbortController().signal, onRows: () => undefined };

async function filled(driver: string): Promise<string> {
  const path = join(await temporaryDirectory(), 'store');
  const store = await openStore({ driver, path }, { clock });
  const value = 'v'.repeat(500);
  const rows = Array.from({ length: 400 }, (_, n) => ({
    type: 'put' as const,
    key: [n % 2 ? 'odd' : 'even', n],
    value,
  }));
  await store.commit(rows);
  await store.close();
  return path;
}

async function verified(driver: string, path: string): Promise<Verified> {
  const raw = await openRaw({ driver, path }, { clock, isHeld: false });
  try {
    return await verifyStore(raw, work);
  } finally {
    await raw.close();
  }
}

describe('verifying a store', () => {
  it.each(['lmdb', 'fs'])(
    'counts the rows of %s by the first part of their keys',
    async (driver) => {
      const path = await filled(driver);
      const { rows, segments, problems } = await verified(driver, path);
      expect({ rows, segments, problems }).toEqual({
        rows: 400,
        segments: { even: 200, odd: 200 },
        problems: [],
      });
    },
  );

  it('tells the keys of rows that cannot be decoded', async () => {
    const path = join(await temporaryDirectory(), 'store');
    const target = await openRawTarget({ driver: 'lmdb', path }, clock);
    const row = (key: string, envelope: string) => ({
      key: Buffer.from(key, 'latin1'),
      envelope: Buffer.from(envelope),
      version: 1,
      expiresAt: Infinity,
    });
    await target.write([
      row('\x20a\0', 'j{"cut":'),
      row('\x20b\0', 'x'),
      row('\x20c\0', 'j1'),
      row('\x20d', 'j1'),
      row('\x33e\0', 'j1'),
    ]);
    await target.close();
    const { rows, problems } = await verified('lmdb', path);
    expect(rows).toBe(5);
    expect(problems.map(({ where }) => where)).toEqual(['["a"]', '["b"]', '0x2064', '["e"]']);
  });

  it(
    verifies(
      'store.backup-restore',
      'finds pages of lmdb that were damaged, and outlives the finding',
    ),
    async () => {
      const path = await filled('lmdb');
      const file = join(path, 'data.mdb');
      const content = await readFile(file);
      const pages = Array.from({ length: content.length / PAGE }, (_, page) => page).filter(
        (page) => content.subarray(page * PAGE, (page + 1) * PAGE).includes('v'.repeat(50)),
      );
      const found: string[] = [];
      for (const byte of [0x00, 0xff]) {
        const damaged = Buffer.from(content);
        for (const page of pages) damaged.fill(byte, page * PAGE + 100, (page + 1) * PAGE);
        await writeFile(file, damaged);
        const outcome = await verifyApart({ driver: 'lmdb', path }, work).then(
          (report) => report.verified.problems.map(({ what }) => what).join(),
          (error: Error) => `${(error as { code?: string }).code} ${error.message}`,
        );
        found.push(outcome);
      }
      for (const outcome of found) expect(outcome).toMatch(/^corrupt .*gateway store restore/);
      await writeFile(file, content);
      expect((await verifyApart({ driver: 'lmdb', path }, work)).verified).toMatchObject({
        rows: 400,
        problems: [],
      });
    },
  );
});
