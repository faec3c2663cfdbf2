import { readFile } from 'node:fs/promises';
import { LLMock } from '@copilotkit/aimock';
import type OpenAI from 'openai';
import {
  AuthenticationError,
  BadRequestError,
  InternalServerError,
  NotFoundError,
  PermissionDeniedError,
  RateLimitError,
  UnprocessableEntityError,
} from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verifies } from '../../requirements.ts';
import {
  CHAT_PATH,
  chatBody,
  customProvider,
  openaiClient,
  orderedModel,
  payloads,
} from '../../support/chat.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { eventually, startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { askRaw } from '../../support/raw-client.ts';
import { startUpstream } from '../../support/stage/upstream.ts';

const EXAMPLE = new URL('../../../gateway.yaml.example', import.meta.url);
const hello = [{ role: 'user' as const, content: 'Hello, world!' }];

describe('the example configuration', () => {
  let gateway: TestGateway;
  let client: OpenAI;
  beforeAll(async () => {
    gateway = await startGateway(await readFile(EXAMPLE, 'utf8'));
    client = openaiClient(gateway);
  });
  afterAll(() => gateway.stop());

  it.each(['mock/echo', 'mock/failover'])(
    verifies(
      'mock.offline',
      'chat.response.json',
      'routing.base-address',
      'answers the official client offline, always the same: %s',
    ),
    async (model) => {
      const answers = [];
      for (let i = 0; i < 2; i++) {
        answers.push(await client.chat.completions.create({ model, messages: hello }));
      }
      expect(answers[0]).toMatchObject({
        object: 'chat.completion',
        choices: [
          {
            index: 0,
            message: { role: 'assistant', content: 'You said: Hello, world!' },
            finish_reason: 'stop',
          },
        ],
      });
      expect(answers[0]?.usage?.total_tokens).toBeGreaterThan(0);
      expect(answers[1]).toEqual(answers[0]);
    },
  );

  it.each(['mock/echo', 'mock/failover'])(
    verifies(
      'chat.stream.chunk-shape',
      'chat.stream.ends-with-done',
      'streams what the official helper takes without a complaint: %s',
    ),
    async (model) => {
      const runner = client.chat.completions.stream({
        model,
        messages: hello,
        stream_options: { include_usage: true },
      });
      const chunks: OpenAI.ChatCompletionChunk[] = [];
      for await (const chunk of runner) chunks.push(chunk);
      const whole = await runner.finalChatCompletion();
      expect(whole.choices[0]?.message.content).toBe('You said: Hello, world!');
      expect(whole.usage?.total_tokens).toBeGreaterThan(0);
      expect(new Set(chunks.map(({ id }) => id)).size).toBe(1);
      expect(new Set(chunks.map(({ object }) => object))).toEqual(
        new Set(['chat.completion.chunk']),
      );
      expect(chunks[0]?.choices[0]?.delta.role).toBe('assistant');
      expect(chunks.at(-2)?.choices[0]?.finish_reason).toBe('stop');
      expect(chunks.at(-1)?.choices).toEqual([]);

      const raw = await askRaw(gateway.url + CHAT_PATH, {
        key: gateway.clientKey,
        body: chatBody(model, { stream: true }),
      });
      expect(raw.body.toString().endsWith('\n\ndata: [DONE]\n\n')).toBe(true);
      expect(payloads(raw.body.toString()).filter((one) => one === '[DONE]')).toHaveLength(1);
    },
  );
});

