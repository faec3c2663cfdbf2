import type { Key, Op, Store } from '../../store/store.ts';
import { ORIGIN, sumsOf } from '../requests/request-row.ts';
import type { EndRow } from '../requests/request-row.ts';
import { lateOp } from '../sums/day-digests.ts';
import { FacetNames } from '../sums/facet-names.ts';
import type { FacetDraft } from '../sums/facet-names.ts';
import { onKey, partKey, partSumsOf } from '../sums/parts.ts';
import { factsOf, totalsKey } from '../sums/totals.ts';

/**
 * Operations that count records in the sums of their days, in rows that every process may add to: each
 * depends on the row being as it was read. Rejects with `StoreError`.
 */
export async function addToTotals(
  store: Store,
  writer: string,
  records: readonly EndRow[],
): Promise<Op[]> {
  const facets = new FacetNames().draft();
  const rows = new Map<string, { key: Key; sums: number[] }>();
  for (const record of records) {
    for (const key of keysOf(record, writer, facets)) {
      const name = JSON.stringify(key);
      const sums = rows.get(name)?.sums;
      const added = sumsOf(record).map((amount, index) => amount + (sums?.[index] ?? 0));
      rows.set(name, { key, sums: added });
    }
  }
  const puts = Array.from(rows.values(), async ({ key, sums }): Promise<Op> => {
    const entry = await store.get<number[]>(key);
    const value = sums.map((amount, index) => amount + (entry?.value[index] ?? 0));
    const condition = entry ? { ifVersion: entry.version } : { ifAbsent: true as const };
    return { type: 'put', key, value, ...condition };
  });
  const days = new Set(records.map((record) => factsOf(record).day));
  const marks = [...Array.from(days, lateOp), ...toOnOps(records)];
  return [...facets.ops(), ...marks, ...(await Promise.all(puts))];
}

function toOnOps(records: readonly EndRow[]): Op[] {
  const keys = new Map<string, Key>();
  for (const record of records) {
    for (const part of partSumsOf(record[0][ORIGIN], factsOf(record))) {
      const key = onKey(part);
      keys.set(JSON.stringify(key), key);
    }
  }
  return Array.from(keys.values(), (key) => ({ type: 'put', key, value: null }));
}

function keysOf(record: EndRow, writer: string, facets: FacetDraft): Key[] {
  const facts = factsOf(record);
  const parts = partSumsOf(record[0][ORIGIN], facts);
  const digest = facets.digestOf(facts);
  return [totalsKey(facts, digest, writer), ...parts.map((part) => partKey({ ...part, writer }))];
}
