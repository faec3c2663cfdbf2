import { STEP_BYTES, STEP_ROWS, type RawRow } from './raw-store.ts';

/**
 * Takes as many rows as one step may have, from the position `from` on; at least one where there is
 * one.
 */
export function takeStep(rows: readonly RawRow[], from: number): RawRow[] {
  let size = 0;
  let end = from;
  while (end < rows.length && end < from + STEP_ROWS && size < STEP_BYTES) {
    size += rows[end++]!.envelope.length;
  }
  return rows.slice(from, end);
}
