import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { BaseSequencer } from 'vitest/node';
import type { Reporter, TestSpecification, Vitest } from 'vitest/node';
import { testsNear } from '../mutants/tests-near.ts';

// For `npm run check`: the tests near the files that CHECK_FILES names (JSON), until CHECK_UNTIL (ms).

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const CHANGED = JSON.parse(process.env['CHECK_FILES'] ?? '[]') as string[];
const UNTIL = Number(process.env['CHECK_UNTIL']);

/** Deep tests take long: only those that changed themselves. */
const NEAR = testsNear(ROOT, ...CHANGED).filter(
  (path) => !path.endsWith('.deep.test.ts') || CHANGED.includes(path),
);

class NearestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const places = new Map(NEAR.map((path, place) => [`${ROOT}${path}`, place]));
    return files.toSorted(
      (one, other) => (places.get(one.moduleId) ?? 0) - (places.get(other.moduleId) ?? 0),
    );
  }
}

/** Lets the tests that run come to their end at the given time and names how many files did not begin. */
class Deadline implements Reporter {
  #ended = 0;
  #timer: NodeJS.Timeout | undefined;

  onInit(vitest: Vitest): void {
    const cancel = (): void => void vitest.cancelCurrentRun('test-failure');
    this.#timer = setTimeout(cancel, UNTIL - Date.now()).unref();
  }

  onTestModuleEnd(): void {
    this.#ended += 1;
  }

  onTestRunEnd(): void {
    clearTimeout(this.#timer);
    const rest = NEAR.length - this.#ended;
    const more = rest > 0 ? `; \`npm test\` runs the other ${rest}` : '';
    console.log(`${this.#ended} of ${NEAR.length} near test files${more}`);
  }
}

export default defineConfig({
  test: {
    root: ROOT,
    include: NEAR.length > 0 ? NEAR : ['test/architecture.test.ts'],
    reporters: ['default', new Deadline()],
    setupFiles: ['test/support/each-file/hooks.ts'],
    pool: 'forks',
    maxWorkers: 2,
    isolate: false,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    sequence: { sequencer: NearestFirst },
  },
});
