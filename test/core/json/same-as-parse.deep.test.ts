import { expect, it } from 'vitest';
import { verifies } from '../../requirements.ts';
import { compareMany } from './same-as-parse.ts';

/** Documents of one seed; `FUZZ_RUNS=10000000` looks longer, `FUZZ_SEED=1` looks again. */
const RUNS = Number(process.env['FUZZ_RUNS'] ?? 2_000_000);
const SEED = Number(process.env['FUZZ_SEED'] ?? Math.floor(Math.random() * 2 ** 32));

it(
  verifies('json.scan.same-as-parse', 'sees in millions of documents what JSON.parse sees'),
  () => {
    const { sound } = compareMany(SEED, RUNS);
    expect(sound).toBeGreaterThan(RUNS / 5);
  },
  60 * 60_000,
);
