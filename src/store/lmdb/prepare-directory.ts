import { accessSync, closeSync, constants, mkdirSync, openSync, readSync, statSync } from 'node:fs';
import { endianness } from 'node:os';
import { join } from 'node:path';
import { StoreError } from '../store.ts';

const MAGIC = 0xbeefc0de;
const FILE_FORMAT = 2;
/** The magic number and the format of the file follow the header of its first page. */
const MAGIC_AT = 24;
const FORMAT_AT = 28;

/**
 * Makes the directory (mode 0700) and looks at what is in it before lmdb does, because lmdb ends the
 * process over files that it cannot read. Throws `StoreError` `unavailable` or `corrupt`.
 */
export function prepareDirectory(directory: string): void {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    accessSync(directory, constants.R_OK | constants.W_OK | constants.X_OK);
    for (const name of ['data.mdb', 'lock.mdb']) assertUsable(join(directory, name));
  } catch (cause) {
    throw unusable(directory, cause);
  }
  assertStore(join(directory, 'data.mdb'));
}

/** Looks whether a store is there to be read. Throws `unavailable`, `corrupt` or `newer_format`. */
export function assertReadable(directory: string): void {
  const file = join(directory, 'data.mdb');
  if (!statSync(file, { throwIfNoEntry: false })?.isFile()) {
    throw new StoreError('unavailable', `there is no store in ${directory}`);
  }
  assertStore(file);
}

/** The error that tells the operator what to do about a directory. */
export function unusable(directory: string, cause: unknown): StoreError {
  const reason = cause instanceof Error ? cause.message : String(cause);
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
}

function assertStore(file: string): void {
  const head = readHead(file);
  if (head.length === 0) return;
  const read = endianness() === 'LE' ? head.readUInt32LE.bind(head) : head.readUInt32BE.bind(head);
  if (head.length < FORMAT_AT + 4 || read(MAGIC_AT) !== MAGIC) {
    throw new StoreError('corrupt', `${file} is not a store; move it away or restore a backup`);
  }
  const format = read(FORMAT_AT);
  if (format > FILE_FORMAT) {
    throw new StoreError(
      'newer_format',
      `${file} has file format ${format}; use the release that wrote it`,
    );
  }
}

/** Empty when there is no file yet, or nothing in it. */
function readHead(file: string): Buffer {
  if (!statSync(file, { throwIfNoEntry: false })) return Buffer.alloc(0);
  const descriptor = openSync(file, 'r');
  try {
    const head = Buffer.alloc(FORMAT_AT + 4);
    return head.subarray(0, readSync(descriptor, head));
  } finally {
    closeSync(descriptor);
  }
}
