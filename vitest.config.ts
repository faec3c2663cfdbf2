import { defineConfig } from 'vitest/config';
import { BaseSequencer } from 'vitest/node';
import type { TestSpecification } from 'vitest/node';

/** Tests that take long: kills, floods, fuzz, installations, the longest in a browser. `npm run test:deep` runs only these. */
const DEEP = 'test/**/*.deep.test.ts';
/** Tests that count what the process has made so far. */
const ALONE = ['test/cli/project/sections.test.ts'];
/** Deep and quick tests apart only where one is asked for: each project compiles and loads the sources. */
const IS_APART = process.argv.some((word) => word.startsWith('--project'));

/** The longest first, so that no worker is left with one of them at the end. */
class DeepFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isDeep = ({ moduleId }: TestSpecification) => Number(moduleId.endsWith('.deep.test.ts'));
    const sorted = await super.sort(files);
    return sorted.sort(
      (one, other) =>
        one.project.name.localeCompare(other.project.name) || isDeep(other) - isDeep(one),
    );
  }
}

// The files of a worker share its modules: to load those of a gateway takes seconds.
const shared = (name: string, include: string[], exclude: string[]) => ({
  extends: true as const,
  test: { name, include, exclude, isolate: false },
});
const ALL = ['test/**/*.test.ts'];

export default defineConfig({
  test: {
    pool: 'forks',
    maxWorkers: 2,
    globalSetup: ['test/support/servers/global-setup.ts'],
    setupFiles: ['test/support/each-file/hooks.ts'],
    // Ten times what the slowest needs on a machine of its own: a shared one may be that slow.
    testTimeout: 150_000,
    hookTimeout: 150_000,
    reporters: ['default'],
    sequence: { sequencer: DeepFirst },
    projects: [
      { extends: true, test: { name: 'alone', include: ALONE } },
      ...(IS_APART
        ? [shared('deep', [DEEP], []), shared('quick', ALL, [DEEP, ...ALONE])]
        : [shared('tests', ALL, ALONE)]),
    ],
  },
});
