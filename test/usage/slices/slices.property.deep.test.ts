import * as fc from 'fast-check';
import { it } from 'vitest';
import { verifies } from '../../requirements.ts';
import { runsOf, SEED } from '../../runs.ts';
import { play, stepsOf } from '../journal/journal-world.ts';
import type { Rules, Step } from '../journal/journal-world.ts';

const RULES: Rules = {
  limits: { key_1: 3_000, org_1: 4_500 },
  rpm: new Map([
    [2, 300],
    [3, 200],
  ]),
};
const few = { type: 'burst', worker: 0, key: 1, count: 4, bound: 1 } as const;
const turn = { type: 'turn' } as const;
/** Others store an end on behalf of a worker that wakes, and with it the last of what began in one commit. */
const WOKEN: Step[] = [
  { type: 'crash', worker: 1 },
  few,
  turn,
  { type: 'settle', call: 93, share: 0 },
  few,
  { type: 'fail', worker: 0, how: 'before' },
  few,
  { type: 'settle', call: 0, share: 0 },
  { type: 'fail', worker: 1, how: 'after' },
  few,
  turn,
  few,
  { type: 'wait', ms: 30_000 },
  few,
  { type: 'heal', worker: 0 },
  few,
];
const WEIGHTS = { begin: 4, burst: 24 };

it(
  verifies(
    'limits.slices.exact-money',
    'workers that decide on slices never exceed a limit together, through faults and crashes',
  ),
  async () => {
    await fc.assert(
      fc.asyncProperty(stepsOf(2, WEIGHTS), async (plan) =>
        play(plan, { workers: 2, rules: RULES }),
      ),
      { numRuns: runsOf(20, 60), seed: SEED, examples: [[WOKEN]] },
    );
  },
  120_000,
);
