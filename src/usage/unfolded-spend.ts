import type { Key, Op } from '../store/store.ts';
import { scopeName, unfoldedPrefix } from './ledger-keys.ts';
import type { Scope } from './ledger-keys.ts';
import { createSumRows } from './sum-rows.ts';

interface Place {
  readonly scope: Scope;
  readonly day: string;
}

export interface OwnRow extends Place {
  readonly name: string;
  readonly amount: number;
}

export interface UnfoldedDraft {
  add(scope: Scope, day: string, amount: number): void;
  ops(): Op[];
  keep(): void;
}

/**
 * Money settled for scopes without a limit: kept in rows of this worker alone, in the same commit as
 * the record, and added to the scope's counter once a second. So traffic without limits never races
 * for a counter, and a limit that is set later sees what was spent before.
 */
export interface UnfoldedSpend {
  readonly size: number;
  draft(): UnfoldedDraft;
  readonly own: (scope: Scope) => Iterable<OwnRow>;
  readonly isOwn: (writer: string) => boolean;
  /** Up to `limit` rows for the next fold. */
  take(limit: number): OwnRow[];
  /** Deletes the rows from the store; part of the commit that adds them to the counters. */
  deletions(rows: readonly OwnRow[]): Op[];
  /** That commit is durable. */
  folded(rows: readonly OwnRow[]): void;
  /** Leaves the rows to whoever declared this worker dead, and goes on under another name. */
  renew(): void;
}

export function createUnfoldedSpend(worker: string, nextWriter: () => string): UnfoldedSpend {
  const sums = createSumRows();
  /** By scope, then by row. */
  const places = new Map<string, Map<string, Place>>();
  let writer = nextWriter();

  const keyOf = ({ scope, day }: Place): Key => [...unfoldedPrefix(scope), day, worker, writer];
  const toOwnRow = ([name, place]: [string, Place]): OwnRow => ({
    name,
    ...place,
    amount: sums.get(name)?.sums[0] ?? 0,
  });

  return {
    get size() {
      return sums.size;
    },
    isOwn: (name) => name === writer,
    own: (scope) => Array.from(places.get(scopeName(scope)) ?? [], toOwnRow),
    draft() {
      const draft = sums.draft();
      const added = new Map<string, Place>();
      return {
        add(scope, day, amount) {
          const name = `${scopeName(scope)}\0${day}`;
          draft.add(name, keyOf({ scope, day }), [amount]);
          if (sums.get(name) === undefined) added.set(name, { scope, day });
        },
        ops: () => draft.ops(),
        keep() {
          draft.keep();
          for (const [name, place] of added) {
            const owner = scopeName(place.scope);
            places.set(owner, (places.get(owner) ?? new Map<string, Place>()).set(name, place));
          }
        },
      };
    },
    take(limit) {
      const rows: OwnRow[] = [];
      for (const days of places.values()) {
        if (rows.length >= limit) break;
        for (const day of days) rows.push(toOwnRow(day));
      }
      return rows.slice(0, limit);
    },
    deletions: (rows) => rows.map((row) => ({ type: 'delete', key: keyOf(row) })),
    folded(rows) {
      for (const { name, scope } of rows) {
        sums.delete(name);
        const days = places.get(scopeName(scope));
        if (days?.delete(name) && days.size === 0) places.delete(scopeName(scope));
      }
    },
    renew() {
      sums.clear();
      places.clear();
      writer = nextWriter();
    },
  };
}
