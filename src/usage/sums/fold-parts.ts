import { StoreError } from '../../store/store.ts';
import type { Entry, Key, Op, Store } from '../../store/store.ts';
import { readRows } from '../ledger/read-rows.ts';
import { DIGESTED, lateOp } from './day-digests.ts';
import { FOLDED, FOLDED_VALUE, onKey, partKey, PARTS, toPartPlace, USAGE_BY } from './parts.ts';
import type { Part, PartPlace } from './parts.ts';

/** Values of a dimension that an organization keeps, the last used. */
const KEPT = 100_000;
/** Rows of one commit, and the conflicts in a row that it may meet. */
const MAX_ROWS = 180;
const MAX_ATTEMPTS = 20;
/** Process that the rows of folded values belong to. */
const WRITER = 'folded';

/** Rows of one value, in the order of their days. */
interface Value {
  readonly organization: string;
  readonly value: string;
  readonly lastDay: string;
  readonly rows: readonly Entry<number[]>[];
}

/**
 * Adds the sums of conversations and end users to one row a day, `other`, but for those of each
 * organization that were used last. Returns the number of values that were folded. May be broken off
 * and done again at any point. Rejects with `StoreError`.
 */
export async function foldParts(store: Store, kept = KEPT): Promise<number> {
  let folded = 0;
  for (const part of PARTS) {
    for (const [organization, days] of await countValues(store, part))
      folded += await foldOldest(store, { part, organization }, toCut(days, kept));
  }
  return folded;
}

/** Values of each organization, by the last day on which they were used. */
async function countValues(store: Store, part: Part): Promise<Map<string, Map<string, number>>> {
  const organizations = new Map<string, Map<string, number>>();
  for await (const { organization, lastDay } of readValues(store, [...USAGE_BY, part])) {
    const days = organizations.get(organization) ?? new Map<string, number>();
    organizations.set(organization, days.set(lastDay, (days.get(lastDay) ?? 0) + 1));
  }
  return organizations;
}

/** Values from before `day` are folded, and so many of those of that day. */
interface Cut {
  readonly day: string;
  readonly count: number;
}

function toCut(days: ReadonlyMap<string, number>, kept: number): Cut | undefined {
  let left = kept;
  for (const [day, count] of [...days].sort(([a], [b]) => (a < b ? 1 : -1))) {
    if (count > left) return { day, count: count - left };
    left -= count;
  }
  return undefined;
}

async function foldOldest(
  store: Store,
  { part, organization }: Pick<PartPlace, 'part' | 'organization'>,
  cut: Cut | undefined,
): Promise<number> {
  if (!cut) return 0;
  let ofDay = 0;
  let folded = 0;
  let rows: Entry<number[]>[] = [];
  const flush = async (): Promise<void> => {
    await foldRows(store, { part, organization }, rows);
    rows = [];
  };
  for await (const { lastDay, rows: own } of readValues(store, [...USAGE_BY, part, organization])) {
    if (lastDay > cut.day || (lastDay === cut.day && ofDay++ >= cut.count)) continue;
    folded++;
    // The rows of a value are merged where they can be: it is no longer kept apart.
    if (rows.length + own.length > MAX_ROWS) await flush();
    for (const row of own) {
      rows.push(row);
      if (rows.length === MAX_ROWS) await flush();
    }
  }
  await flush();
  return folded;
}

/** Takes the rows out and adds them to those of `other`, in one commit; leaves a row that has changed. */
async function foldRows(
  store: Store,
  place: Pick<PartPlace, 'part' | 'organization'>,
  found: readonly Entry<number[]>[],
): Promise<void> {
  let rows = found;
  for (let attempt = 0; rows.length > 0; attempt++) {
    if (attempt === MAX_ATTEMPTS)
      throw new StoreError('unavailable', 'others kept changing the same sums');
    const sums = new Map<string, number[]>();
    for (const { key, value } of rows) {
      const { day } = toPartPlace(key);
      const before = sums.get(day) ?? [];
      sums.set(
        day,
        value.map((amount, index) => amount + (before[index] ?? 0)),
      );
    }
    const puts = Array.from(sums, ([day, added]) =>
      addTo(store, partKey({ ...place, value: FOLDED_VALUE, day, writer: WRITER }), added),
    );
    const days = [...sums.keys()];
    const result = await store.commit([
      ...rows.map(({ key, version }): Op => ({ type: 'delete', key, ifVersion: version })),
      ...(await leftOps(store, place.part, rows)),
      ...(await Promise.all(puts)),
      ...days.map((day): Op => {
        return { type: 'put', key: onKey({ ...place, value: FOLDED_VALUE, day }), value: null };
      }),
      ...days.map(lateOp),
      { type: 'put', key: FOLDED, value: null },
    ]);
    if (result.ok) return;
    const name = JSON.stringify(result.conflict);
    rows = rows.filter(({ key }) => JSON.stringify(key) !== name);
  }
}

/** Takes values out of the days that are over; to the others a worker may add a row at any time. */
async function leftOps(store: Store, part: Part, rows: readonly Entry<number[]>[]): Promise<Op[]> {
  const until = (await store.get<string>(DIGESTED))?.value ?? '';
  const keys = new Map<string, Key>();
  for (const { key } of rows) {
    const { organization, value, day } = toPartPlace(key);
    if (day >= until) continue;
    const on = onKey({ part, organization, value, day });
    keys.set(JSON.stringify(on), on);
  }
  return Array.from(keys.values(), (key) => ({ type: 'delete', key }));
}

async function addTo(store: Store, key: Key, amounts: readonly number[]): Promise<Op> {
  const entry = await store.get<number[]>(key);
  const value = amounts.map((amount, index) => amount + (entry?.value[index] ?? 0));
  const condition = entry ? { ifVersion: entry.version } : { ifAbsent: true as const };
  return { type: 'put', key, value, ...condition };
}

/** The values below a prefix, except folded ones. */
async function* readValues(store: Store, prefix: Key): AsyncGenerator<Value> {
  let rows: Entry<number[]>[] = [];
  let name = '';
  for await (const entry of readRows<number[]>(store, prefix)) {
    const { organization, value } = toPartPlace(entry.key);
    if (value === FOLDED_VALUE) continue;
    const next = `${organization}\0${value}`;
    if (next !== name && rows.length > 0) {
      yield toValue(rows);
      rows = [];
    }
    name = next;
    rows.push(entry);
  }
  if (rows.length > 0) yield toValue(rows);
}

function toValue(rows: readonly Entry<number[]>[]): Value {
  const places = rows.map(({ key }) => toPartPlace(key));
  const { organization = '', value = '' } = places[0] ?? {};
  const lastDay = places.reduce((last, { day }) => (day > last ? day : last), '');
  return { organization, value, lastDay, rows };
}
