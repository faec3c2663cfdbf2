import { Buffer } from 'node:buffer';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { ApiQuestion } from '../../../src/apis/api-caller.ts';
import { GatewayError } from '../../../src/core/errors.ts';
import { NO_USAGE } from '../../../src/core/usage.ts';
import { createJobs } from '../../../src/jobs/create-jobs.ts';
import type { JobResult } from '../../../src/jobs/jobs.ts';
import { openMemoryStore } from '../../../src/store/backends/memory/open-memory-store.ts';
import { StoreError } from '../../../src/store/store.ts';
import { createRunJob } from '../../../src/tasks/runs/run-job.ts';
import type { RunJobDeps } from '../../../src/tasks/runs/run-job.ts';
import type { RunRecord } from '../../../src/tasks/runs/run-record.ts';
import { createRunRecords } from '../../../src/tasks/runs/run-records.ts';
import { createCharges } from '../../../src/usage/spend/create-charges.ts';
import { NO_ANSWER_BODIES } from '../../fixtures/wire/odd-streams.ts';
import { SPOKEN } from '../../protocols/spoken.ts';
import { fakeAccount, fakeCatalog, fakeModel, fakeRoute } from '../../support/catalog.ts';
import { inferenceBench } from '../../support/inference.ts';
import { createFaultyStore, outcome, principal } from '../../usage/usage-fixtures.ts';

const PRICING = { input: 100, output: 200 };
const PAYER = { keyId: 'key_1', keyName: 'first', organizationId: 'org_1' };
const RECORD: RunRecord = {
  id: 'run_1',
  call: 'req_1',
  payer: PAYER,
  at: 0,
  endedAt: null,
  model: 'acme/one',
  status: 'queued',
  bytes: 0,
  error: null,
  usage: null,
  cost: 0,
  video: null,
  webhook: null,
};
const CONSUMED = { usage: { ...NO_USAGE, input: 7 }, estimated: false, cost: 19, unpriced: false };

/** The job of one run, whose API does what `callApi` says. */
async function setUp(record: Partial<RunRecord>, callApi?: RunJobDeps['apis']['call']) {
  const bench = inferenceBench();
  const { clock, deps: inference } = bench;
  const store = createFaultyStore(openMemoryStore(clock));
  onTestFinished(() => store.close());
  const records = createRunRecords(store, createJobs({ store, clock, worker: 'a' }), 60_000);
  const input = Buffer.from(JSON.stringify({ messages: [{ role: 'user', content: 'hi' }] }));
  await records.add({ ...RECORD, ...record, bytes: input.length }, input);
  const provider = fakeAccount('a', { protocols: { chat: { path: '/ask' } } });
  const route = fakeRoute('a', { provider, pricing: PRICING });
  const catalog = fakeCatalog(
    fakeModel('acme/one', [route]),
    fakeModel('crm', [], { type: 'api' }),
  );
  const deps = {
    inference,
    store,
    clock,
    records,
    trackers: new Map(),
    spoken: SPOKEN,
    catalog: () => catalog,
    videos: {
      find: async () => {
        throw new GatewayError('not_found');
      },
    },
    apis: { call: callApi },
    admit: async () => ({ principal: principal(), leave: () => undefined }),
  };
  const job = createRunJob(deps as unknown as RunJobDeps);
  const go = (): Promise<JobResult> =>
    job({
      job: { kind: 'run', id: 'run_1', payload: { organization: 'org_1' } },
      attempt: 1,
      failures: 0,
      signal: new AbortController().signal,
    });
  const ended = async (): Promise<RunRecord | undefined> =>
    (await records.find('org_1', 'run_1'))?.value;
  return { ...bench, store, records, go, ended };
}

const USED = { input_tokens: 7 };

describe('a run that failed', () => {
  it('tells what the API was paid for all the same', async () => {
    const { go, ended } = await setUp({ model: 'crm' }, async ({ onSettled }: ApiQuestion) => {
      onSettled?.(CONSUMED);
      throw new GatewayError('upstream_interrupted');
    });
    expect(await go()).toBe('done');
    const error = { code: 'upstream_interrupted' };
    expect(await ended()).toMatchObject({ status: 'failed', error, usage: USED, cost: 19 });
  });

  it('tells what the provider of a model was paid for all the same', async () => {
    const { go, ended, sent, outcomes } = await setUp({});
    const going = go();
    await expect.poll(() => sent.length).toBe(1);
    sent[0]?.sink.onHead(200, { 'content-type': 'application/json' });
    sent[0]?.sink.onData(Buffer.from(JSON.stringify(NO_ANSWER_BODIES.chat[0])));
    sent[0]?.sink.onEnd();
    expect(await going).toBe('done');
    const cost = 5 * PRICING.input + 3 * PRICING.output;
    expect(outcomes).toMatchObject([{ result: 'error', cost }]);
    expect(await ended()).toMatchObject({
      status: 'failed',
      error: { code: 'invalid_upstream_response' },
      usage: { input_tokens: 5, output_tokens: 3 },
      cost,
    });
  });

  it('has cost nothing where nothing was settled', async () => {
    const { go, ended } = await setUp({ model: 'crm' }, async () => {
      throw new GatewayError('api_unreachable');
    });
    await go();
    expect(await ended()).toMatchObject({ status: 'failed', usage: null, cost: 0 });
  });
});

describe('a run whose output is too large for the store', () => {
  const reply = { id: 'req_1', status: 200, headers: {}, body: Buffer.alloc(10), ...CONSUMED };

  it.each([
    [200, { code: 'invalid_upstream_response', message: expect.stringContaining('too large') }],
    [422, { code: 'upstream_rejected' }],
  ])('fails for good at status %d, and tells what it came to', async (status, error) => {
    const { go, ended, store, records } = await setUp(
      { model: 'crm' },
      async ({ onSettled }: ApiQuestion) => {
        onSettled?.(CONSUMED);
        return { ...reply, status };
      },
    );
    store.refuse = (ops) =>
      ops.some(({ type, key }) => type === 'put' && key[0] === 'run-content')
        ? new StoreError('too_large', 'a commit may carry at most 64 MiB')
        : undefined;
    expect(await go()).toBe('done');
    const record = await ended();
    expect(record).toMatchObject({ status: 'failed', error, usage: USED, cost: 19, bytes: 0 });
    expect(record && (await records.content(record))).toBeUndefined();
  });
});

describe('a run whose video is gone', () => {
  const charge = { id: 'video_1', principal: PAYER, surface: 'videos', model: 'v/film', at: 0 };

  it('has succeeded where it was charged for, without its output', async () => {
    const { go, ended, store } = await setUp({ status: 'running', video: 'video_1' });
    await createCharges({ store }).charge({ ...charge, outcome: outcome(CONSUMED) });
    expect(await go()).toBe('done');
    const end = { status: 'succeeded', error: null, usage: USED, cost: 19, bytes: 0 };
    expect(await ended()).toMatchObject(end);
  });

  it.each([
    ['failed', 'video_1'],
    ['interrupted', null],
  ])('has failed where it was not: %s', async (code, video) => {
    const { go, ended } = await setUp({ status: 'running', video });
    expect(await go()).toBe('done');
    expect(await ended()).toMatchObject({ status: 'failed', error: { code }, cost: 0, bytes: 0 });
  });
});
