import type { Key, Op, Version } from '../../store/store.ts';

interface Row {
  readonly key: Key;
  readonly sums: number[];
  /** Last stored; undefined: the store has none. */
  readonly version?: Version | undefined;
}

/** Additions of one commit to {@link SumRows}; nothing counts until `keep`. */
export interface SumDraft {
  /** `name` identifies the row in this process; `toKey` returns the key of a new one. */
  add(name: string, toKey: () => Key, amounts: readonly number[]): void;
  /** The row as it will be. */
  get(name: string): Row | undefined;
  /** One put per touched row. */
  ops(): Op[];
  /** The commit is durable. */
  keep(version: Version): void;
}

export interface SumRowsOptions {
  /** Others may remove rows, so each put depends on the row being as this process left it. Default false. */
  readonly isShared?: boolean;
}

/**
 * Rows of sums that only this process adds to. Each row holds a running total, so a commit needs no
 * condition, repeating it changes nothing, and the whole is the sum over all writers.
 */
export interface SumRows {
  readonly size: number;
  draft(): SumDraft;
  entries(): IterableIterator<[name: string, row: Row]>;
  get(name: string): Row | undefined;
  delete(name: string): void;
  /** Forgets the totals; the next ones must go to other keys. */
  clear(): void;
}

export function createSumRows({ isShared = false }: SumRowsOptions = {}): SumRows {
  const rows = new Map<string, Row>();
  return {
    get size() {
      return rows.size;
    },
    draft: () => createDraft(rows, isShared),
    entries: () => rows.entries(),
    get: (name) => rows.get(name),
    delete: (name) => void rows.delete(name),
    clear: () => rows.clear(),
  };
}

function createDraft(rows: Map<string, Row>, isShared: boolean): SumDraft {
  const touched = new Map<string, Row>();
  return {
    add(name, toKey, amounts) {
      let row = touched.get(name);
      if (row === undefined) {
        const base = rows.get(name);
        row = base
          ? { ...base, sums: base.sums.slice() }
          : { key: toKey(), sums: amounts.map(() => 0), version: undefined };
        touched.set(name, row);
      }
      const { sums } = row;
      for (let i = 0; i < amounts.length; i++) sums[i] = (sums[i] ?? 0) + (amounts[i] ?? 0);
    },
    get: (name) => touched.get(name) ?? rows.get(name),
    ops: () => Array.from(touched.values(), (row) => toPut(row, isShared)),
    keep(version) {
      for (const [name, row] of touched) rows.set(name, isShared ? { ...row, version } : row);
    },
  };
}

function toPut({ key, sums: value, version }: Row, isShared: boolean): Op {
  if (!isShared) return { type: 'put', key, value };
  if (version === undefined) return { type: 'put', key, value, ifAbsent: true };
  return { type: 'put', key, value, ifVersion: version };
}
