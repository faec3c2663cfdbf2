import { Buffer } from 'node:buffer';
import { describe, expect, it } from 'vitest';
import { runInference } from '../../src/inference/run-inference.ts';
import { createJobs } from '../../src/jobs/create-jobs.ts';
import { openMemoryStore } from '../../src/store/backends/memory/open-memory-store.ts';
import type { Store } from '../../src/store/store.ts';
import type { HttpExchange } from '../../src/surfaces/http-exchange.ts';
import { pollsOf, trackersOf } from '../../src/tasks/open-tasks.ts';
import { createTaskGet } from '../../src/tasks/task-get.ts';
import { TASKS_PATH } from '../../src/tasks/task-paths.ts';
import { UpstreamError } from '../../src/upstream/transport.ts';
import type { Transport } from '../../src/upstream/transport.ts';
import { createCharges } from '../../src/usage/spend/create-charges.ts';
import { readSpend } from '../../src/usage/spend/read-spend.ts';
import { verifies } from '../requirements.ts';
import { fakeAccount, fakeCatalog, fakeModel, fakeRoute } from '../support/catalog.ts';
import { chatBody } from '../support/chat.ts';
import { inferenceBench } from '../support/inference.ts';
import { createMortalStore } from '../support/stage/mortal-store.ts';
import { principal, turns } from '../usage/usage-fixtures.ts';
import { openTranscripts, transcription } from './transcripts.ts';

const ID = 'transcript_1';
const MINUTE = 60_000;
const WEEK = 7 * 24 * 60 * MINUTE;
const KEY = { kind: 'key', id: 'key_1' } as const;
const PAYER = principal({ keySpend: { lifetime: 1_000_000 } });
const WORKING = { id: 'up_1', state: 'working', seconds: 0 };
const DONE = { id: 'up_1', state: 'done', seconds: 60 };
const COST = 6_050;

/** A provider that says what the test gives it, and the store that all processes share. */
function setUp() {
  const bench = inferenceBench();
  const { clock } = bench;
  const store = openMemoryStore(clock);
  const asked: string[] = [];
  let answer: object | number | 'down' = WORKING;
  const transport: Transport = {
    send({ method, url }, sink) {
      asked.push(`${method} ${url.pathname}`);
      const told = method === 'POST' ? WORKING : answer;
      queueMicrotask(() => {
        if (told === 'down') return sink.onError(new UpstreamError('connect', 'refused'));
        sink.onHead(typeof told === 'number' ? told : 200, {});
        sink.onData(Buffer.from(JSON.stringify(told)));
        sink.onEnd();
      });
      return { abort: () => undefined, pause: () => undefined, resume: () => undefined };
    },
    close: async () => undefined,
  };
  const route = fakeRoute('studio', {
    provider: fakeAccount('studio', { protocols: { chat: { path: '/transcripts' } } }),
    pricing: { perSecond: 100, perCall: 50 },
  });
  const catalog = fakeCatalog(fakeModel('acme/scribe', [route]));
  const inference = { ...bench.deps, transportFor: () => transport };

  /** One process on the store: its tasks, its jobs, and the call that creates a task. */
  const start = (own: Store, worker: string) => {
    const jobs = createJobs({ store: own, clock, worker });
    const transcripts = openTranscripts({
      store: own,
      jobs,
      charges: createCharges({ store: own }),
      inference,
      catalog: () => catalog,
      resultsKeptMs: null,
      interactionWaitMs: 0,
    });
    const tasks = { transcripts };
    const create = async (): Promise<unknown> => {
      const result = await runInference(
        {
          id: 'req_1',
          at: clock.now(),
          startedAt: clock.monotonic(),
          surface: 'transcripts',
          protocol: transcription,
          principal: PAYER,
          catalog,
          body: Buffer.from(chatBody('acme/scribe')),
          headers: {},
          address: {},
          client: { gone: false, onGone: () => () => undefined },
          repeatable: false,
          tracker: trackersOf(tasks).get('chat'),
        },
        inference,
      );
      return result.type === 'body' && JSON.parse(result.body.toString());
    };
    const task = createTaskGet({
      store: own,
      tasks,
      runs: { find: () => Promise.reject(new Error('no run')) },
      lookup: () => PAYER,
      rates: { isPlatformFull: () => false, admitPlatform: () => true, admitKey: () => true },
      concurrency: { enter: () => () => undefined },
    });
    const request = { headers: { authorization: 'Bearer sk-1' } };
    const tell = (id = ID) =>
      task({ request, search: '', path: `${TASKS_PATH}/${id}` } as unknown as HttpExchange);
    jobs.start(pollsOf(tasks));
    return { transcripts, jobs, create, tell };
  };
  return {
    clock,
    store,
    asked,
    start,
    answers: (next: typeof answer) => void (answer = next),
    spent: async () => (await readSpend({ store }, KEY, clock.now())).lifetime,
    rowsOf: async (prefix: string) => (await store.list({ prefix: [prefix] })).length,
    pass: async (ms: number, step = 1_000) => {
      await turns();
      for (let left = ms; left > 0; left -= step) {
        clock.advance(Math.min(step, left));
        await turns();
      }
    },
  };
}

