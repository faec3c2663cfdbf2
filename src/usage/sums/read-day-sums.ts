import type { Store } from '../../store/store.ts';
import { ALL, DIGESTED, readDigests, readLate } from './day-digests.ts';
import type { Days, Digest } from './day-digests.ts';

/** Sums of one day and organization by one value of a dimension; null for none, and without a dimension. */
export interface DaySum {
  readonly organization: string;
  readonly day: string;
  readonly value: string | null;
  readonly amounts: readonly number[];
}

export interface DaySums {
  readonly sums: readonly DaySum[];
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
  // Read first: what is summed meanwhile is read as it was counted.
  const until = (await store.get<string>(DIGESTED))?.value ?? '';
  const isEntered = until !== '';
  if (until <= first) return { sums: [], rest: [{ first, last }], isEntered };
  const before = new Date(Date.parse(until) - DAY_MS).toISOString().slice(0, 10);
  const past = { first, last: last < before ? last : before };
  const late = await readLate(store, past);
  const all = await readDigests(store, ALL, past);
  const own = dimension === undefined ? undefined : await readDigests(store, dimension, past);
  const rest: Days[] = last < until ? [] : [{ first: until, last }];
  const sums: DaySum[] = [];
  for (const day of new Set([...late.keys(), ...all.keys()])) {
    const mark = late.get(day) ?? null;
    const isSound = (digest: Digest | undefined): digest is Digest =>
      digest !== undefined && digest.late === mark && digest.missing === 0;
    const whole = all.get(day);
    const parted = own?.get(day);
    if (!isSound(whole) || (parted && !isSound(parted))) rest.push({ first: day, last: day });
    // A dimension without a digest has no value on that day.
    else sums.push(...toSums(day, parted ?? whole, parted !== undefined));
  }
  return { sums, rest, isEntered };
}

function toSums(day: string, { entries }: Digest, isParted: boolean): DaySum[] {
  return entries.map(([organization, value, ...amounts]) => {
    return { organization, day, value: isParted ? value : null, amounts };
  });
}
