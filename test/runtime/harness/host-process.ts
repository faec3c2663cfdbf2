import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createJobs } from '../../../src/jobs/create-jobs.ts';
import { createHarnessRunner } from '../../../src/runtime/harness/create-harness-runner.ts';
import { createReaper } from '../../../src/runtime/reaper/create-reaper.ts';
import { createSessions } from '../../../src/sessions/create-sessions.ts';
import { openMemoryStore } from '../../../src/store/backends/memory/open-memory-store.ts';
import { fakeAgent } from '../fake-agent.ts';
import { harnessOptions, quietLog as log } from './harness-options.ts';

/** One process that has a harness at work on a turn that never ends. */
const [directory = ''] = process.argv.slice(2);
const options = harnessOptions(directory, { protocol: 'jsonl' });
const { clock, ids } = options;
const store = openMemoryStore(clock);
const runner = createHarnessRunner({ ...options, store, log, reaper: createReaper({ log }) });
const jobs = createJobs({ store, clock, worker: 'host' });
const { sessions, handlers } = createSessions({ store, clock, ids, jobs, runner });
await writeFile(join(directory, 'notes'), '');
jobs.start(handlers);
await sessions.create({
  organization: 'org_1',
  payer: { keyId: 'key_1', keyName: 'one', organizationId: 'org_1' },
  entryPoint: 'session',
  agent: fakeAgent({ harness: 'tester' }),
  events: [{ type: 'user.message', content: [{ type: 'text', text: 'stubborn' }] }],
});
// As a gateway does that listens.
setInterval(() => undefined, 60_000);
process.send?.('ready');