describe('an independent provider', () => {
  const mock = new LLMock({ port: 0, host: '127.0.0.1', logLevel: 'silent', latency: 0 });
  let gateway: TestGateway;
  let client: OpenAI;
  const tool = {
    type: 'function' as const,
    function: { name: 'get_weather', parameters: { type: 'object', properties: {} } },
  };

  beforeAll(async () => {
    mock.addFixturesFromJSON([
      {
        match: { userMessage: 'overloaded', model: 'first' },
        response: { error: { message: 'overloaded', type: 'server_error' }, status: 503 },
      },
      { match: { userMessage: 'overloaded' }, response: { content: 'from the second' } },
      {
        match: { userMessage: 'impossible' },
        response: {
          error: { message: 'no such size', type: 'invalid_request_error', code: 'bad_size' },
          status: 400,
        },
      },
      {
        match: { userMessage: 'limited' },
        response: {
          error: { message: 'slow down', type: 'rate_limit_error' },
          status: 429,
          retryAfter: 9,
        },
      },
      {
        match: { userMessage: 'broken' },
        response: { content: 'This answer never reaches its end, whatever you do.' },
        chunkSize: 5,
        truncateAfterChunks: 4,
        latency: 20,
      },
      {
        match: { userMessage: 'weather' },
        response: {
          toolCalls: [
            { name: 'get_weather', arguments: '{"city":"Oslo"}' },
            { name: 'get_weather', arguments: '{"city":"Bergen"}' },
          ],
        },
      },
      { match: { userMessage: 'Hello' }, response: { content: 'Hi there, stranger.' } },
    ]);
    const url = await mock.start();
    gateway = await startGateway({
      providers: [customProvider('one', url), customProvider('two', url)],
      models: [
        {
          name: 'acme/chat',
          routes: [
            { provider: 'one', upstream_model: 'first' },
            { provider: 'two', upstream_model: 'second', priority: 1 },
          ],
        },
      ],
    });
    client = openaiClient(gateway);
  });
  afterAll(async () => {
    await gateway.stop();
    await mock.stop();
  });

  const ask = (content: string) =>
    client.chat.completions.create({ model: 'acme/chat', messages: [{ role: 'user', content }] });
  const stream = (content: string) =>
    client.chat.completions.stream({
      model: 'acme/chat',
      messages: [{ role: 'user', content }],
      tools: [tool],
    });

  it(
    verifies(
      'routing.logical-model',
      'is asked by its own model name and answers whole and streamed',
    ),
    async () => {
      expect((await ask('Hello')).choices[0]?.message.content).toBe('Hi there, stranger.');
      expect(await stream('Hello').finalContent()).toBe('Hi there, stranger.');
      const names = mock
        .getRequests()
        .map(({ body }) => (body as { model?: string } | null)?.model);
      expect(new Set(names)).toEqual(new Set(['first']));
    },
  );

  it('calls tools, whole and streamed', async () => {
    const expected = [
      { function: { name: 'get_weather', arguments: '{"city":"Oslo"}' } },
      { function: { name: 'get_weather', arguments: '{"city":"Bergen"}' } },
    ];
    expect((await ask('weather')).choices[0]).toMatchObject({
      message: { tool_calls: expected },
      finish_reason: 'tool_calls',
    });
    const streamed = await stream('weather').finalChatCompletion();
    expect(streamed.choices[0]).toMatchObject({ message: { tool_calls: expected } });
  });

  it(
    verifies('routing.candidates-in-turn', 'is replaced by the next when it is overloaded'),
    async () => {
      expect((await ask('overloaded')).choices[0]?.message.content).toBe('from the second');
      expect(await stream('overloaded').finalContent()).toBe('from the second');
    },
  );

  it(verifies('chat.status.400-provider', 'is quoted when it refuses the request'), async () => {
    const refused = await ask('impossible').catch((thrown: unknown) => thrown);
    expect(refused).toBeInstanceOf(BadRequestError);
    expect((refused as BadRequestError).error).toEqual({
      message: 'no such size',
      type: 'invalid_request_error',
      param: null,
      code: 'bad_size',
    });
  });

  it(
    verifies(
      'chat.stream.error-in-band',
      'that breaks off in a stream makes the official client throw',
    ),
    async () => {
      const seen: string[] = [];
      const runner = stream('broken').on('content', (delta) => seen.push(delta));
      await expect(runner.finalContent()).rejects.toThrow('the provider failed during the stream');
      expect(seen.join('')).toMatch(/^This a/);
    },
  );

  it(
    verifies(
      'chat.status.all-429-is-503',
      'errors.429.no-retry-headers',
      'that limits every candidate gives 503 and no advice',
    ),
    async () => {
      const limited = await ask('limited').catch((thrown: unknown) => thrown);
      expect(limited).toBeInstanceOf(InternalServerError);
      const { status, headers } = limited as InternalServerError;
      expect(status).toBe(503);
      for (const name of headers?.keys() ?? []) expect(name).not.toMatch(/retry-after|ratelimit/);
    },
  );
});

