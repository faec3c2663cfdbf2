import { statfsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../../core/time/clock.ts';
import { StoreError } from '../../store.ts';

const MIB = 1024 * 1024;
/**
 * Nothing is written into the last bytes of the disk: there is room to delete and to open, and
 * lmdb never meets a disk that is really full, where its error path damages memory (3.5.6).
 */
const RESERVED_BYTES = 64 * MIB;
/** Spare bytes with which no disk fills up within so many milliseconds, other writers included. */
const AMPLE_BYTES = 1024 * MIB;
const AMPLE_MS = 100;
/** More than a lock file takes. */
const LOCK_BYTES = MIB;

export interface DiskRoomOptions {
  clock: Clock;
  /** Folder of the store, for errors. */
  directory: string;
  freeBytes: () => number;
}

/** Knows whether the disk takes another group of writes. */
export interface DiskRoom {
  /** Throws `StoreError` `full` when these bytes of values would reach into the last 64 MiB. */
  take(bytes: number): void;
}

/** Asks the system before every group, but only now and then while there is plenty of room. */
export function createDiskRoom({ clock, directory, freeBytes }: DiskRoomOptions): DiskRoom {
  let free = 0;
  let askAgainAt = -Infinity;
  return {
    take(bytes) {
      const now = clock.monotonic();
      if (now >= askAgainAt || free < AMPLE_BYTES) {
        free = freeBytes();
        askAgainAt = now + AMPLE_MS;
      }
      // A page is rewritten for every change in it, so a group takes more room than its values.
      const needed = bytes * 2;
      if (free < RESERVED_BYTES + needed) throw full(directory, free, RESERVED_BYTES);
      free -= needed;
    },
  };
}

/**
 * Throws `StoreError` `full` where lmdb would make a file on a disk without room for it: it maps the file into
 * memory, and the first write to a page that the disk does not take ends the process (SIGBUS).
 */
export function assertRoomForFiles(directory: string, freeBytes: () => number): void {
  const [data, lock] = ['data.mdb', 'lock.mdb'].map((name) =>
    statSync(join(directory, name), { throwIfNoEntry: false }),
  );
  if (data && data.size > 0 && lock) return;
  const needed = data && data.size > 0 ? LOCK_BYTES : RESERVED_BYTES;
  const free = freeBytes();
  if (free < needed) throw full(directory, free, needed);
}

/** Bytes that this user may still write to the disk of a folder. */
export function freeBytesOf(directory: string): number {
  const { bavail, bsize } = statfsSync(directory);
  return bavail * bsize;
}

function full(directory: string, free: number, kept: number): StoreError {
  const [left, last] = [free, kept].map((bytes) => Math.floor(bytes / MIB));
  return new StoreError(
    'full',
    `the disk of ${directory} is full: ${left} MiB are left, and nothing is written into the last ${last}; free some space there`,
  );
}
