import { Buffer } from 'node:buffer';
import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { ApiExchange } from '../../src/apis/api-exchange.ts';
import type { ApiAnswer, ApiEnd, ApiFailure } from '../../src/apis/api-exchange.ts';
import { ActiveExchanges } from '../../src/inference/active-exchanges.ts';
import { UpstreamError } from '../../src/upstream/transport.ts';
import { createFakeClock } from '../support/fake-clock.ts';

const TIMEOUTS = { firstContent: 50, wholeAnswer: 100, idle: 200, total: 1_000 };
const turn = () => new Promise((resolve) => setImmediate(resolve));

function setUp({ isSafe = false, isWaiting = false, deadline = 1_000 } = {}) {
  const clock = createFakeClock();
  const active = new ActiveExchanges();
  const results: (ApiAnswer | ApiFailure)[] = [];
  const heads: number[] = [];
  const seen: string[] = [];
  const broken: ApiFailure[] = [];
  let leave: () => void = () => undefined;
  let aborted = 0;
  const exchange = new ApiExchange({
    clock,
    active,
    isSafe,
    timeouts: TIMEOUTS,
    deadline,
    client: {
      gone: false,
      onGone(listener) {
        leave = listener;
        return () => (leave = () => undefined);
      },
    },
    onHead: (status) => void heads.push(status),
    onData: (chunk) => void seen.push(chunk.toString()),
    onBroken: (failure) => void broken.push(failure),
    resolve: (result) => void results.push(result),
  });
  exchange.attach({
    isWaiting,
    abort: () => void aborted++,
    pause: () => undefined,
    resume: () => undefined,
  });
  return {
    clock,
    active,
    exchange,
    results,
    heads,
    seen,
    broken,
    leave: () => leave(),
    aborted: () => aborted,
  };
}

/** The answer, with what its client has received and how it ended. */
function follow(result: ApiAnswer | ApiFailure | undefined) {
  if (!result || !('body' in result)) throw new Error('an answer was expected');
  const target = new PassThrough();
  const state = { text: '', isEnded: false };
  const ends: ApiEnd[] = [];
  target.on('data', (chunk: Buffer) => (state.text += chunk.toString()));
  target.on('end', () => (state.isEnded = true));
  result.body.pipe(target);
  void result.ended.then((end) => ends.push(end));
  return { state, ends };
}

describe('an answer of an API', () => {
  it('is passed on from its head on, its last bytes once the call is settled', async () => {
    const { exchange, results, heads, seen, active } = setUp();
    exchange.onHead(200, { 'content-length': '5' });
    const { state, ends } = follow(results[0]);
    exchange.onData(Buffer.from('abc'));
    exchange.onData(Buffer.from('de'));
    exchange.onEnd();
    await turn();
    expect([heads, seen, state]).toEqual([[200], ['abc', 'de'], { text: 'abc', isEnded: false }]);
    expect(ends).toMatchObject([{ failure: undefined }]);
    expect(active.size).toBe(0);
    ends[0]?.finish();
    await turn();
    expect(state).toEqual({ text: 'abcde', isEnded: true });
    expect(results).toHaveLength(1);
  });

  it('of no known length is passed on as it comes, and ends once the call is settled', async () => {
    const { exchange, results } = setUp();
    exchange.onHead(200, {});
    const { state, ends } = follow(results[0]);
    exchange.onData(Buffer.from('abc'));
    exchange.onEnd();
    await turn();
    expect(state).toEqual({ text: 'abc', isEnded: false });
    ends[0]?.finish();
    await turn();
    expect(state).toEqual({ text: 'abc', isEnded: true });
  });

  it.each([204, 205, 304])('without a body is there when it ends, not before: %d', (status) => {
    const { exchange, results, seen } = setUp();
    exchange.onHead(status, { 'content-length': '7' });
    expect(results).toEqual([]);
    exchange.onData(Buffer.from('no'));
    exchange.onEnd();
    expect(results).toMatchObject([{ status }]);
    expect(seen).toEqual([]);
  });

  it('is never there where it ends before its head', () => {
    const { exchange, results, active } = setUp();
    exchange.onEnd();
    expect([results, active.size]).toEqual([[], 1]);
  });

  it.each([
    [401, 'no_route_succeeded'],
    [500, 'api_failed'],
    [302, 'api_failed'],
    [199, 'api_failed'],
  ])('of the status %d is none', (status, code) => {
    const { exchange, results, heads, aborted, active } = setUp();
    exchange.onHead(status, {});
    exchange.onData(Buffer.from('secret'));
    expect(results).toMatchObject([
      { reason: `status_${status}`, status, isUnsent: false, error: { code } },
    ]);
    expect([heads, aborted(), active.size]).toEqual([[], 1, 0]);
  });
});