describe('a request', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startGateway({
      providers: [{ name: 'mock', type: 'mock' }],
      models: [
        orderedModel('m/echo', ['mock']),
        { name: 'm/none', routes: [] },
        { name: 'm/off', enabled: false, routes: [{ provider: 'mock' }] },
        { name: 'm/route-off', routes: [{ provider: 'mock', enabled: false }] },
      ],
    });
  });
  afterAll(() => gateway.stop());

  const invalid = [
    { name: 'invalid JSON', body: '{"model": "m/echo",', param: null, code: 'invalid_json' },
    { name: 'JSON that is not an object', body: '["m/echo"]', param: null, code: 'invalid_json' },
    { name: 'an empty body', body: '', param: null, code: 'invalid_json' },
    ...[
      { name: 'no model', body: '{"messages":[]}', param: 'model' },
      { name: 'a model that is a number', body: '{"model":5}', param: 'model' },
      { name: 'a model that is null', body: '{"model":null}', param: 'model' },
      { name: 'an empty model', body: '{"model":""}', param: 'model' },
      { name: 'a stream that is a text', body: '{"model":"m","stream":"true"}', param: 'stream' },
      { name: 'a stream that is a number', body: '{"model":"m","stream":1}', param: 'stream' },
    ].map((one) => ({ ...one, code: 'invalid_request' })),
  ];
  it.each(invalid)(
    verifies(
      'chat.request.validation',
      'errors.chat.shape',
      'with $name is answered with 400 that names the field',
    ),
    async ({ body, param, code }) => {
      const answer = await gateway.call('POST', CHAT_PATH, { body });
      expect(answer.status).toBe(400);
      expect(answer.headers.get('content-type')).toContain('application/json');
      expect(Object.keys(answer.body)).toEqual(['error']);
      expect(answer.body.error).toEqual({
        message: expect.any(String),
        type: 'invalid_request_error',
        param,
        code,
      });
    },
  );

  it.each(['m/nobody', 'm/none', 'm/off', 'm/route-off', '__proto__', 'constructor'])(
    verifies('chat.status.404-model', 'for a model without a route gives 404: %s'),
    async (model) => {
      const answer = await gateway.chat(model);
      expect(answer.status).toBe(404);
      expect(answer.body.error).toMatchObject({
        type: 'not_found_error',
        param: 'model',
        code: 'model_not_found',
      });
    },
  );

  it(
    verifies(
      'errors.flat.which',
      'chat.status.402-403',
      'that the key, its scope or its money does not allow is told in a flat body',
    ),
    async () => {
      const models = await gateway.admin('POST', '/admin/v1/keys', {
        name: 'models',
        scopes: ['models'],
      });
      const scope = await gateway.chat('m/echo', { key: models.body.value });
      expect([scope.status, scope.body]).toEqual([403, { error: 'insufficient_scope' }]);
      const wrong = await gateway.chat('m/echo', { key: 'sk-wrong' });
      expect([wrong.status, wrong.body]).toEqual([401, { error: 'invalid API key' }]);
      const other = await gateway.admin('POST', '/admin/v1/organizations', {
        name: 'poor',
        spending_limit: { day: '0' },
      });
      const poor = await gateway.admin('POST', '/admin/v1/keys', {
        name: 'poor',
        organization: other.body.id,
      });
      const spent = await gateway.chat('m/echo', { key: poor.body.value });
      expect([spent.status, spent.body]).toEqual([
        402,
        { error: 'organization spending limit reached' },
      ]);
      await gateway.admin('PATCH', `/admin/v1/organizations/${other.body.id}`, { enabled: false });
      await eventually(
        async () => (await gateway.chat('m/echo', { key: poor.body.value })).status === 403,
      );
      const disabled = await gateway.chat('m/echo', { key: poor.body.value });
      expect(disabled.body).toEqual({ error: 'organization is disabled' });
    },
  );

  it(
    verifies(
      'errors.request-id.header',
      'has an id of its own under both names, whatever becomes of it',
    ),
    async () => {
      const ids = new Set<string | null>();
      for (const answer of [
        await gateway.chat('m/echo'),
        await gateway.chat('m/echo', { body: { stream: true } }),
        await gateway.chat('m/nobody'),
        await gateway.call('POST', CHAT_PATH, { body: '{' }),
        await gateway.chat('m/echo', { key: '' }),
        await gateway.call('GET', CHAT_PATH),
        await gateway.call('GET', '/nowhere'),
      ]) {
        const id = answer.headers.get('x-request-id');
        expect(answer.headers.get('request-id')).toBe(id);
        expect(id).toMatch(/^req_/);
        ids.add(id);
      }
      expect(ids.size).toBe(7);
    },
  );
});

