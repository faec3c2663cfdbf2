import type { Table } from '../../table.ts';
import type { Blobs } from './blobs.ts';
import { FORMAT, takeSteps } from './migrations.ts';
import type { Tip } from './replay.ts';
import { writeSnapshot } from './snapshot.ts';

/**
 * Gives a store of an older format, or a new one, the present form: the one blob that makes a new
 * snapshot count is the switch, so what is killed before it leaves the old form whole.
 */
export async function bringForward(
  blobs: Blobs,
  { table, tip, owner }: { table: Table; tip: Tip; owner: string },
): Promise<Tip> {
  if (tip.format === FORMAT) return tip;
  const state = { table, meta: tip.meta };
  takeSteps(tip.format, state);
  const { nextNumber: number, last, lastVersion } = tip;
  const { meta } = state;
  blobs.useFormat(FORMAT);
  try {
    await writeSnapshot(blobs, { owner, number, rows: table.rows(), last, lastVersion, meta });
  } catch (error) {
    blobs.useFormat(tip.format);
    throw error;
  }
  return { ...tip, nextNumber: number + 1, format: FORMAT, meta };
}
