import { describe, expect, it } from 'vitest';
import { isRunOver } from '../../src/client/runs.ts';
import type { RunView } from '../../src/client/runs.ts';
import { parseKeepingDigits } from '../../src/core/json/digits.ts';
import { stringifyWithRaw } from '../../src/core/json/raw.ts';
import { connect, failed, testCalls, without } from './support.ts';

const RUN: RunView = {
  id: 'run_1',
  model: 'acme/paint',
  status: 'running',
  output: null,
  error: null,
  usage: null,
  created_at: '2026-11-21T10:00:00Z',
  completed_at: null,
};
const OVER: RunView = { ...RUN, status: 'succeeded', output: 'https://acme.test/1.png' };
const TASK = {
  id: 'task_1',
  type: 'video',
  model: 'acme/film',
  status: 'completed',
  settlement: 'settled',
  cost: null,
};

describe('runs', () => {
  testCalls([
    {
      name: 'create',
      call: ({ runs }, signal) =>
        runs.create(
          { model: RUN.model, input: { prompt: 'a' } },
          { waitMs: 0, ...(signal && { signal }) },
        ),
      method: 'POST',
      target: '/v1/run',
      body: { model: RUN.model, input: { prompt: 'a' } },
      answer: RUN,
      refused: without(RUN, 'id', 'model', 'status', 'created_at'),
    },
    {
      name: 'get',
      call: ({ runs }, signal) => runs.get('run/1', signal),
      method: 'GET',
      target: '/v1/run/run%2F1',
      answer: RUN,
      refused: without(RUN, 'id', 'model', 'status', 'created_at'),
    },
    {
      name: 'a task',
      call: ({ tasks }, signal) => tasks.get('task/1', signal),
      method: 'GET',
      target: '/v1/tasks/task%2F1',
      answer: TASK,
      refused: without(TASK, 'id', 'type', 'model', 'status', 'settlement'),
    },
  ]);

  it('sends and reads numbers with their digits', async () => {
    const text = '{"id":2512292042121000001,"n":[1.0]}';
    const { output: _none, ...rest } = RUN;
    const answer = `${JSON.stringify(rest).slice(0, -1)},"output":${text}}`;
    const { client, sent } = connect([new Response(answer)]);
    const input = parseKeepingDigits(text);
    const run = await client.runs.create({ model: RUN.model, input }, { waitMs: 0 });
    expect(sent[0]?.body).toContain(`"input":${text}`);
    expect(stringifyWithRaw(run.output)).toBe(text);
  });

  it.each([
    [0, 'wait=0'],
    [999, 'wait=0'],
    [1_000, 'wait=1'],
    [59_999, 'wait=59'],
    [-5, 'wait=0'],
  ])('asks the server to wait %i ms in whole seconds', async (waitMs, prefer) => {
    const { client, sent } = connect([RUN]);
    await client.runs.create({ model: RUN.model, input: {} }, { waitMs });
    expect(sent[0]?.headers).toMatchObject({ prefer });
  });

  it.each([
    ['queued', false],
    ['running', false],
    ['succeeded', true],
    ['failed', true],
    ['cancelled', true],
  ] as const)('holds a run that is %s for over: %s', (status, isOver) => {
    expect(isRunOver({ ...RUN, status })).toBe(isOver);
  });
});

describe('a run that is waited for', () => {
  it('is asked for every second until it is over', async () => {
    const { client, sent, clock } = connect([{ ...RUN, status: 'queued' }, RUN, OVER]);
    expect(await client.runs.ended(RUN, { timeoutMs: 50_000 })).toEqual(OVER);
    expect(sent.map(({ target }) => target)).toEqual(Array(3).fill('/v1/run/run_1'));
    expect(clock.pauses).toEqual([1_000, 1_000, 1_000]);
  });

  it('is not asked for where it is over already', async () => {
    const { client, sent } = connect([failed(500)]);
    expect(await client.runs.ended(OVER, { timeoutMs: 0 })).toEqual(OVER);
    expect(sent).toEqual([]);
  });

  it('is asked for again where the server fails or the connection is lost', async () => {
    const lost = Array.from({ length: 4 }, () => new TypeError('terminated'));
    const { client, sent } = connect([
      ...Array.from({ length: 4 }, () => failed(503)),
      ...lost,
      OVER,
    ]);
    expect(await client.runs.ended(RUN, { timeoutMs: 50_000 })).toEqual(OVER);
    expect(sent).toHaveLength(9);
  });

  it.each([401, 403, 404])('is given up where the server answers %i', async (status) => {
    const { client, sent } = connect([failed(status)]);
    const ended = client.runs.ended(RUN, { timeoutMs: 50_000 });
    await expect(ended).rejects.toMatchObject({ status, code: 'no_luck' });
    expect(sent).toHaveLength(1);
  });

  it('is given up when its time is over, to the millisecond', async () => {
    const { client, clock } = connect([RUN]);
    const ended = client.runs.ended(RUN, { timeoutMs: 2_300 });
    await expect(ended).rejects.toMatchObject({
      code: 'timeout',
      message: 'run run_1 was not over in time',
    });
    expect(clock.pauses).toEqual([1_000, 1_000, 300]);
  });

  it('ends with its signal', async () => {
    const { client, sent } = connect([RUN]);
    const ended = client.runs.ended(RUN, { timeoutMs: 9_000, signal: AbortSignal.abort() });
    await expect(ended).rejects.toMatchObject({ code: 'aborted' });
    expect(sent).toEqual([]);
  });
});
