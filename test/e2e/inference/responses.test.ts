import type { ServerResponse } from 'node:http';
import OpenAI from 'openai';
import OpenAI6 from 'openai-6';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { verifies } from '../../requirements.ts';
import { customProvider, orderedModel } from '../../support/chat.ts';
import { startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { askRaw } from '../../support/raw-client.ts';
import type { RawAnswer } from '../../support/raw-client.ts';
import { beginEvents, sendJson, startUpstream } from '../../support/stage/upstream.ts';
import type { SeenRequest, Upstream } from '../../support/stage/upstream.ts';
import {
  USAGE,
  created,
  eventsIn,
  frame,
  frames,
  itemEvents,
  message,
  response,
  streamOf,
} from '../../protocols/responses/responses-fixtures.ts';
import type { Event } from '../../protocols/responses/responses-fixtures.ts';

/** A number for every test of this file, and some more. */
const TESTS = Array.from({ length: 25 }, (_, index) => index + 1);

type Play = (response: ServerResponse, request: SeenRequest) => void;

const PATH = '/v1/responses';
const SECRET = 'acct_secret_7';
const finished = response({ status: 'completed', output: [message('fine')], usage: USAGE });

const answering =
  (status: number, body: unknown): Play =>
  (to) =>
    sendJson(to, status, body);

const streaming =
  (text: string): Play =>
  (to) => {
    beginEvents(to);
    to.end(text);
  };

const refusing = (status: number): Play =>
  answering(status, { error: { message: 'not like this', code: 'invalid_value' } });

describe('POST /v1/responses', () => {
  let first: Upstream;
  let second: Upstream;
  let gateway: TestGateway;
  let play: Play;
  let playSecond: Play;
  let test = 0;
  beforeAll(async () => {
    first = await startUpstream((to, request) => play(to, request));
    second = await startUpstream((to, request) => playSecond(to, request));
    // A gateway remembers which of its providers failed, so each test has two of its own.
    const protocols = { protocols: { responses: true } };
    gateway = await startGateway({
      providers: TESTS.flatMap((own) => [
        customProvider(`first-${own}`, first.url, protocols),
        customProvider(`second-${own}`, second.url, protocols),
      ]),
      models: TESTS.flatMap((own) => [
        orderedModel(`m/one-${own}`, [`first-${own}`]),
        orderedModel(`m/two-${own}`, [`first-${own}`, `second-${own}`]),
      ]),
    });
  });
  beforeEach(() => {
    play = answering(200, finished);
    playSecond = answering(200, response({ status: 'completed', output: [message('second')] }));
    first.seen.length = 0;
    second.seen.length = 0;
    test += 1;
  });
  afterAll(async () => {
    await gateway.stop();
    await first.close();
    await second.close();
  });

  const one = (): string => `m/one-${test}`;
  const two = (): string => `m/two-${test}`;
  const ask = (body: object | string, model = one()): Promise<RawAnswer> =>
    askRaw(gateway.url + PATH, {
      key: gateway.clientKey,
      body: typeof body === 'string' ? body : JSON.stringify({ model, input: 'x', ...body }),
    });
  const json = ({ body }: RawAnswer) =>
    JSON.parse(body.toString()) as { error?: object; output?: unknown; model?: string };

  it.each([
    ['no model', '{"input":"x"}', 'model'],
    ['a stream that is no boolean', '{"model":"m/one","input":"x","stream":"yes"}', 'stream'],
  ])(
    verifies(
      'responses.request.validation',
      'errors.family.embeddings-images-responses',
      'refuses %s before anybody is asked',
    ),
    async (_what, body, param) => {
      const answer = await ask(body);
      expect(answer.status).toBe(400);
      expect(json(answer)).toEqual({
        error: {
          message: expect.stringContaining(param),
          type: 'invalid_request_error',
          param,
          code: 'invalid_request',
        },
      });
      expect(first.seen).toHaveLength(0);
    },
  );

  it(
    verifies(
      'routing.model-rewrite-only',
      'responses.response.public-only',
      'sends what was asked and tells nothing private of the answer',
    ),
    async () => {
      play = answering(200, {
        ...finished,
        billing: { payer: SECRET },
        routing: SECRET,
        output: [{ ...message('fine'), account: SECRET }],
        usage: { ...USAGE, cost: SECRET },
      });
      const answer = await ask(
        `{ "unheard_of": [1.0, 9007199254740993], "input":"x", "model":"${one()}" }`,
      );
      expect(first.seen[0]?.body.toString()).toBe(
        '{ "unheard_of": [1.0, 9007199254740993], "input":"x", "model":"up" }',
      );
      expect(answer.status).toBe(200);
      expect(json(answer)).toEqual({ ...finished, model: one() });
    },
  );

  it.each<[string, Play]>([
    ['half a body', answering(200, JSON.stringify({ ...finished, x: SECRET }).slice(0, -20))],
    ['a page', answering(200, `<html>${SECRET}</html>`)],
    ['another kind of answer', answering(200, { object: 'chat.completion', id: SECRET })],
    ['an error with status 200', answering(200, { error: { message: SECRET } })],
  ])(
    verifies('responses.response.fail-closed', 'keeps %s from the client with 502'),
    async (_what, broken) => {
      play = broken;
      const answer = await ask({});
      expect(answer.status).toBe(502);
      expect(JSON.stringify([answer.body.toString(), answer.headers])).not.toContain(SECRET);
      const other = await ask({}, two());
      expect(json(other)).toMatchObject({ output: [message('second')] });
    },
  );

  it.each([
    [400, 400],
    [404, 400],
    [422, 400],
    [413, 413],
  ])(
    verifies(
      'responses.status.400-413-upstream',
      'tells a refusal with %i as %i, and asks nobody else',
    ),
    async (status, told) => {
      play = refusing(status);
      const answer = await ask({}, two());
      expect(answer.status).toBe(told);
      expect(json(answer).error).toMatchObject({
        message: 'not like this',
        param: null,
        code: 'invalid_value',
      });
      expect(second.seen).toHaveLength(0);
    },
  );

  it.each([401, 403])(
    verifies('responses.status.401-403', 'tells the last refusal of permission as %i'),
    async (status) => {
      play = refusing(503);
      playSecond = refusing(status);
      expect((await ask({}, two())).status).toBe(status);
      play = refusing(status);
      playSecond = refusing(503);
      expect((await ask({}, two())).status).toBe(503);
    },
  );

  it('streams what another provider says when one fails before its content', async () => {
    const failed = { type: 'response.failed', response: response({ error: { message: SECRET } }) };
    play = streaming(frames([created, failed]));
    playSecond = streaming(frames(streamOf([message('second')])));
    const answer = await ask({ stream: true }, two());
    expect(answer.headers['content-type']).toContain('text/event-stream');
    const events = eventsIn(answer.body.toString());
    expect(events.at(-1)).toMatchObject({
      type: 'response.completed',
      response: { model: two(), output: [message('second')] },
    });
    expect(answer.body.toString()).not.toContain(SECRET);
  });

  it(
    verifies(
      'responses.stream.public-events',
      'responses.stream.no-dangling-items',
      'streams public events alone, and no event of a private item',
    ),
    async () => {
      const secret = { id: 'x_1', type: 'x_router_call', account: SECRET };
      const noise = frame({ type: 'response.billing', account: SECRET });
      const events = streamOf([secret, message('fine'), { ...secret, id: 'x_2' }]).flatMap(
        (event) => [frame({ ...event, account: SECRET }), noise],
      );
      play = streaming(events.join(''));
      const { body, complete } = await ask({ stream: true });
      expect(complete).toBe(true);
      expect(body.toString()).not.toContain(SECRET);
      const got = eventsIn(body.toString());
      expect(got.map(({ output_index }) => output_index ?? 0)).toEqual(got.map(() => 0));
      expect(got.at(-1)).toMatchObject({ type: 'response.completed' });
      const options = { baseURL: `${gateway.url}/v1`, apiKey: gateway.clientKey, maxRetries: 0 };
      for (const Client of [OpenAI, OpenAI6 as unknown as typeof OpenAI]) {
        const runner = new Client(options).responses.stream({ model: one(), input: 'x' });
        expect((await runner.finalResponse()).output).toMatchObject([message('fine')]);
      }
    },
  );

  it.each<[string, string]>([
    ['an event that is cut', `data: {"type":"response.output_text.delta","x":"${SECRET}`],
    ['an event that is no JSON', `data: {"type":"response.output_text.delta",${SECRET}}\n\n`],
    [
      'an item that nobody announced',
      frame({ type: 'response.output_text.delta', output_index: 9, delta: SECRET }),
    ],
    ['no end at all', ''],
  ])(
    verifies('responses.stream.malformed-closed', 'ends a stream with %s in an error'),
    async (_what, broken) => {
      const good: Event[] = [created, ...itemEvents(message('fine'), 0).slice(0, 3)];
      play = streaming(frames(good) + broken);
      const { body } = await ask({ stream: true });
      expect(body.toString()).not.toContain(SECRET);
      const events = eventsIn(body.toString());
      expect(events).toHaveLength(good.length + 1);
      expect(events.at(-1)).toMatchObject({ type: 'error', code: 'upstream_interrupted' });
    },
  );

  it('ends a stream that fails late in the words of its provider', async () => {
    const error = { code: 'server_error', message: `org-${SECRET}1234 had an accident` };
    const failed = { type: 'response.failed', response: response({ status: 'failed', error }) };
    play = streaming(frames([...itemEvents(message('fine'), 0), failed].toSpliced(0, 0, created)));
    const { body } = await ask({ stream: true }, two());
    const events = eventsIn(body.toString());
    expect(events.at(-1)).toMatchObject({
      type: 'response.failed',
      response: { model: two(), error: { code: 'server_error' } },
    });
    expect(body.toString()).toContain('had an accident');
    expect(second.seen).toHaveLength(0);
  });
});
