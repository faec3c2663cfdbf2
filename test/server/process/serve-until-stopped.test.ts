import { join } from 'node:path';
import { expect, it } from 'vitest';
import { systemClock } from '../../../src/core/time/clock.ts';
import { openStore } from '../../../src/store/open-store.ts';
import { verifies } from '../../requirements.ts';
import { startGateway } from '../../support/gateway.ts';
import { directoryOfTest } from '../../support/process/directory-of-test.ts';

it(
  verifies('ops.shutdown.drain', 'ends no earlier than the work that it waits for, and says so'),
  async () => {
    const directory = await directoryOfTest();
    // Answered in process, so that nothing but timers is left of the work while it waits.
    const mock = { rules: [{ reply: { delay_ms: 1_500, text: 'at last' } }] };
    const gateway = await startGateway(
      {
        server: { limits: { interaction_wait: '1ms' } },
        providers: [{ name: 'mock', type: 'mock', mock }],
        models: [{ name: 'v/slow', pricing: { per_call: '0' }, routes: [{ provider: 'mock' }] }],
      },
      { binary: true, directory },
    );
    const body = { model: 'v/slow', input: { messages: [{ role: 'user', content: 'hello' }] } };
    const { status, body: run } = await gateway.call('POST', '/v1/run', { body });
    expect([status, run.status]).toEqual([202, expect.stringMatching(/^(queued|running)$/)]);
    expect(await gateway.stop()).toBe(0);
    expect(gateway.log()).toContain('stopping');
    const path = join(directory, '.gateway', 'store');
    const store = await openStore({ driver: 'lmdb', path, options: {} }, { clock: systemClock });
    const left = await store.list({ prefix: ['job', 'run'], limit: 10 });
    await store.close();
    expect(left).toEqual([]);
  },
);
