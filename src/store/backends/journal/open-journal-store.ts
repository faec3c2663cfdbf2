import type { Driver } from 'unstorage';
import type { Clock } from '../../../core/time/clock.ts';
import { createSteadyClock } from '../../../core/time/steady-clock.ts';
import { blobName, type Blobs } from './blobs.ts';
import type { Lease } from './lease.ts';
import { openJournal } from './open-journal.ts';
import type { JournalHead, Tip } from './replay.ts';
import { toLine } from './rows.ts';
import { writeSnapshot } from './snapshot.ts';
import { assertWhole } from '../../store-meta.ts';
import type { Store } from '../../store.ts';
import { createTableStore } from '../../table-store.ts';
import type { Changes, Table } from '../../table.ts';

const SNAPSHOT_BLOBS = 500;
const SNAPSHOT_CHARS = 4 * 1024 * 1024;

/**
 * A store at process scope on any unstorage driver: rows in memory, every group of commits one new
 * blob of an append-only journal, now and then a snapshot. It is as durable as the driver's writes
 * (`fs` survives the end of the process, not of the power). Rejects with `StoreError` `locked` while
 * another process holds the store, `corrupt`, `newer_format`, `read_only`, `unavailable`.
 */
export async function openJournalStore(driver: Driver, clock: Clock): Promise<Store> {
  const steady = createSteadyClock(clock);
  const { blobs, lease, table, owner, tip } = await openJournal(driver, clock, {
    rowClock: steady,
  });
  try {
    assertWhole(tip.meta);
  } catch (error) {
    await lease.release();
    throw error;
  }
  const journal = createJournal({ blobs, lease, table, owner, tip });
  return createTableStore({
    driver: driver.name ?? 'unstorage',
    clock,
    steady,
    table,
    lastVersion: tip.lastVersion,
    persist: journal.append,
    ping: lease.renew,
    async close() {
      await journal.settled();
      await lease.release();
      await blobs.dispose();
    },
  });
}

interface JournalOptions {
  blobs: Blobs;
  lease: Lease;
  table: Table;
  owner: string;
  tip: Tip;
}

function createJournal({ blobs, lease, table, owner, tip }: JournalOptions) {
  const { meta } = tip;
  let { last, nextNumber } = tip;
  let blobsSince = 0;
  let charsSince = 0;
  let snapshot: Promise<unknown> | undefined;

  /** The table equals the journal: the group before is applied, the next not. */
  function startSnapshot(lastVersion: number): void {
    const rows = table.rows();
    const options = { owner, number: nextNumber++, rows, last, lastVersion, meta };
    blobsSince = 0;
    charsSince = 0;
    // The journal holds everything as well; the next round tries again.
    snapshot = writeSnapshot(blobs, options)
      .catch(() => undefined)
      .finally(() => (snapshot = undefined));
  }

  return {
    append: async (changes: Changes, lastVersion: number): Promise<void> => {
      await lease.ensure();
      if (!snapshot && (blobsSince >= SNAPSHOT_BLOBS || charsSince >= SNAPSHOT_CHARS)) {
        startSnapshot(lastVersion);
      }
      const lines = Array.from(changes, ([id, row]) => toLine(id, row)).join('\n');
      const head: JournalHead = { previous: last, lastVersion, chars: lines.length };
      const body = `${JSON.stringify(head)}\n${lines}`;
      const name = blobName('journal', nextNumber++, owner);
      await blobs.write(name, body);
      // A write that took longer than the lease may have landed after a successor took over.
      await lease.ensure();
      last = name;
      blobsSince++;
      charsSince += body.length;
    },
    settled: async () => void (await snapshot),
  };
}
