import type { Store } from '../../store/store.ts';
import { ALL, DIGESTED, readDigests, readLate } from './day-digests.ts';
import type { Days, Digest, DigestEntry } from './day-digests.ts';

/** Sums of one day by organization and value of a dimension. */
export interface DaySum {
  readonly day: string;
  /** Entries as they are stored: there are tens of thousands in a month. */
  readonly entries: readonly DigestEntry[];
  /** False: the entries have no value of the dimension. */
  readonly isParted: boolean;
}

export interface DaySums {
  readonly days: readonly DaySum[];
  /** Days whose sums have to be read as they are counted. */
  readonly rest: readonly Days[];
  /** True once the values of long dimensions can be found by their day. */
  readonly isEntered: boolean;
}

export interface DaySumsQuery extends Days {
  /** Default: all use together. */
  readonly dimension?: string | undefined;
}

const DAY_MS = 86_400_000;

/** Sums of the days that are over, from a few rows of each. Rejects with `StoreError`. */
export async function readDaySums(store: Store, query: DaySumsQuery): Promise<DaySums> {
  const { first, last, dimension } = query;
  // Counts are read first: values summed meanwhile are read as counted.
  const until = (await store.get<string>(DIGESTED))?.value ?? '';
  const isEntered = until !== '';
  if (until <= first) return { days: [], rest: [{ first, last }], isEntered };
  const before = new Date(Date.parse(until) - DAY_MS).toISOString().slice(0, 10);
  const past = { first, last: last < before ? last : before };
  // The order is free: a digest that goes with a mark was right when the mark was.
  const [late, all, own] = await Promise.all([
    readLate(store, past),
    readDigests(store, ALL, past),
    dimension === undefined ? undefined : readDigests(store, dimension, past),
  ]);
  const rest: Days[] = last < until ? [] : [{ first: until, last }];
  const days: DaySum[] = [];
  for (const day of new Set([...late.keys(), ...all.keys()])) {
    const mark = late.get(day) ?? null;
    const isSound = (digest: Digest | undefined): digest is Digest =>
      digest !== undefined && digest.late === mark && digest.missing === 0;
    const whole = all.get(day);
    const parted = own?.get(day);
    if (!isSound(whole) || (parted && !isSound(parted))) rest.push({ first: day, last: day });
    // A dimension without a digest has no value on that day.
    else days.push({ day, entries: (parted ?? whole).entries, isParted: parted !== undefined });
  }
  return { days, rest, isEntered };
}