describe('the official client', () => {
  it(
    verifies('errors.sdk.typed-classes', 'raises the class of the status, with its code'),
    async () => {
      const statuses = [400, 404, 409, 422, 500] as const;
      const gateway = await startGateway({
        server: { limits: { rpm: 12 } },
        providers: statuses.map((status) => ({
          name: `p${status}`,
          type: 'mock',
          mock: { rules: [{ reply: { status, error: { message: 'told' } } }] },
        })),
        models: statuses.map((status) => orderedModel(`m/${status}`, [`p${status}`])),
      });
      const asks = async (model: string, key = gateway.clientKey): Promise<unknown> =>
        openaiClient(gateway, key)
          .chat.completions.create({ model, messages: hello })
          .catch((thrown: unknown) => thrown);
      const limited = await gateway.admin('POST', '/admin/v1/keys', {
        name: 'm',
        scopes: ['models'],
      });
      expect(await asks('m/400')).toBeInstanceOf(BadRequestError);
      expect(await asks('m/404')).toBeInstanceOf(NotFoundError);
      expect(await asks('m/422')).toBeInstanceOf(UnprocessableEntityError);
      expect(await asks('m/409')).toBeInstanceOf(InternalServerError);
      expect(await asks('m/500')).toBeInstanceOf(InternalServerError);
      expect(await asks('m/unknown')).toMatchObject({
        code: 'model_not_found',
        param: 'model',
        status: 404,
      });
      expect(await asks('m/400', 'sk-wrong')).toBeInstanceOf(AuthenticationError);
      expect(await asks('m/400', String(limited.body.value))).toBeInstanceOf(PermissionDeniedError);
      let last: unknown;
      for (let i = 0; i < 6; i++) last = await asks('m/400');
      expect(last).toBeInstanceOf(RateLimitError);
      await gateway.stop();
    },
  );
});

describe('a provider that never answers', () => {
  it.each([
    { stream: false, patienceMs: 600_000, status: 504 },
    { stream: true, patienceMs: 120_000, status: 503 },
  ])(
    verifies('limits.timeouts.defaults', 'is given $patienceMs ms when stream is $stream'),
    async ({ stream, patienceMs, status }) => {
      const clock = createFakeClock();
      const silent = await startUpstream(() => undefined);
      const gateway = await startGateway(
        { providers: [customProvider('a', silent.url)], models: [orderedModel('m/a', ['a'])] },
        { clock },
      );
      let answered: number | undefined;
      const answer = gateway
        .chat('m/a', { body: { stream } })
        .then((told) => (answered = told.status));
      await eventually(() => silent.seen[0]);
      clock.advance(patienceMs - 1_000);
      await new Promise((resolve) => setTimeout(resolve, 50));
      expect(answered).toBeUndefined();
      clock.advance(1_001);
      expect(await answer).toBe(status);
      await gateway.stop();
      await silent.close();
    },
  );

  it(
    verifies('limits.timeouts.defaults', 'any more is given 120 s of silence in a stream'),
    async () => {
      const clock = createFakeClock();
      const silent = await startUpstream((response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write('data: {"choices":[{"index":0,"delta":{"content":"Hi"}}]}\n\n');
      });
      const gateway = await startGateway(
        { providers: [customProvider('a', silent.url)], models: [orderedModel('m/a', ['a'])] },
        { clock },
      );
      const answer = gateway.chat('m/a', { body: { stream: true } });
      await eventually(() => silent.seen[0]);
      await new Promise((resolve) => setTimeout(resolve, 50));
      clock.advance(119_000);
      await new Promise((resolve) => setTimeout(resolve, 50));
      expect(silent.seen[0]?.aborted).toBe(false);
      clock.advance(1_001);
      expect(payloads(String((await answer).body)).at(-1)).toContain('upstream_timeout');
      await gateway.stop();
      await silent.close();
    },
  );
});
