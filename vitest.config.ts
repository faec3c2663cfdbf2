import { defineConfig } from 'vitest/config';

/** Tests of minutes: kills, floods and fuzz. `npm run test:deep` runs them alone. */
const DEEP = 'test/**/*.deep.test.ts';

/** Folders whose tests keep nothing in the process and share its loaded modules. */
const SHARED = ['apis', 'assets', 'audit', 'client', 'config', 'core', 'inference', 'jobs']
  .concat(['protocols', 'providers', 'resources', 'routing', 'sessions', 'surfaces', 'tasks'])
  .concat(['usage', 'webhooks'])
  .map((folder) => `test/${folder}/**/*.test.ts`)
  .concat('test/console/logic/**/*.test.ts');

export default defineConfig({
  test: {
    pool: 'forks',
    maxWorkers: 2,
    // Ten times what the slowest needs on a machine of its own: a shared one may be that slow.
    testTimeout: 150_000,
    hookTimeout: 150_000,
    reporters: ['default'],
    projects: [
      { extends: true, test: { name: 'unit', include: SHARED, exclude: [DEEP], isolate: false } },
      {
        extends: true,
        test: { name: 'whole', include: ['test/**/*.test.ts'], exclude: [DEEP, ...SHARED] },
      },
      { extends: true, test: { name: 'deep', include: [DEEP] } },
    ],
  },
});
