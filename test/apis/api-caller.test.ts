import { fakeCatalog } from '../support/catalog.ts';
import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../src/core/errors.ts';
import { createIdSource } from '../../src/core/ids.ts';
import { ActiveExchanges } from '../../src/inference/active-exchanges.ts';
import type { Api } from '../../src/routing/catalog.ts';
import { createApiCaller } from '../../src/apis/api-caller.ts';
import type { ApiQuestion } from '../../src/apis/api-caller.ts';
import { UpstreamError } from '../../src/upstream/transport.ts';
import type { Transport, UpstreamRequest, UpstreamSink } from '../../src/upstream/transport.ts';
import type { Ledger, RequestOutcome, RequestStart } from '../../src/usage/ledger/ledger.ts';
import type { Refusal } from '../../src/usage/requests/refusals.ts';
import { principal } from '../usage/usage-fixtures.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { makeApi } from './make-api.ts';

type Play = (sink: UpstreamSink, request: UpstreamRequest) => void;

const PRINCIPAL = principal();
const JSON_HEAD = { 'content-type': 'application/json' };

const answer =
  (status: number, text: string, headers: Record<string, string> = JSON_HEAD): Play =>
  (sink) => {
    sink.onHead(status, headers);
    if (text !== '') sink.onData(Buffer.from(text));
    sink.onEnd();
  };
const fail =
  (kind: UpstreamError['kind']): Play =>
  (sink) =>
    sink.onError(new UpstreamError(kind, 'broken'));

/** A caller whose APIs do what `plays` say, one play for each sending. */
function setUp(
  plays: Play[],
  { api = makeApi(), entry = {}, isWaiting = false, ...rest }: Parts = {},
) {
  const clock = createFakeClock();
  const sent: UpstreamRequest[] = [];
  const aborted: number[] = [];
  const starts: RequestStart[] = [];
  const outcomes: RequestOutcome[] = [];
  const active = new ActiveExchanges();
  const transport: Transport = {
    send(request, sink) {
      const index = sent.push(request) - 1;
      let isOver = false;
      queueMicrotask(() => plays[index]?.(sink, request));
      return {
        isWaiting,
        abort() {
          if (isOver) return;
          isOver = true;
          aborted.push(index);
          sink.onError(new UpstreamError('aborted', 'aborted'));
        },
        pause: () => undefined,
        resume: () => undefined,
      };
    },
    close: async () => undefined,
  };
  const ledger: Ledger = {
    begin(start) {
      starts.push(start);
      return {
        admitted: undefined,
        durable: Promise.resolve(),
        isDurable: true,
        settled: undefined,
        follow: () => undefined,
        ...entry,
        settle: (outcome) => void outcomes.push(outcome),
      };
    },
    checkFunds: () => undefined,
    drain: async () => undefined,
  };
  const refused: Refusal[] = [];
  const onBug = (thrown: unknown): never => {
    throw thrown;
  };
  const caller = createApiCaller({
    inference: {
      clock,
      ledger,
      active,
      keepContent: false,
      onBug,
      allowsUnpriced: false,
      refusals: { note: (refusal) => void refused.push(refusal) },
    },
    transportToApi: () => transport,
    catalog: () => ({ ...fakeCatalog(), apis: new Map([[api.name, api]]) }),
    ids: createIdSource(clock),
    ...rest,
  });
  const call = (question: Partial<ApiQuestion> = {}) =>
    caller.call({
      principal: PRINCIPAL,
      vendor: 'acme',
      path: '/a',
      method: 'POST',
      signal: new AbortController().signal,
      ...question,
    });
  return { caller, call, clock, refused, sent, aborted, starts, outcomes, active };
}

interface Parts {
  api?: Api;
  entry?: Partial<Pick<ReturnType<Ledger['begin']>, 'admitted' | 'durable'>>;
  maxAnswerBytes?: number;
  /** Every call waits for a connection, and gets none. */
  isWaiting?: boolean;
}

