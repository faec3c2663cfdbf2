import type { Sweep } from '../../src/jobs/sweep-job.ts';
import type { Value } from '../../src/store/store.ts';
import { StoreError } from '../../src/store/store.ts';

export interface Round {
  /** Rows that were removed, as far as the steps could tell. */
  removed: number;
  steps: number;
  /** Steps that were broken off. */
  failures: number;
}

/**
 * One round of a sweep. Its cursors go through JSON, as they do in a store. After a step that failed the
 * next one begins where that one did.
 */
export async function sweepRound(sweep: Sweep, before: number, limit = 500): Promise<Round> {
  const round: Round = { removed: 0, steps: 0, failures: 0 };
  for (let cursor: Value = undefined; ;) {
    round.steps++;
    try {
      const swept = await sweep({ before, cursor, limit });
      round.removed += swept.removed;
      if (swept.cursor === undefined) return round;
      cursor = JSON.parse(JSON.stringify(swept.cursor));
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      round.failures++;
    }
    if (round.steps > 10_000) throw new Error('the round has no end');
  }
}
