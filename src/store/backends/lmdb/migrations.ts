import { randomUUID } from 'node:crypto';
import type { Database } from 'lmdb';
import { newerFormat, type Incoming, type StoreMeta } from '../../store-meta.ts';

/** `format`, `nextVersion`, `identity` and the like, by name. */
export type MetaTable = Database<number | string | Incoming, string>;

/** The step at index n brings a store of format n to n + 1; a new store takes all of them. */
const STEPS: readonly ((meta: MetaTable) => void)[] = [
  // The tables are made by opening them, and are empty.
  () => undefined,
  (meta) => void meta.put('identity', randomUUID()),
];

/** Format that this code writes; a store of a higher number stays unchanged. */
export const FORMAT = STEPS.length;

/** 0 for a store that is being made. */
export function formatOf(meta: MetaTable | undefined): number {
  return Number(meta?.get('format') ?? 0);
}

/**
 * Brings the store to the present form in one transaction; of several processes that open it at once
 * one does it, the others wait. Throws `StoreError` `newer_format`.
 */
export function migrate(meta: MetaTable): void {
  meta.transactionSync(() => {
    const format = formatOf(meta);
    if (format > FORMAT) throw newerFormat(format, FORMAT);
    for (const step of STEPS.slice(format)) step(meta);
    if (format < FORMAT) void meta.put('format', FORMAT);
  });
}

export function toStoreMeta(table: MetaTable | undefined): StoreMeta {
  const [identity, incoming] = [table?.get('identity'), table?.get('incoming')];
  return {
    identity: typeof identity === 'string' ? identity : undefined,
    incoming: typeof incoming === 'object' ? incoming : undefined,
  };
}