describe('a call to an API that fails before its head', () => {
  it.each([
    ['connect', 'api_unreachable', true, undefined],
    ['reset', 'upstream_interrupted', false, false],
    ['protocol', 'upstream_interrupted', false, false],
  ] as const)('tells why: %s', (...[kind, code, isUnsent, retry]) => {
    const { exchange, results } = setUp();
    exchange.onError(new UpstreamError(kind, 'broken'));
    expect(results).toMatchObject([{ reason: kind, status: null, isUnsent, error: { code } }]);
    expect(results[0]).toHaveProperty('error.retry', retry);
  });

  it('may be repeated where it is safe', () => {
    const { exchange, results } = setUp({ isSafe: true });
    exchange.onError(new UpstreamError('reset', 'broken'));
    expect(results[0]).toHaveProperty('error.retry', undefined);
  });

  it.each([
    [200, 'api_failed', false],
    [401, 'no_route_succeeded', false],
    [503, 'api_failed', undefined],
  ])('for its coding keeps the status %d', (status, code, retry) => {
    const { exchange, results } = setUp();
    const answer = { status, headers: {} };
    exchange.onError(new UpstreamError('encoding', 'gzip', { answer }));
    expect(results).toMatchObject([{ reason: 'encoding_not_offered', status, error: { code } }]);
    expect(results[0]).toHaveProperty('error.retry', retry);
  });

  it('is given up when its time is over', () => {
    const { exchange, results, clock, aborted } = setUp();
    clock.advance(99);
    expect(results).toEqual([]);
    clock.advance(1);
    expect(results).toMatchObject([
      { reason: 'timeout_first_content', error: { code: 'upstream_timeout', retry: false } },
    ]);
    expect(aborted()).toBe(1);
    exchange.onHead(200, {});
    expect(results).toHaveLength(1);
  });

  it('never had a connection where it waited for one', () => {
    for (const end of ['lapse', 'leave', 'error'] as const) {
      const { exchange, results, clock, leave } = setUp({ isWaiting: true });
      if (end === 'lapse') clock.advance(100);
      else if (end === 'leave') leave();
      else exchange.onError(new UpstreamError('waiting', 'no place'));
      const reason = 'waiting_for_connection';
      expect(results).toMatchObject([{ reason, status: null, isUnsent: false }]);
    }
  });

  it('is over when the gateway stops', () => {
    const { active, results } = setUp();
    active.shutDown();
    expect(results).toMatchObject([
      { reason: 'shutting_down', error: { code: 'shutting_down', retry: false } },
    ]);
  });
});

describe('an answer that breaks off', () => {
  it('is told as broken, and gets no tidy end', async () => {
    const { exchange, results, broken } = setUp();
    exchange.onHead(200, {});
    const { state, ends } = follow(results[0]);
    exchange.onData(Buffer.from('abc'));
    exchange.onError(new UpstreamError('reset', 'broken'));
    await turn();
    expect(broken).toMatchObject([{ reason: 'reset', status: 200 }]);
    expect(ends).toMatchObject([{ failure: { reason: 'reset' } }]);
    ends[0]?.finish();
    await turn();
    expect(state).toEqual({ text: 'abc', isEnded: false });
    expect(results).toHaveLength(1);
  });

  it('is told to nobody where the client has left', async () => {
    const { exchange, results, broken, leave, aborted } = setUp();
    exchange.onHead(200, {});
    const { ends } = follow(results[0]);
    leave();
    await turn();
    expect([broken, aborted()]).toEqual([[], 1]);
    expect(ends).toMatchObject([{ failure: { reason: 'client_gone', status: 200 } }]);
  });

  it('breaks off in silence, and at the end of the whole call', async () => {
    const silent = setUp();
    silent.exchange.onHead(200, {});
    silent.clock.advance(199);
    expect(silent.broken).toEqual([]);
    silent.clock.advance(1);
    expect(silent.broken).toMatchObject([{ reason: 'timeout_idle' }]);
    const long = setUp({ deadline: 150 });
    long.exchange.onHead(200, {});
    long.clock.advance(150);
    expect(long.broken).toMatchObject([{ reason: 'timeout_total' }]);
  });

  it('can be given up from within', async () => {
    const { exchange, results, aborted } = setUp();
    exchange.onHead(200, {});
    const { ends } = follow(results[0]);
    if (results[0] && 'abort' in results[0]) results[0].abort();
    await turn();
    expect([aborted(), ends]).toMatchObject([1, [{ failure: { reason: 'client_gone' } }]]);
  });
});
