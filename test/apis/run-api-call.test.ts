import { fakeCatalog } from '../support/catalog.ts';
import { Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { ActiveExchanges } from '../../src/inference/active-exchanges.ts';
import { planApiCall, runApiCall } from '../../src/apis/run-api-call.ts';
import type { ApiCallResult } from '../../src/apis/run-api-call.ts';
import type { UpstreamSink } from '../../src/upstream/transport.ts';
import type { Ledger, RequestOutcome, RequestStart } from '../../src/usage/ledger/ledger.ts';
import type { Refusal } from '../../src/usage/requests/refusals.ts';
import { FREE } from '../../src/usage/usage.ts';
import type { Pricing } from '../../src/usage/usage.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { principal } from '../usage/usage-fixtures.ts';
import { makeApi } from './make-api.ts';

const turn = () => new Promise((resolve) => setImmediate(resolve));

interface Setup {
  pricing?: Pricing;
  /** Owner whose spending is limited. Default none. */
  limit?: 'keySpend' | 'organizationSpend';
  allowsUnpriced?: boolean;
}

/** A call whose settlement is durable once `pay` is called. */
async function setUp({ pricing = { perCall: 5 }, limit, allowsUnpriced = false }: Setup = {}) {
  const clock = createFakeClock();
  const outcomes: RequestOutcome[] = [];
  const starts: RequestStart[] = [];
  let pay!: () => void;
  const settled = new Promise<void>((resolve) => (pay = resolve));
  let sink: UpstreamSink | undefined;
  const refused: Refusal[] = [];
  const api = { ...makeApi(), pricing };
  const ledger: Ledger = {
    begin(start) {
      starts.push(start);
      return {
        admitted: undefined,
        durable: Promise.resolve(),
        isDurable: true,
        settled,
        follow: () => undefined,
        settle: (outcome) => void outcomes.push(outcome),
      };
    },
    checkFunds: () => undefined,
    drain: async () => undefined,
  };
  const catalog = () => ({ ...fakeCatalog(), apis: new Map([[api.name, api]]) });
  const address = { path: '/a', search: '' };
  const who = { ...principal(), ...(limit && { [limit]: { day: 1_000_000 } }) };
  const planned = planApiCall({ vendor: api.name, method: 'POST', address }, who, catalog());
  let result: ApiCallResult | undefined;
  const answer = runApiCall(
    {
      ...planned,
      id: 'req_1',
      at: clock.now(),
      startedAt: clock.monotonic(),
      surface: 'api',
      principal: who,
      headers: {},
      body: undefined,
      client: { gone: false, onGone: () => () => undefined },
      raw: true,
      onBroken: () => undefined,
    },
    {
      inference: {
        clock,
        ledger,
        active: new ActiveExchanges(),
        allowsUnpriced,
        refusals: { note: (refusal) => void refused.push(refusal) },
        keepContent: false,
        onBug: (thrown) => {
          throw thrown;
        },
      },
      transportToApi: () => ({
        send(_request, given) {
          sink = given;
          const idle = (): void => undefined;
          return { abort: idle, pause: idle, resume: idle };
        },
        close: async () => undefined,
      }),
      catalog,
    },
  ).then((given) => (result = given));
  answer.catch(() => undefined);
  await turn();
  return {
    sink: sink as UpstreamSink,
    answer,
    result: () => result,
    pay,
    outcomes,
    starts,
    refused,
  };
}

function read({ body }: ApiCallResult): { text(): string; isOver(): boolean } {
  const chunks: Buffer[] = [];
  const client = new Writable({
    write(bytes: Buffer, _encoding, done) {
      chunks.push(bytes);
      done();
    },
  });
  body?.pipe(client);
  return { text: () => Buffer.concat(chunks).toString(), isOver: () => client.writableEnded };
}

describe('the answer of an API under a spending limit', () => {
  it('is whole when its settlement is durable, as its length says', async () => {
    const { sink, answer, pay, outcomes, starts } = await setUp();
    expect(starts).toMatchObject([{ bound: 5, estimate: { cost: 5 } }]);
    sink.onHead(200, { 'content-length': '6' });
    const client = read(await answer);
    sink.onData(Buffer.from('abc'));
    sink.onData(Buffer.from('def'));
    sink.onEnd();
    await turn();
    expect(outcomes).toMatchObject([{ result: 'ok', cost: 5 }]);
    expect(client.text()).toBe('abc');
    pay();
    await turn();
    expect([client.text(), client.isOver()]).toEqual(['abcdef', true]);
  });

  it('ends when its settlement is durable, where its length is not said', async () => {
    const { sink, answer, pay } = await setUp();
    sink.onHead(200, {});
    const client = read(await answer);
    sink.onData(Buffer.from('abc'));
    sink.onEnd();
    await turn();
    expect([client.text(), client.isOver()]).toEqual(['abc', false]);
    pay();
    await turn();
    expect(client.isOver()).toBe(true);
  });

  it('waits for its settlement as a whole where it has no body', async () => {
    const { sink, answer, pay, result, outcomes } = await setUp();
    sink.onHead(204, {});
    sink.onEnd();
    await turn();
    expect(outcomes).toHaveLength(1);
    expect(result()).toBeUndefined();
    pay();
    expect(await answer).toMatchObject({ status: 204, body: undefined });
  });

  it('is an error when what was reserved has been given back', async () => {
    const { sink, answer, pay, outcomes } = await setUp();
    let isTold = false;
    answer.catch(() => (isTold = true));
    sink.onHead(500, {});
    await turn();
    expect(outcomes).toMatchObject([{ result: 'error', cost: 0 }]);
    expect(isTold).toBe(false);
    pay();
    await expect(answer).rejects.toMatchObject({ code: 'api_failed' });
  });
});

describe('an API without a known price', () => {
  it.each(['keySpend', 'organizationSpend'] as const)(
    'is not called under a limit of %s, and the refusal is noted',
    async (limit) => {
      const { answer, sink, starts, refused } = await setUp({ pricing: {}, limit });
      await expect(answer).rejects.toMatchObject({
        code: 'unpriced',
        status: 402,
        message: 'the API acme has no known price; set pricing, or server.limits.unpriced: allow',
        retry: false,
      });
      expect([sink, starts]).toEqual([undefined, []]);
      expect(refused).toMatchObject([
        { id: 'req_1', surface: 'api', model: 'acme', cause: { code: 'unpriced' } },
      ]);
    },
  );

  it.each([
    ['without a limit', { pricing: {} }],
    ['where operators allow it', { pricing: {}, limit: 'keySpend', allowsUnpriced: true }],
    ['when it is said to be free', { pricing: FREE, limit: 'keySpend' }],
  ] as const)('is called %s', async (_, setup) => {
    const { sink, answer, outcomes, refused, pay } = await setUp(setup);
    sink.onHead(200, {});
    sink.onEnd();
    pay();
    expect(await answer).toMatchObject({ status: 200 });
    await turn();
    const unpriced = setup.pricing !== FREE;
    expect(outcomes).toMatchObject([{ result: 'ok', cost: 0, unpriced }]);
    expect(refused).toEqual([]);
  });
});
