import type { Key, Op, Store } from '../../store/store.ts';
import { USAGE } from './ledger-keys.ts';
import { sumsOf } from '../requests/request-row.ts';
import type { EndRow } from '../requests/request-row.ts';
import { windowsOf } from '../spend/spend.ts';

/** The longest name of a model that a row of sums is kept by. */
export const MAX_MODEL = 200;

/**
 * Operations that count records in the sums of their days, in rows that every process may add to: each
 * depends on the row being as it was read. Rejects with `StoreError`.
 */
export async function addToTotals(
  store: Store,
  writer: string,
  records: readonly EndRow[],
): Promise<Op[]> {
  const rows = new Map<string, { key: Key; sums: number[] }>();
  for (const record of records) {
    const key = keyOf(record, writer);
    const name = JSON.stringify(key);
    const sums = rows.get(name)?.sums;
    const added = sumsOf(record).map((amount, index) => amount + (sums?.[index] ?? 0));
    rows.set(name, { key, sums: added });
  }
  return Promise.all(
    Array.from(rows.values(), async ({ key, sums }): Promise<Op> => {
      const entry = await store.get<number[]>(key);
      const value = sums.map((amount, index) => amount + (entry?.value[index] ?? 0));
      const condition = entry ? { ifVersion: entry.version } : { ifAbsent: true as const };
      return { type: 'put', key, value, ...condition };
    }),
  );
}

function keyOf([[at, organization, key, , , model]]: EndRow, writer: string): Key {
  return [...USAGE, organization, windowsOf(at).day, key, model.slice(0, MAX_MODEL), writer];
}
