import { expect, it } from 'vitest';
import { verifies } from '../../requirements.ts';
import { callMany } from './mixed-answers.ts';

/** `FUZZ_SEED=1` sees it again; a call that is told nothing runs into the time of the test. */
const SEED = Number(process.env['FUZZ_SEED'] ?? Math.floor(Math.random() * 2 ** 32));
const CALLS = Number(process.env['FUZZ_RUNS'] ?? 1500);

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
