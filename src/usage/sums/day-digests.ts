import type { Key, Op, Store, Version } from '../../store/store.ts';
import { readRows } from '../ledger/read-rows.ts';

/** Sums of a day that is over by one dimension: `usage-digest, dimension, day, number`. */
export const DIGESTS: Key = ['usage-digest'];
/** The day before which each day with use has its digests. */
export const DIGESTED: Key = ['usage-digested'];
/** Days that something was counted on after they were over: `usage-late, day`. */
export const LATE: Key = ['usage-late'];

/** The dimension of all use, whose one value is empty. */
export const ALL = 'all';

/** Value null: none. */
export type DigestEntry = readonly [organization: string, value: string | null, ...sums: number[]];

/** Part of a digest; the first one counts them. */
export interface DigestRow {
  /** Version of the mark of {@link LATE} that its sums go with; null where there was none. */
  readonly late: Version | null;
  readonly parts: number;
  readonly entries: readonly DigestEntry[];
}

/** Placeholder for a day that has too many values, or changes too often, to be summed once more. */
export const NO_DIGEST: DigestRow = { late: 'none', parts: 1, entries: [] };

export const digestKey = (dimension: string, day: string, part: number): Key => [
  ...DIGESTS,
  dimension,
  day,
  part,
];

/** Marks a day as changed; its earlier sums no longer count. */
export const lateOp = (day: string): Op => ({ type: 'put', key: [...LATE, day], value: null });

/** Digest of one day by one dimension. */
export interface Digest {
  readonly late: Version | null;
  readonly entries: readonly DigestEntry[];
  /** Rows that have yet to come; none of a whole one. */
  readonly missing: number;
}

/** Days from `first` to `last`. */
export interface Days {
  readonly first: string;
  readonly last: string;
}

/** Reads the digests that there are, by day. */
export async function readDigests(
  store: Store,
  dimension: string,
  { first, last }: Days,
): Promise<Map<string, Digest>> {
  const found = new Map<string, Digest>();
  const prefix = [...DIGESTS, dimension];
  for await (const { key, value } of readRows<DigestRow>(store, prefix, {
    after: [...prefix, first],
  })) {
    const [day, part] = [String(key[2]), Number(key[3])];
    if (day > last) break;
    const { late, parts, entries } = value;
    const before = found.get(day);
    if (part === 0) found.set(day, { late, entries, missing: parts - 1 });
    // Leaves out rows of an older digest with more of them, or of one that came between two pages.
    else if (before && before.late === late && before.missing > 0)
      found.set(day, {
        late,
        entries: [...before.entries, ...entries],
        missing: before.missing - 1,
      });
  }
  return found;
}

/** Versions of the marks of days, by day. */
export async function readLate(store: Store, { first, last }: Days): Promise<Map<string, Version>> {
  const found = new Map<string, Version>();
  for await (const { key, version } of readRows(store, LATE)) {
    const day = String(key[1]);
    if (day >= first && day <= last) found.set(day, version);
  }
  return found;
}
