/** Anything with an instant and a name of its own. */
export interface Placed {
  readonly id: string;
  readonly created_at: string;
}

/** Rows that a page keeps; the oldest beyond are dropped. */
export const MOST_ROWS = 5_000;

/**
 * Rows newest first with a batch put among them: one that is there already is replaced, so that a
 * batch that comes again changes nothing.
 */
export function mergeRows<Row extends Placed>(
  rows: readonly Row[],
  batch: readonly Row[],
  most = MOST_ROWS,
): readonly Row[] {
  if (batch.length === 0) return rows;
  const fresh = new Map(batch.map((row) => [row.id, row]));
  const next: Row[] = [];
  for (const row of rows) {
    const changed = fresh.get(row.id);
    next.push(changed ?? row);
    if (changed) fresh.delete(row.id);
  }
  if (fresh.size > 0) {
    const added = [...fresh.values()].sort(newestFirst);
    const [first] = next;
    const oldest = added.at(-1) as Row;
    if (first === undefined || newestFirst(oldest, first) <= 0) next.unshift(...added);
    else {
      next.push(...added);
      next.sort(newestFirst);
    }
  }
  return next.length > most ? next.slice(0, most) : next;
}

function newestFirst(a: Placed, b: Placed): number {
  if (a.created_at !== b.created_at) return a.created_at < b.created_at ? 1 : -1;
  if (a.id === b.id) return 0;
  return a.id < b.id ? 1 : -1;
}
