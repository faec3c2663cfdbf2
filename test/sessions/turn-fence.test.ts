import { expect, it } from 'vitest';
import { createIdSource } from '../../src/core/ids.ts';
import { createSessions } from '../../src/sessions/create-sessions.ts';
import { TURN_JOB } from '../../src/sessions/log/job-kinds.ts';
import { SESSIONS } from '../../src/sessions/session-row.ts';
import type { TurnLog } from '../../src/sessions/sessions.ts';
import { openMemoryStore } from '../../src/store/backends/memory/open-memory-store.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { eventually } from '../support/gateway.ts';
import { codeOf } from '../usage/usage-fixtures.ts';
import { createJobs } from '../../src/jobs/create-jobs.ts';
import { idle, newSession, ORG, say } from './support.ts';

/** A Session whose job a test runs itself; the runner's turns stay open. */
async function setUp() {
  const clock = createFakeClock();
  const store = openMemoryStore(clock);
  let writes = 0;
  const counted = {
    ...store,
    commit(ops: Parameters<typeof store.commit>[0]) {
      if (ops.some((op) => 'key' in op && op.type === 'put' && op.key[0] === SESSIONS[0])) writes++;
      return store.commit(ops);
    },
  };
  const logs: TurnLog[] = [];
  const runner = {
    run: (log: TurnLog, signal: AbortSignal) =>
      new Promise<void>((_resolve, reject) => {
        logs.push(log);
        signal.addEventListener('abort', () => reject(new Error('left off')));
      }),
  };
  const jobs = createJobs({ store: counted, clock, worker: 'a' });
  const ids = createIdSource(clock);
  const { sessions, handlers } = createSessions({ store: counted, clock, ids, jobs, runner });
  const { session } = await sessions.create(newSession({ events: [say('go')] }));
  writes = 0;
  return {
    sessions,
    id: session.id,
    writes: () => writes,
    /** Begins a go of the job, whatever other goes there are; gives the log of its turn. */
    async go(attempt: number): Promise<TurnLog> {
      const before = logs.length;
      const { signal } = new AbortController();
      const job = { kind: TURN_JOB, id: session.id, payload: null };
      void handlers.get(TURN_JOB)?.({ job, attempt, failures: attempt - 1, signal });
      return eventually(() => logs[before]);
    },
  };
}

it('begins a first go without a commit of its own: its first append enters its name', async () => {
  const { go, writes, sessions, id } = await setUp();
  const log = await go(1);
  expect(writes()).toBe(0);
  await log.append([idle('end_turn')], { handled: 1 });
  expect(writes()).toBe(1);
  expect(await sessions.get(ORG, id)).toMatchObject({ status: 'idle', goes: 1 });
});

it.each([0, 1])(
  'keeps a former go from appending, after %i appends of its own',
  async (appends) => {
    const { go } = await setUp();
    const former = await go(1);
    for (let i = 0; i < appends; i++) await former.append([{ type: 'span.model_request_start' }]);
    const heir = await go(2);
    expect(await codeOf(former.append([idle('end_turn')]))).toBe('conflict');
    await heir.append([idle('end_turn')], { handled: 1 });
  },
);

it('keeps a go out that comes back when the next one has come to its end', async () => {
  const { go } = await setUp();
  const former = await go(1);
  const heir = await go(2);
  await heir.append([idle('end_turn')], { handled: 1 });
  const next = await go(1);
  expect(await codeOf(former.append([idle('end_turn')]))).toBe('conflict');
  expect(await codeOf(next.append([]))).toBe('fulfilled');
});

it('ends with the Session, though its first append has not come', async () => {
  const { go, sessions, id } = await setUp();
  const log = await go(1);
  expect(await sessions.terminate(ORG, id, { reason: 'enough' })).toBe(true);
  expect(await codeOf(log.append([idle('end_turn')], { handled: 1 }))).toBe('conflict');
  expect(await sessions.get(ORG, id)).toMatchObject({ status: 'terminated' });
});
