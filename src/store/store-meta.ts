import { StoreError } from './store.ts';

/** A copy of another store into this one that has not come to its end. */
export interface Incoming {
  /** Identity of the store that is copied. */
  readonly from: string;
  /** Milliseconds since epoch. */
  readonly startedAt: number;
}

/** Facts that a store keeps about itself. */
export interface StoreMeta {
  /** Text that is made with the store and never changed; a backup and its restored copies have the same. */
  readonly identity?: string | undefined;
  readonly incoming?: Incoming | undefined;
}

/** Throws `StoreError` `locked` for a store that another one is being copied into. */
export function assertWhole({ incoming }: StoreMeta): void {
  if (!incoming) return;
  throw new StoreError(
    'locked',
    `this store is half copied: a \`gateway store migrate\` into it began ${new Date(incoming.startedAt).toISOString()} and did not end; run it again, or name another store`,
  );
}

export function newerFormat(found: number, known: number, where = 'the store'): StoreError {
  return new StoreError(
    'newer_format',
    `${where} has format ${found}, this release knows up to ${known}; use the release that wrote it`,
  );
}
