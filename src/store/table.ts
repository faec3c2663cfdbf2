import { correctDeadline } from '../core/time/deadline.ts';
import { decodeKey } from './key-codec.ts';
import { toListPlan } from './list-options.ts';
import { createOrderedMap } from './ordered-map.ts';
import { toId } from './prepare-commit.ts';
import type { Entry, ListOptions } from './store.ts';
import { fromEnvelope } from './value-codec.ts';

export interface Row {
  readonly envelope: Buffer;
  readonly version: number;
  /** Milliseconds since epoch; infinity for what stays. */
  readonly expiresAt: number;
}

/** Result of a group of commits: the new row of a key, or undefined for none. */
export type Changes = ReadonlyMap<string, Row | undefined>;

/** The rows of a store that lives in memory, in key order; expired ones are never returned. */
export interface Table {
  get(id: string): Row | undefined;
  list<T>(options: ListOptions): Entry<T>[];
  apply: (changes: Changes) => void;
  /** Every visible row at this moment, in no particular order. */
  rows(): [string, Row][];
  /** Rows whose expiry was written by a clock ahead of `now`, with their length from then on. */
  ahead(now: number): Map<string, Row>;
  /** Drops up to `limit` expired rows and says how many there were. */
  sweep: (limit: number) => number;
}

/** @param clock decides which rows have expired */
export function createTable(clock: { now(): number }): Table {
  const rows = createOrderedMap<Row>();
  const byExpiry = createOrderedMap<string>();

  function drop(id: string): void {
    const row = rows.get(id);
    if (!row) return;
    rows.delete(id);
    if (row.expiresAt !== Infinity) byExpiry.delete(expiryKey(row.expiresAt, id));
  }

  const visible = (row: Row | undefined): row is Row =>
    row !== undefined && row.expiresAt > clock.now();

  return {
    get(id) {
      const row = rows.get(id);
      return visible(row) ? row : undefined;
    },
    list<T>(options: ListOptions): Entry<T>[] {
      const { lower, upper, limit, maxBytes, reverse } = toListPlan(options);
      const entries: Entry<T>[] = [];
      let bytes = 0;
      for (const [id, row] of rows.walk({ lower: toId(lower), upper: toId(upper), reverse })) {
        if (!visible(row)) continue;
        entries.push(toEntry(id, row));
        if (entries.length === limit || (bytes += row.envelope.length) >= maxBytes) break;
      }
      return entries;
    },
    apply(changes) {
      for (const [id, row] of changes) {
        drop(id);
        if (!row) continue;
        rows.set(id, row);
        if (row.expiresAt !== Infinity) byExpiry.set(expiryKey(row.expiresAt, id), id);
      }
    },
    rows: () => [...rows.entries()].filter(([, row]) => visible(row)),
    ahead(now) {
      const found = new Map<string, Row>();
      for (const [, id] of byExpiry.walk({
        lower: expiryKey(now, ''),
        upper: LAST,
        reverse: false,
      })) {
        const row = rows.get(id);
        const expiresAt = row && correctDeadline(row.expiresAt, now);
        if (row && expiresAt !== row.expiresAt) found.set(id, { ...row, expiresAt: expiresAt! });
      }
      return found;
    },
    sweep(limit) {
      const due: string[] = [];
      const upper = expiryKey(clock.now() + 1, '');
      for (const [, id] of byExpiry.walk({ lower: '', upper, reverse: false })) {
        if (due.push(id) === limit) break;
      }
      for (const id of due) drop(id);
      return due.length;
    },
  };
}

/** Returns the part of a row that readers see. */
export function toEntry<T>(id: string, row: Row): Entry<T> {
  return {
    key: decodeKey(Buffer.from(id, 'latin1')),
    value: fromEnvelope(row.envelope),
    version: String(row.version),
  };
}

/** Sorts after every {@link expiryKey}. */
const LAST = ':';

function expiryKey(expiresAt: number, id: string): string {
  return `${String(Math.ceil(expiresAt)).padStart(16, '0')} ${id}`;
}
