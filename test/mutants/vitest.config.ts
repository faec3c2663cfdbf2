import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { BaseSequencer } from 'vitest/node';
import type { Reporter, TestSpecification } from 'vitest/node';
import { testsNear } from './tests-near.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** Source file that is changed, from the root of the repository: `src/usage/ledger/ledger.ts`. */
const MUTATED = process.env['MUTATED_FILE'];
/** A browser runs what is built of the console, and some of its sources run in tests, too. */
const IS_CONSOLE = MUTATED?.startsWith('src/console/') === true;

const NEAR = MUTATED === undefined ? [] : testsNear(ROOT, MUTATED);
const TESTS = IS_CONSOLE ? [...NEAR, 'test/console/*.test.ts'] : NEAR;

/** Runs first what is the likeliest to notice. */
class NearFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const places = new Map(NEAR.map((path, place) => [`${ROOT}${path}`, place]));
    const placeOf = ({ moduleId }: TestSpecification): number =>
      places.get(moduleId) ?? NEAR.length;
    return files.toSorted((one, other) => placeOf(one) - placeOf(other));
  }
}

/** Ends at the first failure, without waiting for what else is under way. */
const END_AT_FAILURE: Reporter = {
  onTestCaseResult: (test) => endIfFailed(test.result().state),
  onTestModuleEnd: (module) => endIfFailed(module.state()),
};

function endIfFailed(state: string): void {
  if (state === 'failed') process.exit(1);
}

export default defineConfig({
  test: {
    root: ROOT,
    include: MUTATED === undefined ? ['test/core/**/*.test.ts'] : TESTS,
    exclude: ['test/{docs,package}/**', ...(IS_CONSOLE ? [] : ['test/**/*.deep.test.ts'])],
    passWithNoTests: true,
    reporters: MUTATED === undefined ? ['default'] : [END_AT_FAILURE],
    globalSetup: ['test/support/servers/global-setup.ts'],
    setupFiles: ['test/support/each-file/hooks.ts'],
    pool: 'forks',
    maxWorkers: 2,
    isolate: false,
    // Twice what the slowest needs: a change that lets a test wait for ever is noticed by that.
    testTimeout: 30_000,
    hookTimeout: 30_000,
    sequence: { sequencer: NearFirst },
  },
});
