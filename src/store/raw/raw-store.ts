import type { Incoming, StoreMeta } from '../store-meta.ts';

/** A row as every backend can hold it, expired or not. */
export interface RawRow {
  /** Key as `encodeKey` wrote it. */
  readonly key: Buffer;
  /** Envelope as `toEnvelope` wrote it. */
  readonly envelope: Buffer;
  readonly version: number;
  /** Milliseconds since epoch; infinity for what stays. */
  readonly expiresAt: number;
}

/** The rows of a store as they lie there, for copies and checks. Rejections are `StoreError`s. */
export interface RawStore {
  readonly driver: string;
  readonly format: number;
  readonly meta: StoreMeta;
  /** Reads a version at least as high as any that was given out. */
  lastVersion(): Promise<number>;
  /** The next rows in key order, of about 8 MiB or fewer; none at the end. */
  read(after: Buffer | undefined): Promise<readonly RawRow[]>;
  /** Files of what a gateway that was killed had not stored yet. Absent: it keeps none. */
  waiting?(): Promise<readonly string[]>;
  /** Other processes that have the store open, in words. */
  users(): Promise<readonly string[]>;
  /**
   * Lists, in words, contradictions between its own indexes and counts and the number of rows that
   * were read.
   */
  faults(rows: number): Promise<readonly string[]>;
  close(): Promise<void>;
}

/** A store that another one is copied into. */
export interface RawTarget extends RawStore {
  /** Removes every row, and marks the store as half copied. */
  begin(incoming: Incoming): Promise<void>;
  /** Rows with keys after all that were written before. */
  write(rows: readonly RawRow[]): Promise<void>;
  /** Makes the written rows durable and readable, and later versions higher than this one. */
  flush(lastVersion: number): Promise<void>;
  /** Takes the mark away: from now on it is a store as any other. */
  complete(): Promise<void>;
}

/** Bounds of one step. */
export const STEP_ROWS = 1_000;
export const STEP_BYTES = 8 * 1024 * 1024;
