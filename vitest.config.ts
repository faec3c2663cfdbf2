import { defineConfig } from 'vitest/config';

/** Tests that take long: kills, floods, fuzz, installations, the longest in a browser. `npm run test:deep` runs only these. */
const DEEP = 'test/**/*.deep.test.ts';
/** Tests that count what the process has made so far. */
const ALONE = ['test/cli/project/sections.test.ts'];

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
    projects: [
      { extends: true, test: { name: 'alone', include: ALONE } },
      // The files of a worker share its modules: to load those of a gateway takes seconds.
      { extends: true, test: { name: 'deep', include: [DEEP], isolate: false } },
      {
        extends: true,
        test: {
          name: 'quick',
          include: ['test/**/*.test.ts'],
          exclude: [DEEP, ...ALONE],
          isolate: false,
        },
      },
    ],
  },
});
