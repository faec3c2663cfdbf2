import { rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { openRawLmdb } from '../raw-lmdb.ts';
import type { WalkOptions } from '../../../raw/summary.ts';
import { verifyStore, type Problem, type Verified } from '../../../raw/verify-store.ts';
import { asStoreErrors, digestFile, filesBelow, type CopyOptions } from './files.ts';
import { MANIFEST, readManifest, STORE_FOLDER, type Manifest } from './manifest.ts';

export interface BackupReport {
  readonly manifest: Manifest;
  /** Undefined when its file is not the one that was written. */
  readonly store: Verified | undefined;
  readonly problems: readonly Problem[];
}

/** Every file against the manifest, then every row. Rejects with `StoreError` when it cannot be read. */
export async function verifyBackup(
  directory: string,
  options: WalkOptions & CopyOptions,
): Promise<BackupReport> {
  return asStoreErrors(`cannot read the backup ${directory}`, async () => {
    const manifest = await readManifest(directory);
    const problems = await checkFiles(directory, manifest, options);
    // lmdb ends the process over pages that it does not expect, so a file that changed stays shut.
    if (problems.some(({ where }) => where.startsWith(STORE_FOLDER))) {
      return { manifest, store: undefined, problems };
    }
    const store = await readRows(join(directory, STORE_FOLDER), options);
    problems.push(...store.problems);
    if (store.rows !== manifest.store.rows || store.checksum !== manifest.store.checksum) {
      problems.push({ where: MANIFEST, what: 'it tells of other rows than there are' });
    }
    return { manifest, store, problems };
  });
}

/** Lists files that are missing or changed; files that are not in the manifest do no harm. */
async function checkFiles(
  directory: string,
  { files }: Manifest,
  options: CopyOptions,
): Promise<Problem[]> {
  const problems: Problem[] = [];
  const present = new Set(await filesBelow(directory));
  for (const { path, size, sha256 } of files) {
    if (!present.has(path)) {
      problems.push({ where: path, what: 'the file is missing' });
      continue;
    }
    const found = await digestFile(join(directory, path), options);
    if (found.size !== size) {
      problems.push({ where: path, what: `it has ${found.size} bytes in place of ${size}` });
    } else if (found.sha256 !== sha256) {
      problems.push({ where: path, what: 'its checksum is another: it was changed or damaged' });
    }
  }
  return problems;
}

async function readRows(directory: string, options: WalkOptions): Promise<Verified> {
  const lock = join(directory, 'lock.mdb');
  const hadLock = (await stat(lock).catch(() => undefined)) !== undefined;
  const raw = await openRawLmdb(directory);
  try {
    return await verifyStore(raw, options);
  } finally {
    await raw.close();
    if (!hadLock) await rm(lock, { force: true });
  }
}
