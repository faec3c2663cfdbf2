import { Buffer } from 'node:buffer';
import { describe, expect, it } from 'vitest';
import { createAffinity } from '../../../src/routing/affinity.ts';
import { ActiveExchanges } from '../../../src/inference/active-exchanges.ts';
import type { Call } from '../../../src/inference/types.ts';
import { createJobs } from '../../../src/jobs/create-jobs.ts';
import { toVideo } from '../../../src/protocols/videos/video.ts';
import type { Video } from '../../../src/protocols/videos/video.ts';
import { openMemoryStore } from '../../../src/store/backends/memory/open-memory-store.ts';
import { pollsOf } from '../../../src/tasks/open-tasks.ts';
import type { VideoRecord } from '../../../src/tasks/videos/video-record.ts';
import { openVideos } from '../../../src/tasks/videos/video-task.ts';
import { UpstreamError } from '../../../src/upstream/transport.ts';
import type { Transport, UpstreamRequest } from '../../../src/upstream/transport.ts';
import { createCharges } from '../../../src/usage/spend/create-charges.ts';
import { readSpend } from '../../../src/usage/spend/read-spend.ts';
import { verifies } from '../../requirements.ts';
import { fakeAccount, fakeCatalog, fakeModel, fakeRoute } from '../../support/catalog.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { createFaultyStore, principal, turns } from '../../usage/usage-fixtures.ts';

const MINUTE = 60_000;
const KEY = { kind: 'key', id: 'key_1' } as const;

type Answer = { status: number; body?: object | string } | 'down';

/** One task, whose provider answers as the test says. */
async function setUp() {
  const clock = createFakeClock();
  const store = createFaultyStore(openMemoryStore(clock));
  const jobs = createJobs({ store, clock, worker: 'a' });
  const charges = createCharges({ store });
  const asked: UpstreamRequest[] = [];
  let answer: Answer = { status: 200, body: { id: 'up_1', status: 'in_progress' } };
  const transport: Transport = {
    send(request, sink) {
      asked.push(request);
      const told = answer;
      queueMicrotask(() => {
        if (told === 'down') return sink.onError(new UpstreamError('connect', 'refused'));
        sink.onHead(told.status, {});
        const { body = {} } = told;
        sink.onData(Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)));
        sink.onEnd();
      });
      return { abort: () => undefined, pause: () => undefined, resume: () => undefined };
    },
    close: async () => undefined,
  };
  const provider = fakeAccount('studio', { protocols: { videos: { path: '/videos' } } });
  const route = fakeRoute('studio', { provider, protocols: new Set(['videos'] as const) });
  let catalog = fakeCatalog(fakeModel('v/film', [route], { type: 'video' }));
  const videos = openVideos({
    store,
    jobs,
    charges,
    inference: {
      clock,
      transportFor: () => transport,
      maxAnswerBytes: 1_000,
      active: new ActiveExchanges(),
      affinity: createAffinity(store),
    },
    catalog: () => catalog,
    resultsKeptMs: null,
    interactionWaitMs: 0,
  });
  const limited = principal({ keySpend: { lifetime: 10_000 } });
  const record: VideoRecord = {
    id: 'video_1',
    upstreamId: 'up_1',
    payer: { keyId: 'key_1', keyName: 'first', organizationId: 'org_1' },
    at: clock.now(),
    updatedAt: clock.now(),
    model: 'v/film',
    answeredBy: 'v/film',
    provider: 'studio',
    account: provider.id,
    upstreamModel: 'film',
    pricing: { perSecond: 100, perCall: 50 },
    askedSeconds: 8,
    video: toVideo({ status: 'queued', prompt: 'a fox', size: '720x1280' }) as Video,
    settlement: 'reserved',
  };
  const request = { id: 'req_1', at: clock.now(), principal: limited };
  const call = { request, model: { id: 'v/film' }, bound: 1_250 } as Call;
  await videos.add(call, record);
  await videos.hold(call, record);
  jobs.start(pollsOf({ videos }));
  return {
    clock,
    store,
    asked,
    answers: (next: Answer) => void (answer = next),
    forgetProvider: () => void (catalog = fakeCatalog()),
    look: async () => (await videos.look('org_1', 'video_1')).value,
    spent: async () => (await readSpend({ store }, KEY, clock.now())).lifetime,
    jobsLeft: async () => (await store.list({ prefix: ['job'] })).length,
    pass: async (ms: number, step = 1_000) => {
      await turns();
      for (let left = ms; left > 0; left -= step) {
        clock.advance(Math.min(step, left));
        await turns();
      }
    },
  };
}

