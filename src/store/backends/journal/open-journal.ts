import { randomBytes } from 'node:crypto';
import type { Driver } from 'unstorage';
import type { Clock } from '../../../core/time/clock.ts';
import { createTable, type Table } from '../../table.ts';
import { createBlobs, type Blobs } from './blobs.ts';
import { bringForward } from './bring-forward.ts';
import { acquireLease, type Lease } from './lease.ts';
import { FORMAT } from './migrations.ts';
import { replay, storedFormat, type Tip } from './replay.ts';

export interface OpenJournal {
  readonly blobs: Blobs;
  readonly lease: Lease;
  readonly table: Table;
  /** Part of the names of the blobs that this process writes. */
  readonly owner: string;
  readonly tip: Tip;
}

export interface JournalOptions {
  /** Tells which rows have expired and are left out; default: the clock. */
  readonly rowClock?: { now(): number };
}

/**
 * Takes the journal for this process, reads it, and gives it the present form. Rejects with
 * `StoreError` `locked` while another process has it, `corrupt`, `newer_format`, `read_only`,
 * `unavailable`.
 */
export async function openJournal(
  driver: Driver,
  clock: Clock,
  { rowClock = clock }: JournalOptions = {},
): Promise<OpenJournal> {
  const owner = randomBytes(4).toString('hex');
  const blobs = createBlobs(driver);
  // Set before anything is written; and an older release must still read the lock of its own store.
  blobs.useFormat((await storedFormat(blobs, await blobs.list())) || FORMAT);
  const lease = await acquireLease(blobs, clock, owner);
  const table = createTable(rowClock);
  try {
    const tip = await replay(blobs, table);
    return { blobs, lease, table, owner, tip: await bringForward(blobs, { table, tip, owner }) };
  } catch (error) {
    await lease.release();
    throw error;
  }
}
