import { createHash } from 'node:crypto';
import { canonicalJson } from '../core/json/canonical-json.ts';
import type { Key } from '../store/store.ts';
import type { AuditEntry } from './audit-entry.ts';

/** Number of chains; as many writers of one process append at once. */
export const CHAINS = 32;

/** Entries by id; ids of one chain ascend with their numbers. */
export const ENTRIES: Key = ['audit'];
export const entryKey = (id: string): Key => [...ENTRIES, id];

/** Last entry of each chain. */
export const HEADS: Key = ['audit-head'];
export const headKey = (chain: number): Key => [...HEADS, chain];

/** Seals by number, and the last of them. */
export const SEALS: Key = ['audit-seal'];
export const sealKey = (number: number): Key => [...SEALS, number];
export const LAST_SEAL: Key = ['audit-sealed', 'now'];

/** Position up to which retention has removed the log. */
export const CUT: Key = ['audit-cut', 'now'];

/** An entry in its chain. */
export interface ChainPlace {
  readonly number: number;
  readonly hash: string;
}

export interface ChainHead extends ChainPlace {
  /** Instant of its id in milliseconds since epoch; the next id is later. */
  readonly at: number;
}

/** Positions by chain, as JSON has them. */
export type Places = Readonly<Record<string, ChainPlace>>;

/** Fixes how far every chain has come, for all writers at once. */
export interface Seal {
  readonly number: number;
  /** Milliseconds since epoch. */
  readonly at: number;
  /** Last entries of the chains that have grown since the seal before. */
  readonly heads: Places;
  /** SHA-256 of it and of the hash of the seal before. */
  readonly hash: string;
}

export type SealPlace = Pick<Seal, 'number' | 'hash'>;

/** The last seal, and how far it and those before it say that the chains have come. */
export interface Sealed extends SealPlace {
  readonly heads: Places;
}

export interface Cut {
  /** Last seal that was removed. */
  readonly seal: SealPlace & { readonly at: number | null };
  /** Last entries that were removed. */
  readonly heads: Places;
}

/** Hash before the first entry of a chain and before the first seal. */
export const NO_HASH = '';
export const NO_PLACE: ChainPlace = { number: 0, hash: NO_HASH };
export const NO_CUT: Cut = { seal: { number: 0, hash: NO_HASH, at: null }, heads: {} };

/** Hash of an entry or a seal after one with the hash `previous`. */
export function hashAfter(previous: string, row: Omit<AuditEntry, 'hash'> | Omit<Seal, 'hash'>) {
  return createHash('sha256')
    .update(`${previous}\n${canonicalJson(row)}`)
    .digest('hex');
}
