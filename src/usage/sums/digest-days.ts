import { listHeads } from './list-heads.ts';
import type { Entry, Op, Store, Version } from '../../store/store.ts';
import { USAGE } from '../ledger/ledger-keys.ts';
import { readRows } from '../ledger/read-rows.ts';
import { ALL, DIGESTED, digestKey, LATE, NO_DIGEST, readDigests, readLate } from './day-digests.ts';
import type { DigestEntry, DigestRow } from './day-digests.ts';
import { onKey, PARTS, toPartPlace, USAGE_BY } from './parts.ts';
import { readPartsOn } from './read-parts.ts';
import { dimensionsIn, readTotals, valueOf } from './read-totals.ts';
import type { Total } from './read-totals.ts';

/** Entries of a row, and rows of a commit. */
const ENTRIES = 500;
const MAX_ROWS = 900;
/** Times that a day may change while it is summed. */
const MAX_ATTEMPTS = 10;

/**
 * Sums each day that is over once more by each of its dimensions, so that a report of a month reads a few
 * rows of each day and not those of every key, model and label together. Returns the number of days. May be
 * broken off and done again at any point. Rejects with `StoreError`.
 *
 * @param today the first UTC day that is not over
 */
export async function digestDays(store: Store, today: string): Promise<number> {
  const until = (await store.get<string>(DIGESTED))?.value ?? '';
  if (until === '') await enterAll(store);
  const due = await daysFrom(store, until);
  const days = [...new Set([...(await changedDays(store)), ...due])].filter((day) => day < today);
  for (const day of days.toSorted()) await digestDay(store, day);
  if (today > until) await store.commit([{ type: 'put', key: DIGESTED, value: today }]);
  return days.length;
}

/** Enters the values of sums of older versions into their days. */
async function enterAll(store: Store): Promise<void> {
  let ops = new Map<string, Op>();
  const flush = async (): Promise<void> => {
    if (ops.size > 0) await store.commit([...ops.values()]);
    ops = new Map();
  };
  for (const part of PARTS)
    for await (const { key } of readRows(store, [...USAGE_BY, part])) {
      const on = onKey({ ...toPartPlace(key), part });
      ops.set(JSON.stringify(on), { type: 'put', key: on, value: null });
      if (ops.size === MAX_ROWS) await flush();
    }
  await flush();
}

/** Days with use from one on. */
async function daysFrom(store: Store, first: string): Promise<Set<string>> {
  const days = new Set<string>();
  for await (const organization of listHeads(store, USAGE))
    for await (const day of listHeads(store, [...USAGE, organization], first)) days.add(day);
  return days;
}

/** Days that were counted on since their digest was made. */
async function changedDays(store: Store): Promise<string[]> {
  const changed: string[] = [];
  for (const [day, version] of await readLate(store, { first: '', last: '9' })) {
    const digest = (await readDigests(store, ALL, { first: day, last: day })).get(day);
    if (digest?.late !== version) changed.push(day);
  }
  return changed;
}

async function digestDay(store: Store, day: string): Promise<void> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const key = [...LATE, day];
    const mark = await store.get(key);
    const check: Op = mark
      ? { type: 'check', key, ifVersion: mark.version }
      : { type: 'check', key, ifAbsent: true };
    const rows = await sumDay(store, day, mark?.version ?? null);
    if (rows.length > MAX_ROWS) break;
    if ((await store.commit([check, ...rows])).ok) return;
  }
  await store.commit([{ type: 'put', key: digestKey(ALL, day, 0), value: NO_DIGEST }]);
}

async function sumDay(store: Store, day: string, late: Version | null): Promise<Op[]> {
  const totals = await readTotals(store, { first: day, last: day, withFacets: true });
  const dimensions = new Set(totals.flatMap(dimensionsIn));
  const digests = [ALL, ...dimensions].map((dimension) => ({
    dimension,
    rows: toRows(sumBy(totals, dimension), late),
  }));
  for (const part of PARTS) {
    const rows = await readPartsOn(store, part, { first: day, last: day });
    if (rows.length === 0) continue;
    digests.push({ dimension: part, rows: toRows(sumParts(rows, totals), late) });
  }
  return digests.flatMap(({ dimension, rows }) =>
    rows.map((value, part): Op => ({ type: 'put', key: digestKey(dimension, day, part), value })),
  );
}

/** Sums by organization and value. */
class EntrySums {
  readonly #entries = new Map<
    string,
    { organization: string; value: string | null; sums: number[] }
  >();

  add(organization: string, value: string | null, amounts: readonly number[]): void {
    const name = JSON.stringify([organization, value]);
    const entry = this.#entries.get(name) ?? { organization, value, sums: [] };
    this.#entries.set(name, entry);
    for (const [at, amount] of amounts.entries()) entry.sums[at] = (entry.sums[at] ?? 0) + amount;
  }

  list(): DigestEntry[] {
    return Array.from(this.#entries.values(), ({ organization, value, sums }) => [
      organization,
      value,
      ...sums,
    ]);
  }
}

function sumBy(totals: readonly Total[], dimension: string): DigestEntry[] {
  const entries = new EntrySums();
  for (const total of totals) {
    const value = dimension === ALL ? '' : (valueOf(total, dimension) ?? null);
    entries.add(total.organization, value, total.sums);
  }
  return entries.list();
}

/** Sums of each value, and the rest of all. */
function sumParts(rows: readonly Entry<number[]>[], totals: readonly Total[]): DigestEntry[] {
  const entries = new EntrySums();
  for (const { key, value: amounts } of rows) {
    const { organization, value } = toPartPlace(key);
    const taken = amounts.map((amount) => -amount);
    entries.add(organization, value, amounts);
    entries.add(organization, null, taken);
  }
  for (const { organization, sums } of totals) entries.add(organization, null, sums);
  return entries.list();
}

function toRows(entries: readonly DigestEntry[], late: Version | null): DigestRow[] {
  const parts = Math.ceil(entries.length / ENTRIES);
  return Array.from({ length: parts }, (_, part) => {
    return { late, parts, entries: entries.slice(part * ENTRIES, (part + 1) * ENTRIES) };
  });
}