describe('a call to an API from within', () => {
  it('that never had a connection is answered with 503, is sent no second time, and says why', async () => {
    const refused = setUp([fail('waiting'), answer(200, '{}')]);
    await expect(refused.call()).rejects.toMatchObject({ code: 'no_route_succeeded' });
    expect(refused.sent).toHaveLength(1);
    expect(refused.outcomes).toMatchObject([
      { status: 503, attempts: [{ outcome: 'waiting_for_connection', status: null }] },
    ]);

    const late = setUp([() => undefined], { isWaiting: true });
    const answered = late.call();
    answered.catch(() => undefined);
    while (late.sent.length === 0) await new Promise((resolve) => setImmediate(resolve));
    late.clock.advance(makeApi().timeouts.firstContent);
    await expect(answered).rejects.toMatchObject({ code: 'no_route_succeeded' });
    expect(late.aborted).toEqual([0]);
    expect(late.outcomes).toMatchObject([
      { status: 503, attempts: [{ outcome: 'waiting_for_connection', status: null }] },
    ]);
  });

  it('has the whole answer, its usage and its cost', async () => {
    const pricing = { perCall: 5, input: 2 };
    const usage = { input: { field: '$.n', most: 100 } };
    const api = { ...makeApi({ usage }), pricing };
    const { call, sent, starts, outcomes } = setUp([answer(200, '{"n":7}')], { api });
    const reply = await call({ path: 'a/b', query: 'x=1&key=2', body: Buffer.from('{}') });
    expect(reply).toMatchObject({ status: 200, headers: JSON_HEAD, cost: 19, estimated: false });
    expect(reply.body.toString()).toBe('{"n":7}');
    expect(reply.usage.input).toBe(7);
    expect(sent[0]).toMatchObject({ method: 'POST', raw: false });
    expect(sent[0]?.url.href).toBe('https://api.example/base/a/b?x=1');
    const headers = 'content-type application/json authorization Bearer acme-secret';
    expect(sent[0]?.headers.join(' ')).toBe(headers);
    expect(starts).toMatchObject([{ id: reply.id, surface: 'api', model: 'acme', bound: 205 }]);
    expect(outcomes).toMatchObject([{ status: 200, result: 'ok', cost: 19 }]);
  });

  it('goes under the name and the surface of who makes it', async () => {
    const { call, starts } = setUp([answer(204, '', {})]);
    const reply = await call({ id: 'req_own', surface: 'run', method: 'GET' });
    expect(reply).toMatchObject({ id: 'req_own', status: 204, body: Buffer.alloc(0) });
    expect(starts).toMatchObject([{ id: 'req_own', surface: 'run' }]);
  });

  it('finds APIs by name', () => {
    const { caller } = setUp([]);
    expect(caller.find('org_1', 'acme')).toEqual({ name: 'acme', methods: ['GET', 'POST'] });
    expect(caller.find('org_1', 'other')).toBeUndefined();
  });

  it('gives what the API refuses, for nothing', async () => {
    const { call, outcomes } = setUp([answer(422, '{"error":"x"}')], {
      api: makeApi({}, { pricing: { perCall: 5 } }),
    });
    expect(await call()).toMatchObject({ status: 422, cost: 0 });
    expect(outcomes).toMatchObject([
      { status: 422, result: 'error', errorCode: 'upstream_rejected', cost: 0 },
    ]);
  });

  it.each([
    ['nothing', { vendor: 'other' }, 'not_found'],
    ['no such path', { path: '/../x' }, 'invalid_request'],
    ['no such method', { method: 'PUT' as 'POST' }, 'method_not_allowed'],
    ['not for the key', { principal: { ...PRINCIPAL, allowedModels: ['b*'] } }, 'not_found'],
  ])('is refused, and noted, before it counts anywhere: %s', async (_what, question, code) => {
    const { call, starts, sent, refused } = setUp([]);
    await expect(call(question)).rejects.toMatchObject({ code });
    expect([starts, sent]).toEqual([[], []]);
    expect(refused).toMatchObject([{ surface: 'api', cause: { code } }]);
  });

  it('is made once more where nothing could be sent, and not otherwise', async () => {
    for (const method of ['GET', 'POST'] as const) {
      const again = setUp([fail('connect'), answer(200, '{}')]);
      expect(await again.call({ method })).toMatchObject({ status: 200 });
      expect(again.outcomes).toMatchObject([
        { result: 'ok', attempts: [{ outcome: 'connect', status: null }, { outcome: 'ok' }] },
      ]);
      const never = setUp([fail('connect'), fail('connect'), answer(200, '{}')]);
      await expect(never.call({ method })).rejects.toMatchObject({ code: 'api_unreachable' });
      expect(never.outcomes).toMatchObject([{ status: 502, cost: 0 }]);
      for (const play of [fail('reset'), fail('protocol'), answer(503, '')]) {
        const once = setUp([play, answer(200, '{}')]);
        await expect(once.call({ method })).rejects.toMatchObject({ status: 502 });
        expect(once.sent).toHaveLength(1);
        expect(once.outcomes).toHaveLength(1);
      }
    }
  });

  it('ends at the API when nobody waits for it any more', async () => {
    for (const play of [() => undefined, (sink: UpstreamSink) => sink.onHead(200, JSON_HEAD)]) {
      const { call, sent, aborted, outcomes, active } = setUp([play]);
      const controller = new AbortController();
      const calling = call({ signal: controller.signal });
      await expect.poll(() => sent.length).toBe(1);
      await new Promise((resolve) => setImmediate(resolve));
      controller.abort();
      await expect(calling).rejects.toBeInstanceOf(GatewayError);
      expect([aborted, active.size]).toEqual([[0], 0]);
      expect(outcomes).toMatchObject([{ status: 499, result: 'aborted' }]);
    }
    const early = setUp([]);
    await expect(early.call({ signal: AbortSignal.abort() })).rejects.toBeInstanceOf(GatewayError);
    expect(early.outcomes).toMatchObject([{ status: 499, result: 'aborted' }]);
  });

  it('is charged where its answer broke off, and is an error', async () => {
    const api = { ...makeApi(), pricing: { perCall: 5 } };
    const play: Play = (sink) => {
      sink.onHead(200, JSON_HEAD);
      sink.onData(Buffer.from('{'));
      setImmediate(() => sink.onError(new UpstreamError('reset', 'broken')));
    };
    const { call, outcomes } = setUp([play], { api });
    const settled: unknown[] = [];
    const asked = call({ onSettled: (consumption) => void settled.push(consumption) });
    await expect(asked).rejects.toMatchObject({ code: 'upstream_interrupted', retry: false });
    expect(settled).toMatchObject([{ cost: 5, unpriced: false }]);
    expect(outcomes).toMatchObject([{ status: 200, result: 'interrupted', cost: 5 }]);
  });

  it('is given up for an answer that is too large', async () => {
    const { call, aborted, outcomes } = setUp([answer(200, 'x'.repeat(11))], {
      maxAnswerBytes: 10,
    });
    await expect(call()).rejects.toMatchObject({ code: 'invalid_upstream_response' });
    expect(aborted.length).toBeLessThanOrEqual(1);
    expect(outcomes).toHaveLength(1);
  });

  it('is not made when the ledger refuses, and shows nothing that is not recorded', async () => {
    const refusal = new GatewayError('key_spending_limit');
    const admitted = Promise.reject(refusal);
    const refused = setUp([answer(200, '{}')], { entry: { admitted } });
    await expect(refused.call()).rejects.toBe(refusal);
    expect(refused.sent).toEqual([]);
    const durable = Promise.reject(new GatewayError('persistence_failed'));
    durable.catch(() => undefined);
    const lost = setUp([(sink) => sink.onHead(200, JSON_HEAD)], { entry: { durable } });
    await expect(lost.call()).rejects.toMatchObject({ code: 'persistence_failed' });
    expect([lost.aborted, lost.outcomes.length]).toEqual([[0], 1]);
  });

  it('takes no longer than it may', async () => {
    const timeouts = { firstContent: 100, wholeAnswer: 100, idle: 100, total: 250 };
    const started = async (play: Play) => {
      const parts = setUp([play], { api: { ...makeApi(), timeouts } });
      const calling = parts.call();
      calling.catch(() => undefined);
      await new Promise((resolve) => setImmediate(resolve));
      return { ...parts, calling };
    };
    const silent = await started(() => undefined);
    silent.clock.advance(101);
    await expect(silent.calling).rejects.toMatchObject({ code: 'upstream_timeout', status: 504 });
    expect(silent.outcomes).toMatchObject([{ attempts: [{ outcome: 'timeout_first_content' }] }]);
    expect(silent.aborted).toEqual([0]);
    const quiet = await started((sink) => sink.onHead(200, JSON_HEAD));
    quiet.clock.advance(101);
    await expect(quiet.calling).rejects.toMatchObject({ code: 'upstream_timeout' });
    expect(quiet.outcomes).toMatchObject([{ result: 'interrupted', errorCode: 'timeout_idle' }]);
  });

  it('ends when the gateway stops', async () => {
    const { call, active, outcomes } = setUp([() => undefined]);
    const calling = call();
    await new Promise((resolve) => setImmediate(resolve));
    active.shutDown();
    await expect(calling).rejects.toMatchObject({ code: 'shutting_down' });
    expect(outcomes).toMatchObject([{ status: 503, result: 'error' }]);
  });
});
