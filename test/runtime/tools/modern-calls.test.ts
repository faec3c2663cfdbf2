import { setImmediate as settled } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { hideResult, ModernCall } from '../../../src/runtime/tools/modern-calls.ts';
import type { Resumption } from '../../../src/runtime/tools/modern-calls.ts';
import type { ToolAnswers } from '../../../src/runtime/tools/tool-server.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import type { FakeClock } from '../../support/fake-clock.ts';

const CALL = { name: 'bake', arguments: {} };
const DONE = { content: [{ type: 'text', text: 'done' }] };
const text = (words: string, isError = false) => ({
  content: [{ type: 'text', text: words }],
  isError,
});
const task = (status: string, rest: object = {}) => ({
  taskId: 't1',
  status,
  ttlMs: null,
  pollIntervalMs: 5_000,
  ...rest,
});
const form = (message: string) => ({
  method: 'elicitation/create',
  params: { message, requestedSchema: { type: 'object', properties: {} } },
});

type Answer = Readonly<Record<string, unknown>>;

/** A call of a server that answers in this order, the last answer for good; time passes as it is waited for. */
function call(
  answers: readonly Answer[],
  given?: ToolAnswers<Resumption>,
  secrets: readonly string[] = [],
) {
  const asked: { method: string; params: Answer; at: number }[] = [];
  const clock = createFakeClock();
  const stop = new AbortController();
  const left = [...answers];
  const outcome = new ModernCall(CALL, given, {
    clock,
    secrets,
    signal: stop.signal,
    async ask(method, params, signal = stop.signal) {
      asked.push({ method, params, at: clock.monotonic() });
      signal.throwIfAborted();
      return (left.length > 1 ? left.shift() : left[0]) as Answer;
    },
  }).run();
  return { asked, clock, stop, outcome };
}

/** The call waits for its timer first. */
async function pass(clock: FakeClock, ms: number): Promise<void> {
  await settled();
  clock.advance(ms);
}

const methods = ({ asked }: ReturnType<typeof call>) => asked.map(({ method }) => method);

describe('a call that becomes a task', () => {
  const begun = { resultType: 'task', ...task('working') };

  it('is polled in the time that its server suggests, to its result', async () => {
    const played = call([
      begun,
      task('working', { pollIntervalMs: 9_000 }),
      task('completed', { result: DONE }),
    ]);
    await pass(played.clock, 5_000);
    await pass(played.clock, 9_000);
    expect(await played.outcome).toEqual(text('done'));
    expect(played.asked.map(({ method, at }) => [method, at - (played.asked[0]?.at ?? 0)])).toEqual(
      [
        ['tools/call', 0],
        ['tasks/get', 5_000],
        ['tasks/get', 14_000],
      ],
    );
  });

  it.each([
    [
      task('failed', { error: { code: -1, message: 'no flour, see s3cr3t-key' } }),
      'no flour, see [redacted]',
    ],
    [task('failed'), 'the task of the server failed'],
    [task('cancelled'), 'the server cancelled the task'],
  ])('ends in an error: %j', async (end, message) => {
    const { clock, outcome } = call([begun, end], undefined, ['s3cr3t-key']);
    await pass(clock, 5_000);
    expect(await outcome).toEqual(text(message, true));
  });

  it.each([
    [task('completed', { result: DONE }), text('done')],
    [task('failed', { error: { code: -1, message: 'no flour' } }), text('no flour', true)],
  ])('is read where it is over at once: %j', async (end, expected) => {
    const { status } = end;
    const played = call([{ resultType: 'task', ...task(status) }, end]);
    expect(await played.outcome).toEqual(expected);
    expect(methods(played)).toEqual(['tools/call', 'tasks/get']);
  });

  it('is cancelled where it lives no longer, and where the call is stopped', async () => {
    const overdue = call([{ ...begun, ttlMs: 7_000 }, task('working', { ttlMs: 7_000 })]);
    await pass(overdue.clock, 5_000);
    await pass(overdue.clock, 5_000);
    expect(await overdue.outcome).toEqual(text('the task of the server timed out', true));
    expect(methods(overdue).at(-1)).toBe('tasks/cancel');
    const stopped = call([begun]);
    await settled();
    stopped.stop.abort();
    await expect(stopped.outcome).rejects.toThrow();
    expect(methods(stopped)).toEqual(['tools/call', 'tasks/cancel']);
  });

  it('asks, and continues with the answers', async () => {
    const asking = task('input_required', { inputRequests: { glaze: form('Glazed?') } });
    const first = call([begun, asking]);
    await pass(first.clock, 5_000);
    const outcome = await first.outcome;
    const resume = { taskId: 't1' };
    expect(outcome).toMatchObject({ questions: [{ key: 'glaze', message: 'Glazed?' }], resume });
    const responses = { glaze: { action: 'accept', content: {} } };
    // The server may show the question for a moment more.
    const then = call([{}, asking, task('completed', { result: DONE })], { responses, resume });
    await pass(then.clock, 5_000);
    expect(await then.outcome).toEqual(text('done'));
    expect(then.asked[0]).toMatchObject({
      method: 'tasks/update',
      params: { taskId: 't1', inputResponses: responses },
    });
  });
});

