import { hostname } from 'node:os';
import type { Clock, Timer } from '../../../core/time/clock.ts';
import { isFromAhead, toDeadline } from '../../../core/time/deadline.ts';
import { createHostLiveness, type ProcessPlace } from '../../../core/liveness.ts';
import { StoreError } from '../../store.ts';
import { blobName, type BlobName, type Blobs } from './blobs.ts';

const LEASE_MS = 15_000;
const RENEW_MS = 5_000;

interface Lock {
  host: string;
  pid: number;
  /** Distinguishes this process from an earlier one of the same pid. */
  started: number;
  /** Absent where the system shows no processes, and in locks of earlier versions. */
  place?: ProcessPlace | undefined;
  /** Deadline. */
  until: number;
  released: boolean;
}

/** The right of one process to write. */
export interface Lease {
  /** Rejects with `locked` once another process has taken over, with its own error when it cannot find out. */
  ensure: () => Promise<void>;
  /** Writes to the storage, whether or not the lease would last. */
  renew: () => Promise<void>;
  release: () => Promise<void>;
}

/**
 * Takes the lock of a journal: a numbered blob that is renewed before it runs out, never over the old one. The
 * number grows with every turn, so a holder that slept finds out that it was replaced. A lock of a dead process
 * of this host is taken over, and one that ran out unless its process is seen to be there. Rejects with
 * `locked`. Wall clocks of hosts that share a storage must agree within a few seconds.
 */
export async function acquireLease(blobs: Blobs, clock: Clock, owner: string): Promise<Lease> {
  const holder = createHolder(blobs, clock, owner);
  await holder.take();
  let turn: Promise<void> = Promise.resolve();
  let timer: Timer;

  /** One at a time: each turn builds on the number of the one before. */
  function renew(): Promise<void> {
    turn = turn.catch(() => undefined).then(holder.renew);
    return turn;
  }

  function schedule(): void {
    timer = clock.setTimeout(() => {
      // A failure rejects the next write.
      renew().catch(() => undefined);
      schedule();
    }, RENEW_MS);
  }

  schedule();
  return {
    ensure: async () => (holder.isValid() ? undefined : renew()),
    renew,
    async release() {
      timer.cancel();
      await turn.catch(() => undefined);
      // The lock of a storage that fails now runs out by itself.
      if (holder.isValid()) await holder.release().catch(() => undefined);
    },
  };
}

function createHolder(blobs: Blobs, clock: Clock, owner: string) {
  let number = 0;
  let validUntil = -Infinity;

  const others = async (): Promise<BlobName[]> =>
    (await blobs.list()).filter((blob) => blob.kind === 'lock' && blob.owner !== owner);

  async function write(next: number, released = false): Promise<void> {
    const started = clock.monotonic();
    const lock = ownLock(toDeadline(clock.now(), LEASE_MS), released);
    await blobs.write(blobName('lock', next, owner), JSON.stringify(lock));
    const previous = number;
    number = next;
    validUntil = started + LEASE_MS;
    if (previous > 0) await blobs.remove(blobName('lock', previous, owner));
  }

  async function assertNotReplaced(): Promise<void> {
    if (!(await others()).some((blob) => blob.number >= number)) return;
    validUntil = -Infinity;
    throw new StoreError('locked', 'another process has taken this store over');
  }

  return {
    isValid: () => clock.monotonic() < validUntil,
    take: async (): Promise<void> => {
      const before = await others();
      await assertFree(blobs, before, clock.now());
      await write(Math.max(0, ...before.map((blob) => blob.number)) + 1);
      // Each writes first and reads second, so that two at once see each other and both step back.
      const after = await blobs.list();
      if (!after.some((blob) => blob.owner === owner)) {
        throw new StoreError('read_only', 'the storage driver does not keep what is written to it');
      }
      try {
        await assertFree(blobs, await others(), clock.now());
      } catch (error) {
        await blobs.remove(blobName('lock', number, owner));
        throw error;
      }
      for (const blob of before) await blobs.remove(blob.name);
    },
    renew: async (): Promise<void> => {
      await assertNotReplaced();
      await write(number + 1);
      await assertNotReplaced();
    },
    release: () => write(number + 1, true),
  };
}

async function assertFree(blobs: Blobs, locks: BlobName[], now: number): Promise<void> {
  for (const { name } of locks) {
    const body = await blobs.read(name);
    if (body === undefined) continue;
    const lock: Lock = JSON.parse(body);
    if (!isHeld(lock, now)) continue;
    throw new StoreError(
      'locked',
      `this store is in use by process ${lock.pid} on ${lock.host} and its driver serves one process at a time; ` +
        'for several processes on one host use lmdb',
    );
  }
}

function isHeld(lock: Lock, now: number): boolean {
  if (lock.released) return false;
  const { until, place } = lock;
  // A process that lives has renewed it by the clock as it is now.
  const isRunning = until > now && !isFromAhead(until, now);
  const liveness = createHostLiveness();
  if (place && liveness && place.host === liveness.own.host) {
    if (place.pid !== process.pid) return !liveness.isGone(place);
  } else if (lock.host !== hostname()) return isRunning;
  if (lock.pid === process.pid) return isRunning && lock.started === performance.timeOrigin;
  return isRunning && exists(lock.pid);
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH');
  }
}

function ownLock(until: number, released: boolean): Lock {
  const { timeOrigin: started } = performance;
  const place = createHostLiveness()?.own;
  return { host: hostname(), pid: process.pid, started, place, until, released };
}
