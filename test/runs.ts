const IS_ALL = process.env['GATEWAY_TEST_ALL'] === '1';

/**
 * Cases of a search for faults: few in a usual run, which draws others each time, and all with
 * `GATEWAY_TEST_ALL=1`. `FUZZ_RUNS=1000` is any other number.
 */
export function runsOf(usual: number, all: number): number {
  return Number(process.env['FUZZ_RUNS'] ?? (IS_ALL ? all : usual));
}

/** Another one in each run. A failure prints it: `FUZZ_SEED=1` draws the same cases again. */
export const SEED = Number(process.env['FUZZ_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