describe('a call whose server wants input', () => {
  it('is made again with the answers and the state, as they are', async () => {
    const responses = { a: { action: 'decline' } };
    const played = call([DONE], { responses, resume: { requestState: ' s ' } });
    expect(await played.outcome).toEqual(text('done'));
    expect(played.asked[0]?.params).toEqual({
      ...CALL,
      inputResponses: responses,
      requestState: ' s ',
    });
  });

  it('is made again by itself where the server has no question, but not for ever', async () => {
    const again = { resultType: 'input_required', requestState: 'later' };
    const soon = call([again, DONE]);
    await pass(soon.clock, 250);
    expect(await soon.outcome).toEqual(text('done'));
    expect(soon.asked[1]?.params).toEqual({ ...CALL, requestState: 'later' });
    const never = call([again]);
    for (let round = 0; round < 10; round++) await pass(never.clock, 250);
    expect(await never.outcome).toMatchObject({ isError: true });
    expect(never.asked).toHaveLength(10);
  });

  it.each([
    { method: 'sampling/createMessage', params: {} },
    { method: 'roots/list' },
    { method: 'elicitation/create', params: { mode: 'url', url: 'https://a', message: 'Log in' } },
    7,
  ])('is answered with an error where that is no form: %j', async (request) => {
    const inputRequests = { good: form('Really?'), other: request };
    const { outcome } = call([{ resultType: 'input_required', inputRequests }]);
    expect(await outcome).toMatchObject({ isError: true });
  });

  it.each([
    [50, '', false],
    [51, '', true],
    [1, 'x'.repeat(300_000), true],
  ])(
    'asks no more than a Session can hold: %i questions of %.3s',
    async (count, message, isError) => {
      const forms = Array.from({ length: count }, (_, index) => [`${index}`, form(message)]);
      const inputRequests = Object.fromEntries(forms) as object;
      const { outcome } = call([{ resultType: 'input_required', inputRequests }]);
      const refusal = text('the questions of the server are too many or too large', true);
      const asked = { questions: expect.arrayContaining([expect.anything()]), resume: {} };
      expect(await outcome).toEqual(isError ? refusal : asked);
    },
  );
});

describe('a result of a server', () => {
  it.each([
    [undefined, true],
    ['complete', true],
    ['task', true],
    // The client refuses it, as the revision wants.
    ['hologram', false],
    [7, false],
    ['input_required', false],
  ])('of the kind %j is hidden from the client: %j', (resultType, isHidden) => {
    const result = { resultType, content: [] };
    const message = { jsonrpc: '2.0' as const, id: 1, result };
    hideResult(message, '2026-07-28');
    expect('given' in message.result).toBe(isHidden);
    const older = { jsonrpc: '2.0' as const, id: 1, result };
    hideResult(older, '2025-11-25');
    expect(older.result).toBe(result);
  });
});
