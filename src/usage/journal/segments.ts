import type { Buffer } from 'node:buffer';
import {
  closeSync,
  fdatasync,
  fsync,
  ftruncateSync,
  mkdirSync,
  openSync,
  rmSync,
  writevSync,
} from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { atPathFault } from '../../core/disk-fault.ts';
import { toFrameHead } from './frames.ts';
import { segmentName } from './segment-name.ts';

const syncData = promisify(fdatasync);
const syncAll = promisify(fsync);

interface Segment {
  readonly path: string;
  readonly file: number;
  size: number;
  /** Number of its last line. */
  last: number;
  /** Holds bytes that no sync has taken. */
  isDirty: boolean;
  /** The folder may not know it after a power cut. */
  isNew: boolean;
}

/**
 * Files of one worker's journal. Frames are written in order of their numbers, by one `write` each; a
 * file is removed once everything in it is in the store. Throws an error that names the file.
 */
export class Segments {
  readonly #folder: string;
  readonly #worker: string;
  #current: Segment | undefined;
  #full: Segment[] = [];
  #running: Promise<void> | undefined;
  #queued: Promise<void> | undefined;

  constructor(options: { folder: string; worker: string }) {
    this.#folder = options.folder;
    this.#worker = options.worker;
  }

  /** Bytes of all files. */
  get size(): number {
    return this.#full.reduce((sum, { size }) => sum + size, this.#current?.size ?? 0);
  }

  /** Writes a frame whole, or throws and leaves none of it. */
  write(first: number, { parts, count }: { parts: readonly Buffer[]; count: number }): void {
    const segment = (this.#current ??= this.#open(first));
    const pieces = [toFrameHead({ first, count, parts }), ...parts];
    const size = pieces.reduce((sum, piece) => sum + piece.length, 0);
    segment.last = first + count - 1;
    let written = 0;
    try {
      written = writevSync(segment.file, pieces);
    } catch (error) {
      throw atPathFault(segment.path, error);
    } finally {
      if (written !== size) this.#cut(segment);
    }
    if (written !== size) throw new Error(`the disk took only a part of ${segment.path}`);
    segment.size += size;
    segment.isDirty = true;
  }

  /** Ends the file: later lines go to another one. */
  rotate(): void {
    if (this.#current) this.#full.push(this.#current);
    this.#current = undefined;
  }

  /** Removes the ended files that hold nothing after this number. */
  folded(number: number): void {
    const over = this.#full.filter(({ last }) => last <= number);
    if (over.length === 0) return;
    this.#full = this.#full.filter(({ last }) => last > number);
    // One that woke may find that others have removed them.
    for (const segment of over) rmSync(segment.path, { force: true });
    const close = (): void => over.forEach(({ file }) => closeSync(file));
    // The number of a file that is being synced must not be reused.
    if (this.#running) void this.#running.then(close, close);
    else close();
  }

  /** Resolves when everything that was written before is on the disk; asked at once by many, it is done once. */
  sync(): Promise<void> {
    return (this.#queued ??= this.#syncNext());
  }

  async #syncNext(): Promise<void> {
    const before = this.#running;
    await before?.catch(() => undefined);
    const own = this.#queued;
    this.#queued = undefined;
    this.#running = own;
    try {
      await this.#syncFiles();
    } finally {
      if (this.#running === own) this.#running = undefined;
    }
  }

  async #syncFiles(): Promise<void> {
    const dirty = [...this.#full, ...(this.#current ? [this.#current] : [])].filter(
      ({ isDirty }) => isDirty,
    );
    for (const segment of dirty) {
      segment.isDirty = false;
      await syncData(segment.file).catch((error: unknown) => {
        segment.isDirty = true;
        throw error;
      });
    }
    const fresh = dirty.filter(({ isNew }) => isNew);
    if (fresh.length === 0) return;
    await this.#syncFolder();
    for (const segment of fresh) segment.isNew = false;
  }

  async #syncFolder(): Promise<void> {
    const folder = openSync(this.#folder, 'r');
    try {
      await syncAll(folder);
    } finally {
      closeSync(folder);
    }
  }

  #open(first: number): Segment {
    const path = join(this.#folder, segmentName(this.#worker, first));
    const file = this.#create(path);
    return { path, file, size: 0, last: first, isDirty: false, isNew: true };
  }

  #create(path: string): number {
    try {
      mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
      return openSync(path, 'ax', 0o600);
    } catch (error) {
      throw atPathFault(path, error);
    }
  }

  /** Removes an incomplete frame: nothing after it would be read. */
  #cut(segment: Segment): void {
    this.rotate();
    try {
      ftruncateSync(segment.file, segment.size);
    } catch {
      // A frame that cannot be cut off stays, as the last of its file.
    }
  }
}
