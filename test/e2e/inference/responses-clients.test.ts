import { LLMock } from '@copilotkit/aimock';
import OpenAI from 'openai';
import { zodTextFormat } from 'openai/helpers/zod';
import OpenAI6 from 'openai-6';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { startMockServer } from '../../../src/providers/mock/mock-server.ts';
import type { MockServer } from '../../../src/providers/mock/mock-server.ts';
import { verifies } from '../../requirements.ts';
import { eventually, startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { providerPerProtocol } from '../../support/stage/provider-per-protocol.ts';

const PROTOCOLS = ['responses', 'messages', 'generate-content', 'chat'] as const;
const CALLS = ['Oslo', 'Bergen', 'Tromsø'].map((city, index) => ({
  name: `look_${index}`,
  arguments: `{"city":"${city}"}`,
}));
const TOOLS: OpenAI.Responses.FunctionTool[] = CALLS.map(({ name }) => ({
  type: 'function',
  name,
  strict: false,
  parameters: { type: 'object', properties: { city: { type: 'string' } } },
}));
const City = z.object({ city: z.string(), size: z.number() });

const RULES = [
  { match: { text: 'three', turn: 1 }, reply: { text: 'Let me see.', tool_calls: CALLS } },
  { match: { text: 'think' }, reply: { reasoning: 'because', text: 'so' } },
  { match: { text: 'long' }, reply: { text: 'cut short', finish: 'length' } },
  { match: { text: 'break' }, reply: { text: 'one two three four', cut_after: 2 } },
  { match: { text: 'city' }, reply: { text: '{"city":"Oslo","size":7}' } },
  {
    match: { text: 'cached' },
    reply: {
      text: 'fine',
      usage: { input_tokens: 10, output_tokens: 5, cache_read_tokens: 7 },
    },
  },
];

describe('official clients of Responses', () => {
  let mock: MockServer;
  let gateway: TestGateway;
  let clients: readonly (readonly [string, OpenAI])[];
  beforeAll(async () => {
    mock = await startMockServer({ cassette: { rules: RULES } });
    const { providers, models } = providerPerProtocol(mock.url, PROTOCOLS);
    gateway = await startGateway({
      providers,
      models: [
        ...models,
        {
          name: 'acme/both',
          routes: [
            { provider: 'only-chat', upstream_model: 'up' },
            { provider: 'only-responses', upstream_model: 'up', priority: 1 },
          ],
        },
      ],
    });
    const options = { baseURL: `${gateway.url}/v1`, apiKey: gateway.clientKey, maxRetries: 0 };
    clients = [
      ['openai', new OpenAI(options)],
      ['openai-6', new OpenAI6(options) as unknown as OpenAI],
    ];
  });
  beforeEach(() => mock.engine.clearCalls());
  afterAll(async () => {
    await gateway.stop();
    await mock.close();
  });

  describe.each(PROTOCOLS)('of a provider of %s', (protocol) => {
    const model = `acme/${protocol}`;

    it(
      verifies(
        'routing.translation.pairs',
        'routing.response-model-logical',
        'get an answer under the logical name',
      ),
      async () => {
        for (const [name, client] of clients) {
          const answer = await client.responses.create({ model, input: 'hello' });
          expect(answer, name).toMatchObject({
            object: 'response',
            model,
            status: 'completed',
            output_text: 'You said: hello',
          });
          expect(answer.usage?.output_tokens).toBeGreaterThan(0);
        }
      },
    );

    it(
      verifies(
        'routing.translation.pairs',
        'responses.stream.public-events',
        'get three calls in a stream that the helper puts together, and hand back the results',
      ),
      async () => {
        for (const [name, client] of clients) {
          const runner = client.responses.stream({ model, input: 'three', tools: TOOLS });
          const types: string[] = [];
          runner.on('event', ({ type }) => types.push(type));
          const first = await runner.finalResponse();
          const calls = first.output.filter((item) => item.type === 'function_call');
          expect(
            calls.map((call) => [call.name, JSON.parse(call.arguments)]),
            name,
          ).toEqual(CALLS.map((call) => [call.name, JSON.parse(call.arguments)]));
          expect(new Set(calls.map(({ call_id }) => call_id)).size).toBe(3);
          expect(first.output_text).toBe('Let me see.');
          expect(types.at(-1)).toBe('response.completed');
          const answer = await client.responses.create({
            model,
            tools: TOOLS,
            input: [
              { role: 'user', content: 'three' },
              ...(first.output as OpenAI.Responses.ResponseInputItem[]).map(withoutParsed),
              ...calls.map(({ call_id }, index) => ({
                type: 'function_call_output' as const,
                call_id,
                output: `result ${index}`,
              })),
            ],
          });
          expect(answer.output_text, name).toMatch(/^The tool said: [^]*result 2/);
        }
      },
    );

    it(verifies('routing.translation.pairs', 'get structured output, parsed'), async () => {
      for (const [name, client] of clients) {
        const answer = await client.responses.parse({
          model,
          input: 'a city',
          text: { format: zodTextFormat(City, 'city') },
        });
        expect(answer.output_parsed, name).toEqual({ city: 'Oslo', size: 7 });
      }
      const sent = mock.engine.calls().at(-1)?.body.toString();
      // A provider of Messages or chat gets the schema by its own name for it.
      expect(sent).toContain('"size"');
    });

    it('get reasoning and text as items of their own', async () => {
      for (const [name, client] of clients) {
        const input = { model, input: 'think', reasoning: { summary: 'auto' as const } };
        const whole = await client.responses.create(input);
        const streamed = await client.responses.stream(input).finalResponse();
        for (const { output } of [whole, streamed]) {
          expect(
            output.map(({ type }) => type),
            name,
          ).toEqual(['reasoning', 'message']);
          expect(output[0]).toMatchObject({ summary: [{ text: 'because' }] });
        }
      }
    });

    it('are told that an answer is incomplete', async () => {
      for (const [name, client] of clients) {
        const input = { model, input: 'long' };
        const whole = await client.responses.create(input);
        const streamed = await client.responses.stream(input).finalResponse();
        for (const answer of [whole, streamed]) {
          expect(answer, name).toMatchObject({
            status: 'incomplete',
            incomplete_details: { reason: 'max_output_tokens' },
            output_text: 'cut short',
          });
        }
      }
    });

    it(
      verifies('responses.stream.malformed-closed', 'are told when a stream breaks off'),
      async () => {
        for (const [name, client] of clients) {
          const types: string[] = [];
          const stream = await client.responses.create({ model, input: 'break', stream: true });
          // The newer client throws it, the older one hands the event over.
          const read = async (): Promise<void> => {
            for await (const event of stream) {
              types.push(event.type);
              if (event.type === 'error') throw new Error(event.message);
            }
          };
          await expect(read(), name).rejects.toThrow('the provider failed during the stream');
          expect(types).toContain('response.output_text.delta');
          expect(types).not.toContain('response.completed');
        }
      },
    );

    it('pay for each class of tokens that the provider counts', async () => {
      for (const [, client] of clients) {
        const { usage } = await client.responses.create({ model, input: 'cached' });
        expect(usage).toMatchObject({
          input_tokens: 17,
          input_tokens_details: { cached_tokens: 7 },
          output_tokens: 5,
        });
      }
    });
  });

  it(
    verifies(
      'errors.family.embeddings-images-responses',
      'raise their typed error with the code and the field',
    ),
    async () => {
      for (const [, client] of clients) {
        const { BadRequestError } = client.constructor as typeof OpenAI;
        const thrown: unknown = await client.responses
          .create({ model: 'acme/none', input: 'hello' })
          .catch((error: unknown) => error);
        expect(thrown).toBeInstanceOf(BadRequestError);
        expect(thrown).toMatchObject({ status: 400, code: 'model_not_found', param: 'model' });
      }
    },
  );

  it('are led past providers that cannot go on from an answer', async () => {
    for (const [, client] of clients) {
      const { id } = await client.responses.create({ model: 'acme/responses', input: 'hello' });
      const input = { model: 'acme/both', input: 'more', previous_response_id: id };
      expect((await client.responses.create(input)).output_text).toBe('You said: more');
      await expect(client.responses.create({ ...input, model: 'acme/chat' })).rejects.toMatchObject(
        { status: 503 },
      );
    }
  });

  it(verifies('routing.translation.pairs', 'are told what was left out'), async () => {
    for (const [, client] of clients) {
      const { response } = await client.responses
        .create({ model: 'acme/chat', input: 'hello', prompt_cache_key: 'k', truncation: 'auto' })
        .withResponse();
      expect(response.headers.get('x-gateway-dropped-fields')?.split(',').toSorted()).toEqual([
        'prompt_cache_key',
        'truncation',
      ]);
    }
  });
});

/** The helper adds what the request does not have. */
function withoutParsed(
  item: OpenAI.Responses.ResponseInputItem,
): OpenAI.Responses.ResponseInputItem {
  const { parsed_arguments: _parsed, ...rest } = item as unknown as Record<string, unknown>;
  return rest as unknown as OpenAI.Responses.ResponseInputItem;
}

describe('an upstream that nobody here wrote', () => {
  let aimock: LLMock;
  let gateway: TestGateway;
  beforeAll(async () => {
    aimock = new LLMock({ port: 0 });
    aimock.addFixture({ match: { userMessage: 'hello' }, response: { content: 'hi from afar' } });
    aimock.addFixture({
      match: { userMessage: 'weather' },
      response: { toolCalls: [{ name: 'look', arguments: '{"city":"Oslo"}' }] },
    });
    const url = await aimock.start();
    gateway = await startGateway({
      providers: ['responses', 'chat', 'messages'].map((protocol) => ({
        name: protocol,
        type: 'custom',
        base_url: `${url}/v1`,
        auth: { type: 'none' },
        protocols: { [protocol]: true },
      })),
      models: ['responses', 'chat', 'messages'].map((protocol) => ({
        name: `afar/${protocol}`,
        routes: [{ provider: protocol, upstream_model: 'gpt-5' }],
      })),
    });
  });
  afterAll(async () => {
    await gateway.stop();
    await aimock.stop();
  });

  it.each(['responses', 'chat', 'messages'])(
    verifies('routing.translation.pairs', 'answers official clients in Responses over %s'),
    async (protocol) => {
      const model = `afar/${protocol}`;
      const options = { baseURL: `${gateway.url}/v1`, apiKey: gateway.clientKey, maxRetries: 0 };
      for (const Client of [OpenAI, OpenAI6 as unknown as typeof OpenAI]) {
        const client = new Client(options);
        const answer = await client.responses.create({ model, input: 'hello' });
        expect(answer).toMatchObject({ model, output_text: 'hi from afar' });
        const streamed = await client.responses.stream({ model, input: 'hello' }).finalResponse();
        expect(streamed.output_text).toBe('hi from afar');
        const tools = [{ type: 'function' as const, name: 'look', parameters: {}, strict: false }];
        const called = await client.responses
          .stream({ model, input: 'weather', tools })
          .finalResponse();
        expect(called.output.find(({ type }) => type === 'function_call')).toMatchObject({
          name: 'look',
          arguments: '{"city":"Oslo"}',
        });
      }
      await eventually(() => aimock.getRequests().length > 0);
    },
  );
});
