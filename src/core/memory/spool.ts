import { Buffer } from 'node:buffer';
import { mkdir, open, readdir, rm } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { atPath } from '../disk-fault.ts';
import { ByteGatherer } from '../sse/byte-gatherer.ts';
import type { IdSource } from '../ids.ts';
import { fromBytes, joinBodies } from './spooled-body.ts';
import type { SpooledBody } from './spooled-body.ts';

/** Up to here a body stays in memory. */
export const SPOOL_MEMORY_BYTES = 256 * 1024;
const READ_BYTES = 64 * 1024;

/** A body that is written once and read any number of times, on disk when it is large. */
export interface Spool extends SpooledBody {
  /** One at a time; await it before the next. Rejects with an error that names the directory. */
  write(chunk: Buffer): Promise<void>;
  /** Gives memory and disk back; who still reads gets an error. Idempotent. */
  dispose(): Promise<void>;
}

/** Makes spools. */
export interface Spools {
  create(): Spool;
}

/**
 * Spools whose files lie in a directory of their own, made with mode 0700 when it is first needed.
 * A file loses its name before anything is written to it, so it is gone when its spool is disposed of
 * or the process ends, however it ends. Several processes may share the directory.
 */
export function createSpools(directory: string, ids: IdSource): Spools {
  let isSwept = false;
  const openFile = async (): Promise<FileHandle> => {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    if (!isSwept) await sweep(directory);
    isSwept = true;
    return openUnnamed(join(directory, ids.next('body')));
  };
  return { create: () => new FileSpool(openFile, directory) };
}

class FileSpool implements Spool {
  length = 0;
  readonly #openFile: () => Promise<FileHandle>;
  readonly #directory: string;
  #memory: ByteGatherer | undefined = new ByteGatherer();
  #file: FileHandle | undefined;

  constructor(openFile: () => Promise<FileHandle>, directory: string) {
    this.#openFile = openFile;
    this.#directory = directory;
  }

  async write(chunk: Buffer): Promise<void> {
    this.length += chunk.length;
    this.#memory?.add(chunk);
    const memory = this.#memory;
    if (memory && this.length <= SPOOL_MEMORY_BYTES) return;
    await atPath(
      this.#directory,
      async () => (memory ? this.#moveToFile(memory) : this.#file?.writeFile(chunk)),
      { setting: 'server.data_dir' },
    );
  }

  open(start = 0, end = this.length): AsyncIterable<Buffer> {
    if (this.#memory) return joinBodies(this.#memory.pieces().map(fromBytes)).open(start, end);
    return readFile(this.#file, start, end);
  }

  async dispose(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    this.#memory = undefined;
    // Waits for reads under way.
    await file?.close();
  }

  async #moveToFile(memory: ByteGatherer): Promise<void> {
    this.#file = await this.#openFile();
    this.#memory = undefined;
    for (const piece of memory.pieces()) await this.#file.writeFile(piece);
  }
}

async function* readFile(
  file: FileHandle | undefined,
  start: number,
  end: number,
): AsyncGenerator<Buffer> {
  if (!file) throw new Error('the body was disposed of');
  for (let at = start; at < end;) {
    const piece = Buffer.allocUnsafe(Math.min(READ_BYTES, end - at));
    const { bytesRead } = await file.read(piece, 0, piece.length, at);
    if (bytesRead === 0) throw new Error('the file of the body is shorter than it was');
    at += bytesRead;
    yield piece.subarray(0, bytesRead);
  }
}

async function openUnnamed(path: string): Promise<FileHandle> {
  const file = await open(path, 'wx+', 0o600);
  try {
    await rm(path, { force: true });
  } catch (error) {
    await file.close();
    throw error;
  }
  return file;
}

/** Removes names of files whose process ended before it could. One that is still at it does not mind. */
async function sweep(directory: string): Promise<void> {
  for (const name of await readdir(directory)) await rm(join(directory, name), { force: true });
}
