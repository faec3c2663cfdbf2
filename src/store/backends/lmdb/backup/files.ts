import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { mkdir, open, readdir, statfs, type FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { StoreError } from '../../../store.ts';

const CHUNK_BYTES = 1024 * 1024;
/** Bytes of a disk that the store itself leaves free. */
const RESERVED_BYTES = 64 * 1024 * 1024;

export interface Digest {
  readonly size: number;
  readonly sha256: string;
}

export interface CopyOptions {
  readonly signal: AbortSignal;
  /** Receives the number of bytes as they are read. */
  readonly onBytes: (bytes: number) => void;
}

/** Reads a file to its end; with `to`, into a new file of mode 0600 that is on the disk when it resolves. */
export async function digestFile(
  from: string,
  { signal, onBytes }: CopyOptions,
  to?: string,
): Promise<Digest> {
  const source = await open(from, 'r');
  let target: FileHandle | undefined;
  try {
    if (to !== undefined) target = await openNew(to);
    const hash = createHash('sha256');
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
    let size = 0;
    for (;;) {
      signal.throwIfAborted();
      const { bytesRead } = await source.read(chunk, 0, CHUNK_BYTES, size);
      if (bytesRead === 0) break;
      const read = chunk.subarray(0, bytesRead);
      hash.update(read);
      await target?.writeFile(read);
      size += bytesRead;
      onBytes(bytesRead);
    }
    await target?.sync();
    return { size, sha256: hash.digest('hex') };
  } finally {
    await source.close();
    await target?.close();
  }
}

async function openNew(path: string): Promise<FileHandle> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  return open(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600);
}

/** Files below a folder, by path in it, in order; none where there is no such folder. */
export async function filesBelow(directory: string): Promise<string[]> {
  const found = await readdir(directory, { recursive: true, withFileTypes: true }).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return [];
      throw error;
    },
  );
  return found
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(directory.length + 1))
    .toSorted();
}

/** Syncs the names of a folder to the disk. */
export async function syncFolder(directory: string): Promise<void> {
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Rejects with `full` where these bytes would leave the disk less than 64 MiB. */
export async function assertRoom(directory: string, bytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(directory);
  if (bavail * bsize >= bytes + RESERVED_BYTES) return;
  throw new StoreError(
    'full',
    `the disk of ${directory} has too little room: ${toMiB(bytes)} MiB are needed and ${toMiB(bavail * bsize)} are left`,
  );
}

const toMiB = (bytes: number): number => Math.ceil(bytes / (1024 * 1024));

const CODES: Readonly<Record<string, 'full' | 'read_only'>> = {
  ENOSPC: 'full',
  EDQUOT: 'full',
  EFBIG: 'full',
  EROFS: 'read_only',
  EACCES: 'read_only',
  EPERM: 'read_only',
};

/** Rejects with refusals of the system as the one error type of stores. */
export async function asStoreErrors<R>(what: string, work: () => Promise<R>): Promise<R> {
  try {
    return await work();
  } catch (cause) {
    if (!(cause instanceof Error && 'code' in cause) || cause instanceof StoreError) throw cause;
    const code = CODES[String(cause.code)] ?? 'unavailable';
    throw new StoreError(code, `${what}: ${cause.message}`, { cause });
  }
}
