import { listHeads } from './list-heads.ts';
import type { Entry, Key, Store } from '../../store/store.ts';
import { readRows } from '../ledger/read-rows.ts';
import type { Days } from './day-digests.ts';
import { USAGE_BY, USAGE_ON } from './parts.ts';
import type { Part } from './parts.ts';

/** Values that are looked up at once. */
const AT_ONCE = 100;
/** Rows that a value has of a day, one for each process. */
const FEW = 4;

type Row = Entry<number[]>;

/** Rows of sums of some days, whose values are found by their day. `organization`: default all. */
export async function readPartsOn(
  store: Store,
  part: Part,
  days: Days & { readonly organization?: string | undefined },
): Promise<Row[]> {
  const prefixes: Key[] = [];
  const prefix = [...USAGE_ON, part];
  const after = [...prefix, days.first];
  for await (const { key } of readRows(store, prefix, { after })) {
    const [, , day = '', organization = '', value = ''] = key.map(String);
    if (day > days.last) break;
    if (days.organization !== undefined && days.organization !== organization) continue;
    prefixes.push([...USAGE_BY, part, organization, value, day]);
  }
  return readEach(store, prefixes);
}

/** Rows of a few values, on whatever days. */
export async function readValues(
  store: Store,
  part: Part,
  { organization, values }: { organization: string | undefined; values: readonly string[] },
): Promise<Row[]> {
  const prefix = [...USAGE_BY, part];
  const owners: string[] = organization === undefined ? [] : [organization];
  if (organization === undefined)
    for await (const owner of listHeads(store, prefix)) owners.push(owner);
  return readEach(
    store,
    owners.flatMap((owner) => values.map((value): Key => [...prefix, owner, value])),
  );
}

/** All rows, as long as their values are not entered by their days. */
export async function readAllParts(store: Store, part: Part): Promise<Row[]> {
  const rows: Row[] = [];
  for await (const row of readRows<number[]>(store, [...USAGE_BY, part])) rows.push(row);
  return rows;
}

async function readEach(store: Store, prefixes: readonly Key[]): Promise<Row[]> {
  const found: Row[] = [];
  const read = async (prefix: Key): Promise<Row[]> => {
    const rows: Row[] = [];
    for await (const row of readRows<number[]>(store, prefix, { enough: FEW })) rows.push(row);
    return rows;
  };
  for (let from = 0; from < prefixes.length; from += AT_ONCE) {
    const some = await Promise.all(prefixes.slice(from, from + AT_ONCE).map(read));
    for (const rows of some) found.push(...rows);
  }
  return found;
}
