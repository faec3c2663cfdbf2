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

export interface DiskRoomOptions {
  clock: Clock;
  freeBytes: () => number;
}

/** Knows whether the disk takes another group of writes. */
export interface DiskRoom {
  /** Throws `StoreError` `full` when these bytes of values would reach into the last 64 MiB. */
  take(bytes: number): void;
}

/** Asks the system before every group, but only now and then while there is plenty of room. */
export function createDiskRoom({ clock, freeBytes }: DiskRoomOptions): DiskRoom {
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
      if (free < RESERVED_BYTES + needed) throw full(free);
      free -= needed;
    },
  };
}

function full(free: number): StoreError {
  const left = Math.floor(free / MIB);
  return new StoreError(
    'full',
    `the disk of the store is full: ${left} MiB are left, nothing is written into the last 64`,
  );
}
