import { correctDeadline } from '../core/time/deadline.ts';

export interface ExpiringPage {
  /** Milliseconds since epoch. */
  readonly from: number;
  readonly skip: number;
  readonly limit: number;
}

export interface Expiring {
  readonly bytes: Buffer;
  readonly expiresAt: number;
}

export interface ExpiryChange extends Expiring {
  readonly before: number;
}

/** Index of the rows of a database by their expiry. Rejections are `StoreError`s. */
export interface RemoteExpiries {
  /** Rows that expire at `from` or later, in order of their expiry. */
  list(page: ExpiringPage): Promise<readonly Expiring[]>;
  /** Changes rows that still have the expiry before; their versions stay. */
  change(changes: readonly ExpiryChange[]): Promise<void>;
}

const STEP = 1_000;

/** Gives rows whose expiry was written by a clock ahead of `now` their length from then on. */
export async function correctExpiries(expiries: RemoteExpiries, now: number): Promise<void> {
  const changes: ExpiryChange[] = [];
  for (let skip = 0; ; skip += STEP) {
    const page = await expiries.list({ from: now, skip, limit: STEP });
    for (const { bytes, expiresAt: before } of page) {
      const expiresAt = correctDeadline(before, now);
      if (expiresAt !== before) changes.push({ bytes, before, expiresAt });
    }
    if (page.length < STEP) break;
  }
  for (let i = 0; i < changes.length; i += STEP) await expiries.change(changes.slice(i, i + STEP));
}