const DONE: Answer = { status: 200, body: { id: 'up_1', status: 'completed', seconds: '8' } };

describe('a video task', () => {
  it(
    verifies('video.tasks.charged-once', 'is paid for with what was held for it, by its job'),
    async () => {
      const { answers, pass, look, spent, jobsLeft, asked } = await setUp();
      expect(await spent()).toEqual({ settled: 0, reserved: 1_250 });
      await pass(10_000);
      expect(asked.length).toBeGreaterThan(1);
      answers(DONE);
      await pass(20_000);
      expect(await spent()).toEqual({ settled: 850, reserved: 0 });
      expect(await jobsLeft()).toBe(0);
      const before = asked.length;
      expect(await look()).toMatchObject({ settlement: 'settled', video: { prompt: 'a fox' } });
      await pass(5 * MINUTE, 10_000);
      expect(asked).toHaveLength(before);
    },
  );

  it('is asked for less and less often', async () => {
    const { pass, asked } = await setUp();
    await pass(10 * MINUTE);
    const early = asked.length;
    await pass(10 * MINUTE);
    expect(early).toBeLessThan(40);
    expect(asked.length - early).toBeLessThanOrEqual(11);
  });

  it('stays as it was last seen while its provider tells nothing', async () => {
    const { answers, look, forgetProvider, pass, jobsLeft } = await setUp();
    expect((await look()).video.state).toBe('in_progress');
    for (const answer of ['down', { status: 503 }, { status: 200, body: '{"id":' }] as const) {
      answers(answer);
      expect((await look()).video.state).toBe('in_progress');
    }
    forgetProvider();
    expect((await look()).video.state).toBe('in_progress');
    await pass(2 * MINUTE);
    expect(await jobsLeft()).toBe(1);
  });

  it('is lost when its provider does not know it for ten minutes, and costs nothing', async () => {
    const { answers, look, pass, spent, jobsLeft } = await setUp();
    answers({ status: 404 });
    expect((await look()).video.state).toBe('queued');
    await pass(12 * MINUTE, 5_000);
    expect(await look()).toMatchObject({
      settlement: 'released',
      video: { state: 'failed', error: { code: 'not_found' } },
    });
    expect(await spent()).toEqual({ settled: 0, reserved: 0 });
    expect(await jobsLeft()).toBe(0);
  });

  it('is given up after a week', async () => {
    const { clock, look, spent } = await setUp();
    clock.step(8 * 24 * 60 * MINUTE);
    expect((await look()).video).toMatchObject({ state: 'failed', error: { code: 'timeout' } });
    expect(await spent()).toEqual({ settled: 0, reserved: 0 });
  });

  it('never leaves a state that is final', async () => {
    const { answers, look, spent } = await setUp();
    answers({ status: 200, body: { id: 'up_1', status: 'failed', error: { message: 'no' } } });
    expect((await look()).video.state).toBe('failed');
    answers(DONE);
    expect((await look()).video.state).toBe('failed');
    expect(await spent()).toEqual({ settled: 0, reserved: 0 });
  });

  it('shows nothing of a provider that nobody else is to know', async () => {
    const { answers, look } = await setUp();
    const message = 'failed at https://internal.example/x with sk-live-1234567890abcdef';
    answers({ status: 200, body: { id: 'up_1', status: 'failed', error: { message } } });
    const { video } = await look();
    expect(video.error?.message).not.toMatch(/internal|1234567890/);
  });

  it(
    verifies('video.tasks.charged-once', 'is paid for later when the charge could not be written'),
    async () => {
      const { answers, store, look, spent, pass, jobsLeft } = await setUp();
      answers(DONE);
      store.refuse = (ops) => {
        if (!ops.some(({ key }) => key[0] === 'charge')) return undefined;
        store.fail('before');
        return undefined;
      };
      await expect(look()).rejects.toMatchObject({ code: 'persistence_failed' });
      store.refuse = undefined;
      store.fail(undefined);
      await pass(MINUTE);
      expect(await spent()).toEqual({ settled: 850, reserved: 0 });
      expect(await jobsLeft()).toBe(0);
    },
  );
});
