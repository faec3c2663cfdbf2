import { createHash } from 'node:crypto';
import type { RawRow, RawStore } from './raw-store.ts';

export interface Summary {
  readonly rows: number;
  /** Bytes of keys and values. */
  readonly bytes: number;
  /** SHA-256 over keys, values, versions and expiries in key order, in hexadecimal. */
  readonly checksum: string;
  readonly highestVersion: number;
}

/** Adds rows up, one after the other. */
export interface Summing {
  add(row: RawRow): void;
  result(): Summary;
}

export interface WalkOptions {
  readonly signal: AbortSignal;
  /** Receives the number of rows seen, now and then. */
  readonly onRows: (rows: number) => void;
}

export function createSumming(): Summing {
  const hash = createHash('sha256');
  const head = Buffer.alloc(24);
  let [rows, bytes, highestVersion] = [0, 0, 0];
  return {
    add(row) {
      const { key, version, expiresAt } = row;
      const envelope = plain(row.envelope);
      head.writeUInt32BE(key.length, 0);
      head.writeUInt32BE(envelope.length, 4);
      head.writeDoubleBE(version, 8);
      head.writeDoubleBE(expiresAt, 16);
      hash.update(head).update(key).update(envelope);
      rows++;
      bytes += key.length + envelope.length;
      highestVersion = Math.max(highestVersion, version);
    },
    result: () => ({ rows, bytes, checksum: hash.copy().digest('hex'), highestVersion }),
  };
}

/** Every row of a store, step by step. */
export async function* walk(
  store: RawStore,
  { signal, onRows }: WalkOptions,
): AsyncGenerator<readonly RawRow[]> {
  let rows = 0;
  for (let after: Buffer | undefined; ;) {
    signal.throwIfAborted();
    const step = await store.read(after);
    const last = step.at(-1);
    if (!last) return;
    yield step;
    after = last.key;
    rows += step.length;
    onRows(rows);
  }
}

const JSON_NUMBER = /^j-?\d[\d.eE+-]*$/;
const LONGEST_NUMBER = 40;

/** Databases that count by themselves write the same number in digits of their own. */
function plain(envelope: Buffer): Buffer {
  if (envelope.length > LONGEST_NUMBER) return envelope;
  const text = envelope.toString('latin1');
  return JSON_NUMBER.test(text) ? Buffer.from(`j${Number(text.slice(1))}`) : envelope;
}
