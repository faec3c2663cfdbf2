import { Buffer } from 'node:buffer';
import { expect, it } from 'vitest';
import type { Call } from '../../../src/inference/types.ts';
import { interactions } from '../../../src/protocols/interactions/interactions.ts';
import type { StreamReader } from '../../../src/protocols/protocol.ts';
import { openInteractions } from '../../../src/tasks/interactions/interaction-task.ts';
import type { TaskDeps } from '../../../src/tasks/task-family.ts';
import { principal } from '../../usage/usage-fixtures.ts';
import { fakeModel, fakeRoute } from '../../support/catalog.ts';

it('settles a stream whose last event is nested too deeply to be kept', async () => {
  const { tracker } = openInteractions({
    store: { commit: async () => ({ ok: true, version: '1' }) },
  } as unknown as TaskDeps);
  const model = fakeModel('m/one', []);
  const call = {
    request: { id: 'req_1', at: 0, principal: principal() },
    peek: interactions.peek(Buffer.from('{"model":"m/one","input":"hi","stream":true}')),
    model,
    record: { answeredBy: { protocol: 'interactions', model, route: fakeRoute('a') } },
  } as unknown as Call;
  const nested = JSON.parse(`${'['.repeat(20_000)}${']'.repeat(20_000)}`) as unknown;
  const value = { id: 'int_1', status: 'completed', nested };
  const work = { id: 'int_1', status: 'completed', value };
  const reader = { work, usage: undefined, outputChars: 7 } as unknown as StreamReader;
  expect(await tracker.onStreamEnd(call, reader)).toEqual({ usage: undefined, outputChars: 7 });
});
