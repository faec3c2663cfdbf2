import { expect, it } from 'vitest';
import { verifies } from '../../requirements.ts';
import { runsOf, SEED } from '../../runs.ts';
import { callMany } from './mixed-answers.ts';

/** A call that is told nothing runs into the time of the test. */
const CALLS = runsOf(500, 1500);

it.each([[17], [SEED]])(
  verifies(
    'http1.client.fuzz',
    'tells every call of its own answer alone, however broken the answers are: seed %i',
  ),
  async (seed) => {
    const { ended } = await callMany(seed, CALLS);
    expect(ended).toBeGreaterThan(CALLS / 4);
    expect(ended).toBeLessThan(CALLS * 0.9);
  },
);
