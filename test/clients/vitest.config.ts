import { defineConfig } from 'vitest/config';

/** `npm run test:clients`; outside the other suites, because what it runs is no dependency. */
export default defineConfig({
  test: {
    include: ['test/clients/**/*.client.ts'],
    testTimeout: 300_000,
    hookTimeout: 300_000,
    // The tools wait more than they work.
    maxWorkers: 2,
  },
});
