import * as fc from 'fast-check';
import { describe, it } from 'vitest';
import { verifies } from '../../requirements.ts';
import { runsOf, SEED } from '../../runs.ts';
import { play, stepsOf } from './journal-world.ts';
import type { Rules } from './journal-world.ts';

const RULES: Rules = {
  limits: { key_1: 1_000, org_1: 1_500 },
  rpm: new Map([
    [1, 8],
    [3, 5],
  ]),
};
const WEIGHTS = { begin: 16, burst: 0 };

describe('the ledger with a journal under any interleaving', () => {
  it(
    verifies(
      'store.journal.fold',
      'never exceeds a limit, and the folded sums equal the sum of the calls, through faults and crashes',
    ),
    async () => {
      await fc.assert(
        fc.asyncProperty(stepsOf(1, WEIGHTS), async (plan) =>
          play(plan, { workers: 1, rules: RULES }),
        ),
        { numRuns: runsOf(25, 100), seed: SEED },
      );
    },
  );

  it('is exact while workers come and go, of which only one alone keeps a journal', async () => {
    await fc.assert(
      fc.asyncProperty(stepsOf(2, WEIGHTS), async (plan) =>
        play(plan, { workers: 2, rules: RULES }),
      ),
      { numRuns: runsOf(20, 60), seed: SEED },
    );
  });
});
