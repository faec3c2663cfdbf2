import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { copyFile, link, mkdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { Clock } from '../../../../core/time/clock.ts';
import { findPeers } from '../doorbell.ts';
import { findWaiting, waitingFolder } from '../waiting-files.ts';
import type { WalkOptions } from '../../../raw/summary.ts';
import { StoreError } from '../../../store.ts';
import { asStoreErrors, assertRoom, digestFile, syncFolder, type CopyOptions } from './files.ts';
import { DATA_FILE, MEDIA_FOLDER, type BackedUpFile, type Manifest } from './manifest.ts';
import { verifyBackup } from './verify-backup.ts';

export interface RestoreOptions extends WalkOptions, CopyOptions {
  readonly from: string;
  /** The folder of the embedded store. */
  readonly store: string;
  /** The folder of media. */
  readonly media: string;
  /** True: in place of a store that is there. */
  readonly replace: boolean;
  readonly clock: Clock;
}

export interface Restored {
  readonly manifest: Manifest;
  /** Path of the former store now; undefined where there was none. */
  readonly formerStore: string | undefined;
}

/**
 * Puts the store of a backup in the place of another, in one step: whatever ends it, there is the old store or
 * the new one. Media are added to those that are there, since the content of a name never changes. Rejects with
 * `StoreError` before anything changed: `locked` while a process has the store open or when it is not to be
 * replaced, `corrupt` when the backup is, `newer_format`, `full`.
 */
export async function restore(options: RestoreOptions): Promise<Restored> {
  const from = resolve(options.from);
  const store = resolve(options.store);
  const { manifest, problems } = await verifyBackup(from, options);
  const [problem] = problems;
  if (problem) {
    const message = `the backup is damaged: ${problem.where}: ${problem.what}`;
    throw new StoreError('corrupt', message);
  }
  return asStoreErrors(`cannot restore to ${store}`, async () => {
    await assertFree(store, options.replace);
    await mkdir(store, { recursive: true, mode: 0o700 });
    await assertRoom(
      store,
      manifest.files.reduce((sum, { size }) => sum + size, 0),
    );
    for (const file of manifest.files) {
      if (file.path !== DATA_FILE) await addMedia(from, file, options);
    }
    return { manifest, formerStore: await swap(from, store, options) };
  });
}

async function assertFree(store: string, replace: boolean): Promise<void> {
  if (!(await exists(store))) return;
  const peers = await findPeers(store);
  if (peers.length > 0) {
    const who = [...new Set(peers)].join(', ');
    throw new StoreError('locked', `process ${who} has ${store} open; stop the gateway first`);
  }
  if (replace || !(await exists(join(store, 'data.mdb')))) return;
  throw new StoreError(
    'locked',
    `there is a store in ${store}; --replace moves it aside and puts the backup in its place`,
  );
}

async function addMedia(
  from: string,
  { path, size, sha256 }: BackedUpFile,
  options: RestoreOptions,
): Promise<void> {
  const to = join(options.media, path.slice(MEDIA_FOLDER.length + 1));
  if (await exists(to)) {
    const found = await digestFile(to, options);
    if (found.size === size && found.sha256 === sha256) return;
  }
  await mkdir(dirname(to), { recursive: true, mode: 0o700 });
  const partial = `${to}.restoring-${randomBytes(4).toString('hex')}`;
  try {
    await digestFile(join(from, path), options, partial);
    await rename(partial, to);
    await syncFolder(dirname(to));
  } finally {
    await rm(partial, { force: true });
  }
}

/** One rename is the switch; the former file has a second name by then. */
async function swap(
  from: string,
  store: string,
  options: RestoreOptions,
): Promise<string | undefined> {
  const data = join(store, 'data.mdb');
  const partial = `${data}.restoring-${randomBytes(4).toString('hex')}`;
  let former: string | undefined;
  let isSwitched = false;
  try {
    await digestFile(join(from, DATA_FILE), options, partial);
    if (await exists(data)) former = await setAside(data, store, options);
    // A gateway may have started meanwhile.
    await assertFree(store, true);
    await rename(partial, data);
    isSwitched = true;
    if (former !== undefined) await rm(waitingFolder(store), { recursive: true, force: true });
  } catch (error) {
    if (former !== undefined && !isSwitched) await rm(former, { recursive: true, force: true });
    throw error;
  } finally {
    await rm(partial, { force: true });
  }
  await syncFolder(store);
  return former;
}

/** Copies writes that were not stored yet along with their store; the two may lie on two file systems. */
async function copyWaiting(store: string, former: string, options: CopyOptions): Promise<void> {
  const from = waitingFolder(store);
  const to = waitingFolder(former);
  for (const name of await findWaiting(store))
    await digestFile(join(from, name), options, join(to, name));
  if (await exists(to)) await syncFolder(to);
}

async function setAside(data: string, store: string, options: RestoreOptions): Promise<string> {
  const stamp = new Date(options.clock.now()).toISOString().replace(/[:.]/g, '-');
  const aside = `${store}.before-${stamp}-${randomBytes(2).toString('hex')}`;
  await mkdir(aside, { mode: 0o700 });
  const copy = join(aside, 'data.mdb');
  // File systems without hard links get a copy.
  await link(data, copy).catch(() => copyFile(data, copy, constants.COPYFILE_EXCL));
  await copyWaiting(store, aside, options);
  await syncFolder(aside);
  await syncFolder(dirname(aside));
  return aside;
}

async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined)) !== undefined;
}
