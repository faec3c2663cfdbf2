/**
 * A key is a non-empty list of segments; order is segment by segment, numbers before strings. At
 * most 1,900 bytes: 9 per number, UTF-8 and 2 per string.
 */
export type KeyPart = string | number;
export type Key = readonly KeyPart[];

/**
 * Value that the store can hold: JSON values (no bigint, no NaN, no `undefined` but as a left-out
 * member) or raw bytes; at most 16 MiB.
 */
export type Value = unknown;

/** Opaque stamp of one write to one key; never repeats for that key, also after delete and re-create. */
export type Version = string;

export interface Entry<T = Value> {
  readonly key: Key;
  readonly value: T;
  readonly version: Version;
}

export interface ListOptions {
  /** Whole segments that keys start with (the key equal to the prefix excluded). */
  prefix: Key;
  /** Start strictly after this key in the direction of travel. */
  after?: Key;
  /** Default 100, at most 10,000. */
  limit?: number;
  /**
   * Ends the list after the row with which its values reach so many bytes, so that a list of large rows is
   * neither held nor parsed at once; the first row always comes. Default: no bound.
   */
  maxBytes?: number;
  /** True walks from the last key to the first. Default false. */
  reverse?: boolean;
}

/** One part of a commit. Conditions are checked against the state before the commit. */
export type Op =
  | { type: 'put'; key: Key; value: Value; ttlMs?: number; ifVersion?: Version; ifAbsent?: true }
  | { type: 'delete'; key: Key; ifVersion?: Version }
  | { type: 'check'; key: Key; ifVersion?: Version; ifAbsent?: true };

/** `version` is the stamp that every put of the commit received. */
export type CommitResult = { ok: true; version: Version } | { ok: false; conflict: Key };

export type StoreScope = 'process' | 'host' | 'cluster';

/**
 * An ordered, transactional map (design: Store). Reads see every commit acknowledged before them in
 * the same process. A resolved `commit` is durable and all or nothing. Rejections are always
 * `StoreError`; after one the outcome of that commit is unknown unless `code` is `too_large`.
 */
export interface Store {
  /** Reach of the guarantees: one process, several on one host, or several hosts. */
  readonly scope: StoreScope;
  /** Driver of its backend, or the name of the unstorage driver. */
  readonly driver: string;
  /**
   * Folder next to the rows, which may not be there, for data that a process keeps on the disk until it is
   * stored; all processes on the store share it. Absent: others may reach the store without this machine, or it
   * ends with its process.
   */
  readonly folder?: string;
  /** Warnings for operators on how it keeps acknowledged data. Default: none. */
  readonly warnings?: readonly string[];
  get<T = Value>(key: Key): Promise<Entry<T> | undefined>;
  list<T = Value>(options: ListOptions): Promise<Entry<T>[]>;
  /** Commits at most 1,000 operations; two operations on one key are refused (`invalid_commit`). */
  commit(ops: readonly Op[]): Promise<CommitResult>;
  /**
   * Atomically adds to a counter (absent counts as 0) and returns the new value. `ttlMs` counts from
   * when the counter appears; later increments do not extend it. Rejects with `invalid_value` when
   * the key holds something else than a number.
   */
  increment(key: Key, by: number, options?: { ttlMs?: number }): Promise<number>;
  /**
   * Calls `listener` after commits of any process in scope that touched `prefix` or a key below it:
   * at least once per burst, in a later turn, without payload; for other processes' commits within a
   * second and sometimes for nothing. Expiry is no commit. Returns the function that stops it.
   */
  watch(prefix: Key, listener: () => void): () => void;
  /** Rejects with `StoreError` when a durable write is not possible now. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

export type StoreErrorCode =
  | 'unavailable'
  | 'full'
  | 'read_only'
  | 'locked'
  | 'corrupt'
  | 'newer_format'
  | 'too_large'
  | 'invalid_key'
  | 'invalid_value'
  | 'invalid_commit'
  | 'closed';

/**
 * Failure of a store, by its `code`.
 *
 * @example
 * ```ts
 * import { openStore, StoreError, systemClock } from 'agent-gateway';
 *
 * const place = { driver: 'lmdb', path: '.gateway/store' };
 * const store = await openStore(place, { clock: systemClock }).catch((error: unknown) => {
 * if (error instanceof StoreError && error.code === 'newer_format') return undefined;
 * throw error;
 * });
 * ```
 */
export class StoreError extends Error {
  override readonly name = 'StoreError';
  readonly code: StoreErrorCode;

  constructor(code: StoreErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.code = code;
  }
}
