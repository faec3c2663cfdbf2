import { spawnSync } from 'node:child_process';

/** `npm run test:all`: every case of every test. */
export const IS_ALL = process.env['GATEWAY_TEST_ALL'] === '1';

/**
 * Cases of a search for faults: few in a usual run, which draws others each time, and all with
 * `GATEWAY_TEST_ALL=1`. `FUZZ_RUNS=1000` is any other number.
 */
export function runsOf(usual: number, all: number): number {
  return Number(process.env['FUZZ_RUNS'] ?? (IS_ALL ? all : usual));
}

/** Another one in each run. A failure prints it: `FUZZ_SEED=1` draws the same cases again. */
export const SEED = Number(process.env['FUZZ_SEED'] ?? Math.floor(Math.random() * 2 ** 31));

let number: number | undefined;

/** A number that changes with every commit; outside of a checkout always the same. */
export function numberOfCommit(): number {
  if (number === undefined) {
    const { stdout } = spawnSync('git', ['rev-parse', 'HEAD'], { encoding: 'utf8' });
    number = Number.parseInt(/^[0-9a-f]{8}/.exec(stdout ?? '')?.[0] ?? '0', 16);
  }
  return number;
}

/**
 * The case that this commit runs, of cases that cost much and prove one law, so that a few commits meet
 * all; `GATEWAY_TEST_ALL=1` has every one.
 */
export function inTurn<T>(what: string, cases: readonly T[]): readonly T[] {
  if (IS_ALL || cases.length < 2) return cases;
  // Different tests of one commit take different turns.
  const own = Buffer.from(what).reduce((sum, byte) => sum + byte, 0);
  const turn = (numberOfCommit() + own) % cases.length;
  console.info(`${what}: case ${turn + 1} of ${cases.length}; GATEWAY_TEST_ALL=1 runs every one`);
  return cases.slice(turn, turn + 1);
}
