import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    pool: 'forks',
    maxWorkers: 2,
    // Ten times what the slowest needs on a machine of its own: a shared one may be that slow.
    testTimeout: 150_000,
    hookTimeout: 150_000,
    reporters: ['default'],
  },
});
