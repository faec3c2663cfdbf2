import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { BaseSequencer } from 'vitest/node';
import type { TestSpecification } from 'vitest/node';

/** Source file that is changed, from the root of the repository: `src/usage/ledger/ledger.ts`. */
const MUTATED = process.env.MUTATED_FILE ?? '';

/** Tests that no mutant is worth, but those of what was built of the console to one of it. */
const LEFT_OUT = MUTATED.startsWith('src/console/')
  ? []
  : ['test/console/*.test.ts', 'test/**/*.deep.test.ts'];

/** Words of a path, in the singular. */
const wordsOf = (path: string): string[] =>
  path.split(/[/.-]/).map((word) => word.replace(/s$/, ''));

const SOUGHT: ReadonlySet<string> = new Set(wordsOf(MUTATED.replace(/^src\/|\.ts$/g, '')));

/** Number of words that the path of a test shares with that of the mutated file. */
function closeness({ moduleId }: TestSpecification): number {
  const [, path = ''] = moduleId.split('/test/');
  return new Set(wordsOf(path).filter((word) => SOUGHT.has(word))).size;
}

/** Runs first what has the name of the mutated file, or lies where it does: it is the likeliest to notice. */
class NearFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((one, other) => closeness(other) - closeness(one));
  }
}

/** Tests that import the sources. */
export default defineConfig({
  test: {
    root: fileURLToPath(new URL('../../', import.meta.url)),
    include: ['test/**/*.test.ts'],
    exclude: ['test/{docs,package}/**', ...LEFT_OUT],
    setupFiles: ['test/support/each-file/hooks.ts'],
    pool: 'forks',
    maxWorkers: 2,
    isolate: false,
    testTimeout: 150_000,
    hookTimeout: 150_000,
    sequence: { sequencer: NearFirst },
  },
});
