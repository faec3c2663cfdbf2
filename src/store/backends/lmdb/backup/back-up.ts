import { randomBytes } from 'node:crypto';
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { Clock } from '../../../../core/time/clock.ts';
import { damaged } from '../../../damage.ts';
import { openRawLmdb } from '../raw-lmdb.ts';
import { letThemBeStored } from '../waiting-files.ts';
import { StoreError } from '../../../store.ts';
import { verifyStore } from '../../../raw/verify-store.ts';
import type { WalkOptions } from '../../../raw/summary.ts';
import {
  asStoreErrors,
  assertRoom,
  digestFile,
  filesBelow,
  syncFolder,
  type CopyOptions,
} from './files.ts';
import {
  BACKUP_FORMAT,
  DATA_FILE,
  MANIFEST,
  MEDIA_FOLDER,
  STORE_FOLDER,
  type BackedUpFile,
  type Manifest,
} from './manifest.ts';

const COPY_TRIES = 5;

export interface BackUpOptions extends WalkOptions, CopyOptions {
  /** The folder of the embedded store. */
  readonly store: string;
  /** The folder of media; undefined where they lie elsewhere. */
  readonly media: string | undefined;
  /** The folder to make; it may be there if it is empty. */
  readonly target: string;
  readonly clock: Clock;
}

/**
 * Copies a store that any number of processes serve, then the media that its rows may name. The copy holds
 * every write that was acknowledged before the call; it gets its name when all of it is on the disk. Rejects
 * with `StoreError` and leaves nothing: `unavailable` where there is no store or the target holds something,
 * `locked` while its folder has pending calls of a killed gateway, `full`, `read_only`, `corrupt`.
 */
export async function backUp(options: BackUpOptions): Promise<Manifest> {
  const to = resolve(options.target);
  return asStoreErrors(`cannot write the backup ${to}`, async () => {
    await assertEmpty(to);
    const parent = dirname(to);
    await mkdir(parent, { recursive: true });
    const partial = `${to}.partial-${randomBytes(4).toString('hex')}`;
    try {
      const manifest = await write(partial, options);
      await rename(partial, to);
      await syncFolder(parent);
      return manifest;
    } catch (error) {
      await rm(partial, { recursive: true, force: true });
      throw error;
    }
  });
}

async function assertEmpty(directory: string): Promise<void> {
  const names = await readdir(directory).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  if (names.length === 0) return;
  throw new StoreError(
    'unavailable',
    `${directory} is not empty; name a folder that is not there yet`,
  );
}

async function write(directory: string, options: BackUpOptions): Promise<Manifest> {
  const { store, media, clock } = options;
  const createdAt = new Date(clock.now()).toISOString();
  const folder = join(directory, STORE_FOLDER);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await letThemBeStored(store);
  await copyStore(store, folder);
  // Copied after the store: a file is there before the row that names it, and is never changed.
  const files = media === undefined ? [] : await copyMedia(media, directory, options);
  const copy = await look(folder, options);
  await syncFile(join(directory, DATA_FILE));
  const data = await digestFile(join(directory, DATA_FILE), options);
  const manifest: Manifest = {
    format: BACKUP_FORMAT,
    created_at: createdAt,
    store: copy,
    files: [{ path: DATA_FILE, ...data }, ...files],
  };
  await writeManifest(directory, manifest);
  await syncTree(directory);
  return manifest;
}

async function copyStore(store: string, to: string): Promise<void> {
  for (let left = COPY_TRIES; ; left--) {
    const raw = await openRawLmdb(store);
    try {
      const { size } = await stat(join(store, 'data.mdb'));
      await assertRoom(to, size);
      return await raw.copyTo(to);
    } catch (error) {
      // The store outgrew what this process had mapped of it.
      const outgrown = error instanceof StoreError && error.message.includes('MAP_RESIZED');
      if (!outgrown || left === 1) throw error;
      await rm(join(to, 'data.mdb'), { force: true });
    } finally {
      await raw.close();
    }
  }
}

/** Every row of the copy is read, so that a backup that is there can be read. */
async function look(directory: string, options: WalkOptions): Promise<Manifest['store']> {
  const raw = await openRawLmdb(directory);
  try {
    const { rows, checksum, problems } = await verifyStore(raw, options);
    const [problem] = problems;
    if (problem) {
      throw damaged('a row cannot be read');
    }
    const identity = raw.meta.identity ?? null;
    return { driver: 'lmdb', format: raw.format, identity, rows, checksum };
  } finally {
    await raw.close();
    await rm(join(directory, 'lock.mdb'), { force: true });
  }
}

async function copyMedia(
  media: string,
  directory: string,
  options: CopyOptions,
): Promise<BackedUpFile[]> {
  const files: BackedUpFile[] = [];
  for (const name of await filesBelow(media)) {
    const path = join(MEDIA_FOLDER, name);
    const to = join(directory, path);
    const copied = await digestFile(join(media, name), options, to).catch(ifGone);
    if (copied) files.push({ path, ...copied });
  }
  return files;
}

/** Skips a file that was deleted since it was listed, with the row that named it. */
function ifGone(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}

async function writeManifest(directory: string, manifest: Manifest): Promise<void> {
  const file = await open(join(directory, MANIFEST), 'wx', 0o600);
  try {
    await file.writeFile(`${JSON.stringify(manifest, null, 2)}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function syncFile(path: string): Promise<void> {
  const file = await open(path, 'r+');
  try {
    await file.chmod(0o600);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function syncTree(directory: string): Promise<void> {
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    if (entry.isDirectory()) await syncFolder(join(entry.parentPath, entry.name));
  }
  await syncFolder(directory);
}
