import { LLMock } from '@copilotkit/aimock';
import OpenAI from 'openai';
import OpenAI6 from 'openai-6';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startMockServer } from '../../../src/providers/mock/mock-server.ts';
import type { MockServer } from '../../../src/providers/mock/mock-server.ts';
import { verifies } from '../../requirements.ts';
import { eventually, startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';

const RULES = [
  { match: { model: 'down' }, reply: { status: 503, error: { message: 'overloaded' } } },
  { match: { model: 'broken' }, reply: { malformed: true } },
  { match: { model: 'strict' }, reply: { status: 400, error: { message: 'too many inputs' } } },
  // A provider that answers with numbers whatever is asked for.
  {
    match: { model: 'numbers' },
    reply: {
      raw: '{"object":"list","data":[{"object":"embedding","index":0,"embedding":[0.5,-0.25,1]}],"usage":{"prompt_tokens":2,"total_tokens":2}}',
      headers: { 'content-type': 'application/json' },
    },
  },
];

const VECTOR = [0.5, -0.25, 1];

describe('embeddings', () => {
  let mock: MockServer;
  let independent: LLMock;
  let gateway: TestGateway;
  let client: OpenAI;

  beforeAll(async () => {
    mock = await startMockServer({ cassette: { rules: RULES } });
    independent = new LLMock({ port: 0, host: '127.0.0.1', logLevel: 'silent' });
    independent.addFixture({ match: { endpoint: 'embedding' }, response: { embedding: VECTOR } });
    await independent.start();
    const names = ['up', ...RULES.map(({ match }) => match.model)];
    gateway = await startGateway({
      providers: [
        {
          name: 'up',
          type: 'custom',
          base_url: `${mock.url}/v1`,
          auth: { type: 'none' },
          protocols: { embeddings: true, chat: true },
        },
        {
          name: 'independent',
          type: 'custom',
          base_url: `${independent.url}/v1`,
          auth: { type: 'none' },
          protocols: { embeddings: true },
        },
      ],
      models: [
        { name: 'e/floats', type: 'embedding', routes: [{ provider: 'independent' }] },
        ...names.map((name) => ({
          name: `e/${name}`,
          type: 'embedding',
          pricing: { input: '1' },
          routes: [{ provider: 'up', upstream_model: name }],
        })),
        { name: 'e/chatty', routes: [{ provider: 'up' }] },
        {
          name: 'e/down-then-up',
          type: 'embedding',
          routes: [
            { provider: 'up', upstream_model: 'broken' },
            { provider: 'up', upstream_model: 'up', priority: 1 },
          ],
        },
      ],
    });
    client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.clientKey, maxRetries: 0 });
  });
  afterAll(async () => {
    await gateway.stop();
    await mock.close();
    await independent.stop();
  });

  const ask = (model: string, rest: object = {}) =>
    gateway.call('POST', '/v1/embeddings', { body: { model, input: 'hello', ...rest } });

  it(
    verifies(
      'embeddings.response.ok',
      'answer the official client with one vector per input, and usage',
    ),
    async () => {
      const answer = await client.embeddings.create({ model: 'e/up', input: ['a', 'b', 'a'] });
      expect(answer.data.map(({ index }) => index)).toEqual([0, 1, 2]);
      expect(answer.data[0]?.embedding).toEqual(answer.data[2]?.embedding);
      expect(answer.data[0]?.embedding).not.toEqual(answer.data[1]?.embedding);
      expect(answer.usage.prompt_tokens).toBeGreaterThan(0);
    },
  );

  it(
    verifies(
      'embeddings.encoding-format',
      'give the official client the right vector although the provider ignores base64',
    ),
    async () => {
      const answer = await client.embeddings.create({ model: 'e/numbers', input: 'hello' });
      expect(answer.data[0]?.embedding).toEqual([0.5, -0.25, 1]);
      const raw = await ask('e/numbers', { encoding_format: 'base64' });
      expect(raw.body.data[0].embedding).toBe('AAAAPwAAgL4AAIA/');
      expect((await ask('e/numbers')).body.data[0].embedding).toEqual([0.5, -0.25, 1]);
    },
  );

  it.each([
    ['7', OpenAI],
    ['6', OpenAI6 as unknown as typeof OpenAI],
  ])(
    verifies(
      'embeddings.encoding-format',
      'embeddings.response.ok',
      'are read rightly by the official client %s, whose default is base64, from floats of a server that is not ours',
    ),
    async (_, Client) => {
      const own = new Client({ baseURL: `${gateway.url}/v1`, apiKey: gateway.clientKey });
      for (const encoding of [undefined, 'float', 'base64'] as const) {
        const answer = await own.embeddings.create({
          model: 'e/floats',
          input: ['a', 'b'],
          ...(encoding && { encoding_format: encoding }),
        });
        const asked = answer.data.map(({ embedding }) => embedding as unknown);
        const expected = encoding === 'base64' ? 'AAAAPwAAgL4AAIA/' : VECTOR;
        expect(asked).toEqual([expected, expected]);
      }
    },
  );

  it.each([
    { fault: 'a model of another type', model: 'e/chatty', rest: {}, param: 'model' },
    { fault: 'no input', model: 'e/up', rest: { input: undefined }, param: 'input' },
    {
      fault: 'an unknown encoding',
      model: 'e/up',
      rest: { encoding_format: 'int8' },
      param: 'encoding_format',
    },
  ])(
    verifies('embeddings.request.validation', 'refuse $fault with 400'),
    async ({ model, rest, param }) => {
      const answer = await ask(model, rest);
      expect(answer.status).toBe(400);
      expect(answer.body.error).toMatchObject({ param, code: 'invalid_request' });
    },
  );

  it(
    verifies('embeddings.request.validation', "pass the model's own refusal on as 400"),
    async () => {
      const answer = await ask('e/strict');
      expect(answer.status).toBe(400);
      expect(answer.body.error.message).toBe('too many inputs');
    },
  );

  it(
    verifies(
      'embeddings.status.503',
      'answer 503 when no route succeeds, an unusable body included',
    ),
    async () => {
      expect((await ask('e/down')).status).toBe(503);
      const answer = await ask('e/broken');
      expect(answer.status).toBe(503);
      expect(answer.body.error).toMatchObject({ code: 'no_route_succeeded' });
      const record = await eventually(async () => {
        const id = answer.headers.get('x-request-id');
        const { body } = await gateway.admin('GET', `/admin/v1/requests/${id}`);
        return body.result === 'error' && body;
      });
      expect(record).toMatchObject({ status: 503, attempts: [{ outcome: 'invalid_answer' }] });
    },
  );

  it('move on from a route that answers nonsense', async () => {
    expect((await ask('e/down-then-up')).status).toBe(200);
  });

  it('answer 404 for an unknown model', async () => {
    const answer = await ask('e/none');
    expect(answer.status).toBe(404);
    expect(answer.body.error.code).toBe('model_not_found');
  });

  it('are metered at the input price', async () => {
    const answer = await ask('e/up', { input: 'one two three four' });
    const { prompt_tokens: tokens } = answer.body.usage;
    const record = await eventually(async () => {
      const id = answer.headers.get('x-request-id');
      const { body } = await gateway.admin('GET', `/admin/v1/requests/${id}`);
      return body.result === 'ok' && body;
    });
    expect(record).toMatchObject({
      surface: 'embeddings',
      usage: { input_tokens: tokens, output_tokens: 0 },
    });
    expect(Number(record.cost)).toBeCloseTo(tokens / 1e6, 9);
  });
});
