import { reasonOf } from '../../../core/errors.ts';
import { accessSync, chmodSync, constants, mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { AbsentStore } from '../../damage.ts';
import { StoreError } from '../../store.ts';
import { assertSound } from './file/assert-sound.ts';

/** Mode of the files: the folder may have been there before, open to all users. */
export const FILE_MODE = 0o600;

/**
 * Makes the directory (mode 0700), takes its files from other users and checks its content before lmdb does,
 * because lmdb ends the process over files that it cannot read. True for a sound file that is shorter than the
 * pages that it counts. Throws `StoreError` `unavailable` or `corrupt`.
 */
export function prepareDirectory(directory: string): boolean {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
  } catch (cause) {
    throw unusable(directory, cause);
  }
  assertWritable(directory);
  const file = join(directory, 'data.mdb');
  return sizeOf(file) > 0 && assertSound(file);
}

/** Throws `StoreError` `unavailable` where this user may not write the directory and its files. */
export function assertWritable(directory: string): void {
  try {
    accessSync(directory, constants.R_OK | constants.W_OK | constants.X_OK);
    for (const name of ['data.mdb', 'lock.mdb']) assertUsable(join(directory, name));
  } catch (cause) {
    throw unusable(directory, cause);
  }
}

/**
 * Looks whether a store is there to be read. True for one whose file is sound but shorter than the pages that it
 * counts. Throws `unavailable`, `corrupt` or `newer_format`.
 */
export function assertReadable(directory: string): boolean {
  const file = join(directory, 'data.mdb');
  if (!statSync(file, { throwIfNoEntry: false })?.isFile()) {
    throw new AbsentStore(`in ${directory}`);
  }
  return assertSound(file);
}

/** Zero where there is no file. */
function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

/** The error with a remedy for the directory. */
export function unusable(directory: string, cause: unknown): StoreError {
  const reason = reasonOf(cause);
  return new StoreError(
    'unavailable',
    `cannot use ${directory} as the store: ${reason}; name a directory on a local disk that this user may write to (server.store.path)`,
    { cause },
  );
}

function assertUsable(file: string): void {
  const stat = statSync(file, { throwIfNoEntry: false });
  if (!stat) return;
  if (!stat.isFile()) throw new Error(`${file} is not a file`);
  accessSync(file, constants.R_OK | constants.W_OK);
  if (stat.uid === process.getuid?.() && (stat.mode & 0o077) !== 0) closeToOthers(file);
}

/** Some file systems know no modes. */
function closeToOthers(file: string): void {
  try {
    chmodSync(file, FILE_MODE);
  } catch {
    // The store serves as it is.
  }
}
