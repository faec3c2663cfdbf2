import { randomBytes } from 'node:crypto';
import type { Driver } from 'unstorage';
import type { Clock } from '../../../core/time/clock.ts';
import { createTable, type Table } from '../../table.ts';
import { createBlobs, type Blobs } from './blobs.ts';
import { acquireLease, type Lease } from './lease.ts';
import { FORMAT, takeSteps } from './migrations.ts';
import { replay, storedFormat, type Tip } from './replay.ts';
import { writeSnapshot } from './snapshot.ts';

export interface OpenJournal {
  readonly blobs: Blobs;
  readonly lease: Lease;
  readonly table: Table;
  /** Part of the names of the blobs that this process writes. */
  readonly owner: string;
  readonly tip: Tip;
}

export interface JournalOptions {
  /** Decides which rows have expired and are left out; default: the clock. */
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
  // Comes before anything is written; and an older release must still read the lock of its own store.
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

/**
 * Gives a store of an older format, or a new one, the present form: the one blob that makes a new snapshot
 * count is the switch, so a process killed before it leaves the old form whole.
 */
async function bringForward(
  blobs: Blobs,
  { table, tip, owner }: { table: Table; tip: Tip; owner: string },
): Promise<Tip> {
  if (tip.format === FORMAT) return tip;
  const state = { table, meta: tip.meta };
  takeSteps(tip.format, state);
  const { nextNumber: number, last, lastVersion } = tip;
  const { meta } = state;
  blobs.useFormat(FORMAT);
  try {
    await writeSnapshot(blobs, { owner, number, rows: table.rows(), last, lastVersion, meta });
  } catch (error) {
    blobs.useFormat(tip.format);
    throw error;
  }
  return { ...tip, nextNumber: number + 1, format: FORMAT, meta };
}
