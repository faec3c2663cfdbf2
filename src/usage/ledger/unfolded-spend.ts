import type { Key, Op, Version } from '../../store/store.ts';
import { scopeName, unfoldedPrefix } from './ledger-keys.ts';
import type { Scope } from './ledger-keys.ts';
import { createSumRows } from './sum-rows.ts';
import type { SumDraft, SumRows } from './sum-rows.ts';

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
  /** The rows of a scope as they will be. */
  readonly own: (scope: Scope) => Iterable<OwnRow>;
  ops(): Op[];
  keep(version: Version): void;
}

/**
 * Money settled for scopes without a limit: kept in this worker's own rows, in the same commit as the record,
 * and added to the scope's counter once a second. So traffic without limits never races for a counter, and a
 * limit that is set later includes earlier spend.
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
  /** Marks that commit as durable. */
  folded(rows: readonly OwnRow[]): void;
  /** Leaves the rows to the process that declared this worker dead, and continues under another name. */
  renew(): void;
}

/** Rows and their positions by scope, then by name. */
type Places = Map<string, Map<string, Place>>;

export function createUnfoldedSpend(worker: string, nextWriter: () => string): UnfoldedSpend {
  const sums = createSumRows();
  const places: Places = new Map();
  let writer = nextWriter();
  const keyOf = ({ scope, day }: Place): Key => [...unfoldedPrefix(scope), day, worker, writer];

  return {
    get size() {
      return sums.size;
    },
    isOwn: (name) => name === writer,
    own: (scope) => toOwnRows(places.get(scopeName(scope)), sums),
    draft: () => createDraft(sums, places, keyOf),
    take(limit) {
      const rows: OwnRow[] = [];
      for (const days of places.values()) {
        if (rows.length >= limit) break;
        rows.push(...toOwnRows(days, sums));
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

function createDraft(sums: SumRows, places: Places, keyOf: (place: Place) => Key): UnfoldedDraft {
  const draft = sums.draft();
  const added: Places = new Map();
  return {
    add(scope, day, amount) {
      const name = rowName({ scope, day });
      draft.add(name, () => keyOf({ scope, day }), [amount]);
      if (sums.get(name) === undefined) enter(added, { scope, day });
    },
    own(scope) {
      const owner = scopeName(scope);
      const kept = toOwnRows(places.get(owner), draft);
      return [...kept, ...toOwnRows(added.get(owner), draft)];
    },
    ops: () => draft.ops(),
    keep(version) {
      draft.keep(version);
      for (const days of added.values()) for (const place of days.values()) enter(places, place);
    },
  };
}

const rowName = ({ scope, day }: Place): string => `${scopeName(scope)}\0${day}`;

function enter(places: Places, place: Place): void {
  const owner = scopeName(place.scope);
  const days = places.get(owner) ?? new Map<string, Place>();
  places.set(owner, days.set(rowName(place), place));
}

function toOwnRows(days: Map<string, Place> | undefined, sums: Pick<SumDraft, 'get'>): OwnRow[] {
  return Array.from(days ?? [], ([name, { scope, day }]) => ({
    name,
    scope,
    day,
    amount: sums.get(name)?.sums[0] ?? 0,
  }));
}
