import OpenAI from 'openai';
import OpenAI6 from 'openai-6';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startMockServer } from '../../../src/providers/mock/mock-server.ts';
import type { MockServer } from '../../../src/providers/mock/mock-server.ts';
import { verifies } from '../../requirements.ts';
import { CHAT_PATH, chatBody, payloads } from '../../support/chat.ts';
import { eventually, startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { providerPerProtocol } from '../../support/stage/provider-per-protocol.ts';

const PROTOCOLS = ['messages', 'responses', 'generate-content'] as const;
const HELLO = [{ role: 'user' as const, content: 'hello' }];
const CALLS = ['Oslo', 'Bergen', 'Tromsø'].map((city, index) => ({
  name: `look_${index}`,
  arguments: `{"city":"${city}"}`,
}));
const TOOLS = CALLS.map(({ name }) => ({
  type: 'function' as const,
  function: { name, parameters: { type: 'object', properties: { city: { type: 'string' } } } },
}));

const RULES = [
  { match: { text: 'three', turn: 1 }, reply: { text: 'Let me see.', tool_calls: CALLS } },
  { match: { text: 'think' }, reply: { reasoning: 'because', text: 'so' } },
  { match: { text: 'long' }, reply: { text: 'cut short', finish: 'length' } },
  { match: { text: 'break' }, reply: { text: 'one two three four', cut_after: 2 } },
  {
    match: { text: 'cached' },
    reply: {
      text: 'fine',
      usage: { input_tokens: 10, output_tokens: 5, cache_read_tokens: 7 },
    },
  },
];

describe('chat clients of providers that speak something else', () => {
  let mock: MockServer;
  let gateway: TestGateway;
  let clients: readonly (readonly [string, OpenAI])[];
  beforeAll(async () => {
    mock = await startMockServer({ cassette: { rules: RULES } });
    gateway = await startGateway(providerPerProtocol(mock.url, PROTOCOLS));
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

  describe.each(PROTOCOLS)('%s', (protocol) => {
    const model = `acme/${protocol}`;
    const ask = (text: string): OpenAI.ChatCompletionMessageParam[] => [
      { role: 'user', content: text },
    ];

    it(
      verifies(
        'routing.translation.pairs',
        'routing.response-model-logical',
        'chat.response.json',
        'answers official clients as chat does, under the logical name',
      ),
      async () => {
        for (const [name, client] of clients) {
          const answer = await client.chat.completions.create({ model, messages: HELLO });
          expect(answer, name).toMatchObject({
            object: 'chat.completion',
            model,
            choices: [
              {
                index: 0,
                message: { role: 'assistant', content: 'You said: hello' },
                finish_reason: 'stop',
              },
            ],
          });
          expect(answer.usage?.completion_tokens).toBeGreaterThan(0);
        }
      },
    );

    it(
      verifies(
        'routing.translation.pairs',
        'chat.stream.chunk-shape',
        'chat.stream.tool-index',
        'streams three calls that the official helper puts together',
      ),
      async () => {
        for (const [name, client] of clients) {
          const runner = client.chat.completions.stream({
            model,
            messages: ask('three'),
            tools: TOOLS,
          });
          const indexes: number[] = [];
          const chunks: OpenAI.ChatCompletionChunk[] = [];
          runner.on('chunk', (chunk) => {
            chunks.push(chunk);
            for (const { index } of chunk.choices[0]?.delta.tool_calls ?? []) indexes.push(index);
          });
          const { choices } = await runner.finalChatCompletion();
          expect(choices[0]?.finish_reason, name).toBe('tool_calls');
          expect(choices[0]?.message.content).toBe('Let me see.');
          const calls = choices[0]?.message.tool_calls?.map((call) =>
            call.type === 'function' ? [call.function.name, call.function.arguments] : call,
          );
          expect(calls).toEqual(CALLS.map((call) => [call.name, call.arguments]));
          expect([...new Set(indexes)]).toEqual([0, 1, 2]);
          expect(new Set(chunks.map(({ id }) => id)).size).toBe(1);
          expect(new Set(chunks.map((chunk) => chunk.model))).toEqual(new Set([model]));
        }
      },
    );

    it(verifies('routing.translation.pairs', 'carries a whole round of tool use'), async () => {
      const [[, client]] = clients as [readonly [string, OpenAI]];
      const messages = ask('three');
      const first = await client.chat.completions.create({ model, messages, tools: TOOLS });
      const message = first.choices[0]?.message as OpenAI.ChatCompletionMessage;
      const results = (message.tool_calls ?? []).map(({ id }, index) => ({
        role: 'tool' as const,
        tool_call_id: id,
        content: `rain ${index}`,
      }));
      expect(results).toHaveLength(3);
      const second = await client.chat.completions.create({
        model,
        messages: [...messages, message, ...results],
        tools: TOOLS,
      });
      expect(second.choices[0]?.message.content).toContain('The tool said: ');
      expect(second.choices[0]?.message.content).toContain('rain 2');
    });

    it(
      verifies(
        'chat.request.translated-fields',
        'routing.translation.pairs',
        'names what the provider did not get in a header and in the record',
      ),
      async () => {
        for (const stream of [false, true]) {
          const response = await fetch(gateway.url + CHAT_PATH, {
            method: 'POST',
            headers: {
              authorization: `Bearer ${gateway.clientKey}`,
              'content-type': 'application/json',
            },
            body: chatBody(model, { logit_bias: { 1: 2 }, n: 1, vendor_field: true, stream }),
          });
          await response.text();
          expect(response.status).toBe(200);
          expect(response.headers.get('x-gateway-dropped-fields')).toBe('logit_bias,vendor_field');
          const id = response.headers.get('x-request-id');
          const { losses } = await eventually(async () => {
            const { body } = await gateway.admin('GET', `/admin/v1/requests/${id}`);
            const record = body as { result: string; losses: string[] };
            return record.result !== 'pending' && record;
          });
          expect(losses).toEqual(['logit_bias', 'vendor_field']);
        }
        const plain = await gateway.chat(model);
        expect(plain.headers.get('x-gateway-dropped-fields')).toBeNull();
        expect(
          JSON.stringify(mock.engine.calls().map(({ body }) => body.toString())),
        ).not.toContain('vendor_field');
      },
    );

    it(
      verifies('chat.stream.include-usage', 'tells the same usage in streams as at once'),
      async () => {
        const [[, client]] = clients as [readonly [string, OpenAI]];
        const messages = ask('cached');
        const whole = await client.chat.completions.create({ model, messages });
        const stream = await client.chat.completions.create({
          model,
          messages,
          stream: true,
          stream_options: { include_usage: true },
        });
        const told = [];
        for await (const chunk of stream) if (chunk.usage) told.push(chunk);
        expect(told.map(({ usage }) => usage)).toEqual([whole.usage]);
        expect(whole.usage).toMatchObject({
          prompt_tokens: 17,
          completion_tokens: 5,
          prompt_tokens_details: { cached_tokens: 7 },
        });
        expect(told[0]?.choices).toEqual([]);
      },
    );

    it(
      verifies('chat.finish-reason.mapping', 'says `length` for an answer cut short'),
      async () => {
        const { body } = await gateway.chat(model, { body: { messages: ask('long') } });
        expect(body.choices[0].finish_reason).toBe('length');
      },
    );

    it('shows reasoning beside the text', async () => {
      const { body } = await gateway.chat(model, { body: { messages: ask('think') } });
      expect(body.choices[0].message).toMatchObject({
        reasoning_content: 'because',
        content: 'so',
      });
    });

    it(
      verifies('chat.stream.error-in-band', 'tells a break in the stream and never ends tidily'),
      async () => {
        const { status, body } = await gateway.call('POST', CHAT_PATH, {
          body: { model, messages: ask('break'), stream: true },
        });
        expect(status).toBe(200);
        const last = payloads(body as string).at(-1) as string;
        expect(JSON.parse(last)).toMatchObject({
          error: {
            message: expect.any(String),
            type: expect.any(String),
            code: expect.any(String),
          },
        });
      },
    );

    it(
      verifies('chat.request.validation', 'names the field at fault before anything is sent'),
      async () => {
        const { status, body } = await gateway.chat(model, {
          body: { messages: [{ role: 'robot', content: 'x' }] },
        });
        expect(status).toBe(400);
        expect(body.error.param).toBe('messages[0].role');
        expect(mock.engine.calls()).toEqual([]);
      },
    );
  });
});