describe('a family of tasks that is one file', () => {
  it(verifies('extend.task-family', 'has records, polling, settlement and look-up'), async () => {
    const { store, start, answers, pass, spent, asked, rowsOf } = setUp();
    const { create, tell, transcripts } = start(store, 'a');
    expect(await create()).toEqual({ id: ID, state: 'working' });
    expect((await spent()).reserved).toBeGreaterThan(0);
    expect(await tell()).toMatchObject({
      body: { id: ID, type: 'transcript', status: 'running', settlement: 'reserved' },
    });
    await pass(10_000);
    expect(asked.slice(0, 2)).toEqual(['POST /v1/transcripts', 'GET /v1/transcripts/up_1']);
    answers(DONE);
    await pass(20_000);
    expect(await spent()).toEqual({ settled: COST, reserved: 0 });
    expect(await rowsOf('job')).toBe(0);
    expect(await tell()).toMatchObject({
      body: { status: 'succeeded', settlement: 'settled', cost: '0.00000605' },
    });
    const count = asked.length;
    answers({ ...WORKING, state: 'broken' });
    const { value } = await transcripts.look('org_1', ID);
    expect(value).toMatchObject({ state: 'done', seconds: 60, answeredBy: 'acme/scribe' });
    await pass(5 * MINUTE, 10_000);
    expect(asked).toHaveLength(count);
    await expect(transcripts.look('org_2', ID)).rejects.toMatchObject({
      code: 'not_found',
      message: 'transcript not found',
    });
    await expect(tell('transcript_2')).rejects.toMatchObject({ code: 'not_found' });
  });

  it.each([
    ['does not know it for ten minutes', 404, 12 * MINUTE],
    ['has not ended it within a week', WORKING, WEEK + MINUTE],
    ['has been away for a week', 'down', WEEK + MINUTE],
  ] as const)('gives the money back when the provider %s', async (_why, answer, ms) => {
    const { store, start, answers, pass, spent, rowsOf } = setUp();
    const { create, tell } = start(store, 'a');
    await create();
    answers(answer);
    await pass(ms, Math.max(5_000, ms / 200));
    expect(await spent()).toEqual({ settled: 0, reserved: 0 });
    expect(await rowsOf('job')).toBe(0);
    expect(await tell()).toMatchObject({
      body: { status: 'failed', settlement: 'released', cost: '0.00' },
    });
  });

  it('stays as it was last seen while its provider tells nothing', async () => {
    const { store, start, answers, pass, rowsOf } = setUp();
    const { create, transcripts } = start(store, 'a');
    await create();
    for (const answer of ['down', 503] as const) {
      answers(answer);
      expect((await transcripts.look('org_1', ID)).value.state).toBe('working');
    }
    await pass(2 * MINUTE);
    expect(await rowsOf('job')).toBe(1);
  });

  it('is charged for once when two processes look at once', async () => {
    const { store, start, answers, spent, pass, rowsOf } = setUp();
    const first = start(store, 'a');
    const second = start(store, 'b');
    await first.create();
    answers(DONE);
    const looks = [first, second, first].map(({ transcripts }) => transcripts.look('org_1', ID));
    for (const { value } of await Promise.all(looks)) expect(value.state).toBe('done');
    await pass(MINUTE);
    expect(await spent()).toEqual({ settled: COST, reserved: 0 });
    expect(await rowsOf('job')).toBe(0);
  });

  it(
    verifies('extend.task-family', 'is taken over from a process that died at any of its commits'),
    async () => {
      let died = 0;
      for (const moment of ['before', 'after'] as const)
        for (let commit = 1; commit <= 12; commit++) {
          const { store, start, answers, pass, spent, rowsOf } = setUp();
          const mortal = createMortalStore(store);
          mortal.dieAt(commit, moment);
          const first = start(mortal.store, 'a');
          await first.create().catch(() => undefined);
          answers(DONE);
          await pass(20_000);
          if (mortal.isDead) died++;
          void first.jobs.close();
          const second = start(store, 'b');
          const isMade = (await rowsOf('transcript')) === 1;
          await pass(2 * MINUTE);
          const at = { moment, commit };
          expect({ ...at, ...(await spent()) }).toEqual({
            ...at,
            settled: isMade ? COST : 0,
            reserved: 0,
          });
          expect({ ...at, jobs: await rowsOf('job') }).toEqual({ ...at, jobs: 0 });
          if (isMade)
            expect(await second.tell()).toMatchObject({ body: { settlement: 'settled' } });
        }
      expect(died).toBeGreaterThanOrEqual(12);
    },
  );
});
