import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { expect } from 'vitest';
import type { Store } from '../../../src/store/store.ts';

const FIXTURES = fileURLToPath(new URL('../../fixtures/store-format-1', import.meta.url));

/** Stores of format 1, as release 1.0 of the code wrote them: one of lmdb, one of the driver fs. */
export async function formatOneStore(driver: 'lmdb' | 'fs', path: string): Promise<void> {
  await mkdir(path, { recursive: true });
  if (driver === 'fs') return cp(join(FIXTURES, 'fs'), path, { recursive: true });
  await writeFile(
    join(path, 'data.mdb'),
    gunzipSync(await readFile(join(FIXTURES, 'data.mdb.gz'))),
  );
}

/** What stands in them, with the versions of then. */
export async function expectFormatOneRows(store: Store): Promise<void> {
  const entries = await store.list({ prefix: [], limit: 100 });
  expect(entries).toEqual([
    { key: ['bytes', '\0'], value: Uint8Array.of(0, 255, 1), version: '1' },
    { key: ['count'], value: 42, version: '3' },
    { key: ['late'], value: 'until 2100', version: '1' },
    { key: ['lone', '\ud800'], value: '\ud800', version: '1' },
    { key: ['number', -1.5], value: { nested: [1, null, 'x'], ok: true }, version: '1' },
    { key: ['text', 'a/b:c$'], value: 'kept', version: '1' },
  ]);
}

/** Every file and what is in it. */
export async function contentOf(path: string): Promise<Record<string, string>> {
  const names = (await readdir(path)).filter((name) => name !== 'lock.mdb').toSorted();
  const contents = names.map(async (name) => [name, await readFile(join(path, name), 'hex')]);
  return Object.fromEntries(await Promise.all(contents)) as Record<string, string>;
}
