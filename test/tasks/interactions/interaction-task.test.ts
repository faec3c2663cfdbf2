import { expect, it } from 'vitest';
import type { Key } from '../../../src/store/store.ts';
import { PROVIDER_ID } from '../../../src/tasks/identity.ts';
import { openInteractions } from '../../../src/tasks/interactions/interaction-task.ts';
import type { TaskDeps } from '../../../src/tasks/task-family.ts';

it('gives back what was held for work that another call has taken over', async () => {
  const released: string[] = [];
  const place = PROVIDER_ID.keyOf('int_1');
  const interactions = openInteractions({
    store: {
      get: async ([, , id]: Key) =>
        id === place ? { value: { call: 'req_2', charge: 'due' } } : undefined,
    },
    charges: { release: async (id: string) => void released.push(id) },
  } as unknown as TaskDeps);
  const { signal } = new AbortController();
  for (const id of ['int_1', 'int_forgotten']) {
    const job = { kind: interactions.job, id: `req_of_${id}`, payload: { key: 'key_1', id } };
    expect(await interactions.poll({ job, attempt: 1, failures: 0, signal })).toBe('done');
  }
  expect(released).toEqual(['req_of_int_1', 'req_of_int_forgotten']);
});
