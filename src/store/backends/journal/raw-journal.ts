import type { Driver } from 'unstorage';
import type { Clock } from '../../../core/time/clock.ts';
import { toId } from '../../prepare-commit.ts';
import type { RawRow, RawStore, RawTarget } from '../../raw/raw-store.ts';
import { takeStep } from '../../raw/take-step.ts';
import { AbsentStore } from '../../damage.ts';
import type { StoreMeta } from '../../store-meta.ts';
import { StoreError } from '../../store.ts';
import { createTable, type Row } from '../../table.ts';
import { createBlobs, type Blobs } from './blobs.ts';
import { openJournal, type OpenJournal } from './open-journal.ts';
import { replay, storedFormat, type SnapshotHead, type Tip } from './replay.ts';
import { writeHead, writeSnapshot } from './snapshot.ts';

/** Clock at which nothing has expired: an expired row is a row as any other here. */
const BEFORE_EXPIRY = { now: () => -Infinity };
/** Most reads of a journal whose blobs were replaced meanwhile. */
const TRIES = 5;

/** Reads a journal, also while a process writes it. Rejects with `corrupt`, `newer_format`, `unavailable`. */
export async function openRawJournal(driver: Driver): Promise<RawStore> {
  const blobs = createBlobs(driver);
  try {
    await assertThere(blobs);
    return { ...viewOf(driver, await readAgain(blobs)), close: () => blobs.dispose() };
  } catch (error) {
    await blobs.dispose();
    throw error;
  }
}

/** Keeps other processes from the journal until it is closed. Rejects with `locked` as well. */
export async function openHeldJournal(driver: Driver, clock: Clock): Promise<RawStore> {
  await assertThere(createBlobs(driver));
  const journal = await openJournal(driver, clock, { rowClock: BEFORE_EXPIRY });
  const found = { tip: journal.tip, rows: toRawRows(journal.table.rows()) };
  return { ...viewOf(driver, found), close: () => letGo(journal) };
}

/** Opens or makes a journal that is to be filled, and keeps it from other processes. */
export async function openRawJournalTarget(driver: Driver, clock: Clock): Promise<RawTarget> {
  const journal = await openJournal(driver, clock, { rowClock: BEFORE_EXPIRY });
  const { blobs, owner, tip } = journal;
  let { meta, nextNumber } = tip;
  let view = viewOf(driver, { tip, rows: toRawRows(journal.table.rows()) });
  let head: SnapshotHead | undefined;
  let added: [string, Row][] = [];

  async function save(lastVersion: number): Promise<void> {
    const snapshot = {
      owner,
      number: nextNumber++,
      rows: added,
      last: tip.last,
      lastVersion,
      meta,
    };
    head = await writeSnapshot(blobs, snapshot);
    view = viewOf(driver, await readAgain(blobs));
  }

  return {
    driver: view.driver,
    format: view.format,
    meta: tip.meta,
    lastVersion: () => view.lastVersion(),
    read: (after) => view.read(after),
    users: () => view.users(),
    faults: (rows) => view.faults(rows),
    async begin(incoming) {
      meta = { ...meta, incoming };
      added = [];
      await save(tip.lastVersion);
    },
    async write(rows) {
      for (const { key, ...row } of rows) added.push([toId(key), row]);
    },
    flush: save,
    async complete() {
      if (!head) return;
      meta = withoutMark(meta);
      await writeHead(blobs, { owner, number: nextNumber++, head: { ...head, meta } });
    },
    close: () => letGo(journal),
  };
}

async function assertThere(blobs: Blobs): Promise<void> {
  if ((await storedFormat(blobs, await blobs.list())) > 0) return;
  throw new AbsentStore('in this place');
}

interface Found {
  readonly tip: Tip;
  readonly rows: readonly RawRow[];
}

async function readAgain(blobs: Blobs): Promise<Found> {
  for (let left = TRIES; ; left--) {
    const table = createTable(BEFORE_EXPIRY);
    try {
      const tip = await replay(blobs, table);
      return { tip, rows: toRawRows(table.rows()) };
    } catch (error) {
      const mayPass = error instanceof StoreError && error.code === 'corrupt' && left > 1;
      if (!mayPass) throw error;
    }
  }
}

function viewOf(driver: Driver, { tip, rows }: Found): Omit<RawStore, 'close'> {
  return {
    driver: driver.name ?? 'unstorage',
    format: tip.format,
    meta: tip.meta,
    lastVersion: async () => tip.lastVersion,
    read: async (after) => takeStep(rows, positionBehind(rows, after)),
    // The lock excludes all other processes, and names its holder.
    users: async () => [],
    faults: async () => [],
  };
}

function toRawRows(rows: readonly [string, Row][]): RawRow[] {
  return rows
    .map(([id, row]) => ({ key: Buffer.from(id, 'latin1'), ...row }))
    .toSorted((a, b) => Buffer.compare(a.key, b.key));
}

/** Rows are in key order, so this is a binary search. */
function positionBehind(rows: readonly RawRow[], after: Buffer | undefined): number {
  if (!after) return 0;
  let [low, high] = [0, rows.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (Buffer.compare(rows[middle]!.key, after) <= 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

function withoutMark({ identity }: StoreMeta): StoreMeta {
  return { identity };
}

async function letGo({ lease, blobs }: OpenJournal): Promise<void> {
  await lease.release();
  await blobs.dispose();
}
