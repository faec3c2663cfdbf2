import { reasonOf } from '../../core/errors.ts';
import { decodeKey, encodeKey } from '../key-codec.ts';
import { fromEnvelope } from '../value-codec.ts';
import type { RawRow, RawStore } from './raw-store.ts';
import { createSumming, walk, type Summary, type WalkOptions } from './summary.ts';

export interface Problem {
  /** A key as JSON, or a file. */
  readonly where: string;
  readonly what: string;
}

export interface Verified extends Summary {
  /** Rows by the first segment of their key; past a thousand segments, later ones are left out. */
  readonly segments: Readonly<Record<string, number>>;
  /** The first hundred. */
  readonly problems: readonly Problem[];
}

const MAX_PROBLEMS = 100;
const MAX_SEGMENTS = 1_000;
const SHOWN_KEY_CHARS = 200;

/** Reads and decodes every row, expired or not. Rejects with `StoreError` when it cannot be read on. */
export async function verifyStore(store: RawStore, options: WalkOptions): Promise<Verified> {
  const summing = createSumming();
  const segments = new Map<string, number>();
  const problems: Problem[] = [];
  let previous: Buffer | undefined;
  for await (const step of walk(store, options)) {
    for (const row of step) {
      summing.add(row);
      const { segment, problem } = inspect(row, previous);
      previous = row.key;
      const count = segments.get(segment);
      if (count !== undefined || segments.size < MAX_SEGMENTS) {
        segments.set(segment, (count ?? 0) + 1);
      }
      if (problem && problems.length < MAX_PROBLEMS) problems.push(problem);
    }
  }
  for (const what of await store.faults(summing.result().rows))
    problems.push({ where: store.driver, what });
  return { ...summing.result(), segments: Object.fromEntries(segments), problems };
}

function inspect(
  { key, envelope, expiresAt }: RawRow,
  previous: Buffer | undefined,
): { segment: string; problem?: Problem } {
  let where = `0x${key.toString('hex')}`;
  let segment = '?';
  try {
    const decoded = decodeKey(key);
    segment = String(decoded[0]);
    where = JSON.stringify(decoded);
    if (!encodeKey(decoded).equals(key)) throw new Error('the key is not in its own form');
    if (previous && Buffer.compare(previous, key) >= 0) throw new Error('the key is out of order');
    if (Number.isNaN(expiresAt)) throw new Error('the instant of its end is no number');
    fromEnvelope(envelope);
    return { segment };
  } catch (error) {
    const what = reasonOf(error);
    return { segment, problem: { where: where.slice(0, SHOWN_KEY_CHARS), what } };
  }
}
