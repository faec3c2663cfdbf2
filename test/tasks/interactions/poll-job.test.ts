import { expect, it } from 'vitest';
import type { LookDeps } from '../../../src/tasks/interactions/look-up-interaction.ts';
import { POLL_JOB } from '../../../src/tasks/interactions/interaction-records.ts';
import { createPollJob } from '../../../src/tasks/interactions/poll-job.ts';

it('gives back what was held for work that another call has taken over', async () => {
  const released: string[] = [];
  const find = async (_key: string, id: string) =>
    id === 'int_1' ? { value: { call: 'req_2', charge: 'due' } } : undefined;
  const poll = createPollJob({
    records: { find },
    charges: { release: async (id: string) => void released.push(id) },
  } as unknown as LookDeps);
  const { signal } = new AbortController();
  for (const id of ['int_1', 'int_forgotten']) {
    const job = { kind: POLL_JOB, id: `req_of_${id}`, payload: { key: 'key_1', id } };
    expect(await poll({ job, attempt: 1, failures: 0, signal })).toBe('done');
  }
  expect(released).toEqual(['req_of_int_1', 'req_of_int_forgotten']);
});
