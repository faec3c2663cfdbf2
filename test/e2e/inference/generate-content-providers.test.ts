import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { verifies } from '../../requirements.ts';
import { startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { beginEvents, sendJson, startUpstream } from '../../support/stage/upstream.ts';
import type { Upstream } from '../../support/stage/upstream.ts';

const SIGNATURE = 'CiQB+signature/of==';
const USAGE = {
  promptTokenCount: 20,
  cachedContentTokenCount: 5,
  candidatesTokenCount: 6,
  thoughtsTokenCount: 4,
  totalTokenCount: 30,
};
const PARTS = [
  { text: 'A tool knows.', thought: true },
  { text: 'Let me look.' },
  {
    functionCall: { name: 'get_weather', args: { city: 'Oslo', n: 1 } },
    thoughtSignature: SIGNATURE,
  },
  { functionCall: { name: 'get_weather', args: { city: 'Bergen' } } },
];
const SCHEMA = { type: 'object' as const, properties: { city: { type: 'string' } } };
const PNG = 'iVBORw0KGgo=';

/** The provider answers every conversation without results with two calls, and the others with text. */
describe('a provider of generate-content', () => {
  let upstream: Upstream;
  let gateway: TestGateway;
  beforeAll(async () => {
    upstream = await startUpstream((response, { url, body }) => {
      const hasResults = body.includes('functionResponse');
      const parts: readonly object[] = hasResults ? [{ text: 'Sunny.' }] : PARTS;
      const answer = (own: readonly object[], rest: object = {}, usage: object = {}): object => ({
        candidates: [{ content: { role: 'model', parts: own }, index: 0, ...rest }],
        ...usage,
        responseId: 'r-1',
        modelVersion: 'up',
      });
      const last = [{ finishReason: 'STOP' }, { usageMetadata: USAGE }] as const;
      if (!url.includes('alt=sse')) return sendJson(response, 200, answer(parts, ...last));
      beginEvents(response);
      const frames = [...parts.map((one) => answer([one])), answer([{ text: '' }], ...last)];
      response.end(frames.map((one) => `data: ${JSON.stringify(one)}\n\n`).join(''));
      return undefined;
    });
    gateway = await startGateway({
      providers: [
        {
          name: 'gem',
          type: 'custom',
          base_url: upstream.url,
          auth: { type: 'none' },
          protocols: { 'generate-content': { path: '/v1beta/models/{model}:{method}' } },
        },
      ],
      models: [{ name: 'acme/gem', routes: [{ provider: 'gem', upstream_model: 'up' }] }],
    });
  });
  beforeEach(() => {
    upstream.seen.length = 0;
  });
  afterAll(async () => {
    await gateway.stop();
    await upstream.close();
  });

  const sent = (): any => JSON.parse(upstream.seen.at(-1)?.body.toString('utf8') ?? '{}');
  const openai = (): OpenAI =>
    new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.clientKey, maxRetries: 0 });

  /** What the second turn must hold, whoever asked. */
  const expectSecondTurn = (): void => {
    const { contents } = sent();
    const [first, called, results] = contents;
    expect(contents).toHaveLength(3);
    expect(first.parts).toEqual([
      { text: 'weather?' },
      { inlineData: { mimeType: 'image/png', data: PNG } },
    ]);
    const calls = called.parts.filter((one: any) => one.functionCall);
    expect(calls.map((one: any) => one.functionCall.args)).toEqual([
      { city: 'Oslo', n: 1 },
      { city: 'Bergen' },
    ]);
    expect(calls[0].thoughtSignature).toBe(SIGNATURE);
    expect(calls[1]).not.toHaveProperty('thoughtSignature');
    expect(results.parts.map((one: any) => one.functionResponse)).toEqual(
      calls.map((one: any) => ({
        id: one.functionCall.id,
        name: 'get_weather',
        response: { output: 'sunny' },
      })),
    );
  };

  it.each([false, true])(
    verifies('routing.translation.pairs', 'serves chat clients (stream: %s)'),
    async (stream) => {
      const tools = [
        { type: 'function' as const, function: { name: 'get_weather', parameters: SCHEMA } },
      ];
      const url = `data:image/png;base64,${PNG}`;
      const messages: any[] = [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'weather?' },
            { type: 'image_url', image_url: { url } },
          ],
        },
      ];
      const ask = async () => {
        const body = { model: 'acme/gem', messages, tools, max_completion_tokens: 500 };
        if (!stream) return openai().chat.completions.create(body);
        const runner = openai().chat.completions.stream({
          ...body,
          stream_options: { include_usage: true },
        });
        return runner.finalChatCompletion();
      };
      const first = await ask();
      const [choice] = first.choices;
      expect(choice?.finish_reason).toBe('tool_calls');
      expect(choice?.message).toMatchObject({ content: 'Let me look.' });
      expect(choice?.message.tool_calls).toHaveLength(2);
      expect(first.usage).toMatchObject({ prompt_tokens: 20, completion_tokens: 10 });
      expect(sent()).toMatchObject({
        tools: [{ functionDeclarations: [{ name: 'get_weather', parametersJsonSchema: SCHEMA }] }],
        generationConfig: { maxOutputTokens: 500 },
      });
      messages.push(
        choice?.message,
        ...(choice?.message.tool_calls ?? []).map(({ id }) => ({
          role: 'tool',
          tool_call_id: id,
          content: 'sunny',
        })),
      );
      if (stream) return;
      expect((await ask()).choices[0]?.message.content).toBe('Sunny.');
      expectSecondTurn();
    },
  );

  it.each([false, true])(
    verifies('routing.translation.pairs', 'serves Messages clients (stream: %s)'),
    async (stream) => {
      const client = new Anthropic({
        baseURL: gateway.url,
        apiKey: gateway.clientKey,
        maxRetries: 0,
      });
      const source = { type: 'base64' as const, media_type: 'image/png' as const, data: PNG };
      const messages: any[] = [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'weather?' },
            { type: 'image', source },
          ],
        },
      ];
      const ask = async () => {
        const tools = [{ name: 'get_weather', input_schema: SCHEMA }];
        const body = { model: 'acme/gem', messages, tools, max_tokens: 500 };
        return stream ? client.messages.stream(body).finalMessage() : client.messages.create(body);
      };
      const first = await ask();
      expect(first.stop_reason).toBe('tool_use');
      const uses = first.content.filter((one) => one.type === 'tool_use');
      expect(uses.map(({ input }) => input)).toEqual([{ city: 'Oslo', n: 1 }, { city: 'Bergen' }]);
      expect(first.usage).toMatchObject({ input_tokens: 15, cache_read_input_tokens: 5 });
      messages.push(
        { role: 'assistant', content: first.content },
        {
          role: 'user',
          content: uses.map(({ id }) => ({
            type: 'tool_result',
            tool_use_id: id,
            content: 'sunny',
          })),
        },
      );
      expect((await ask()).content.find((one) => one.type === 'text')).toMatchObject({
        text: 'Sunny.',
      });
      expectSecondTurn();
    },
  );

  it.each([false, true])(
    verifies('routing.translation.pairs', 'serves Responses clients (stream: %s)'),
    async (stream) => {
      const tools: any[] = [
        { type: 'function', name: 'get_weather', parameters: SCHEMA, strict: false },
      ];
      const image_url = `data:image/png;base64,${PNG}`;
      const input: any[] = [
        {
          role: 'user',
          content: [
            { type: 'input_text', text: 'weather?' },
            { type: 'input_image', image_url, detail: 'auto' },
          ],
        },
      ];
      const ask = async () => {
        const body = {
          model: 'acme/gem',
          input,
          tools,
          store: false,
          include: ['reasoning.encrypted_content' as const],
        };
        return stream
          ? openai().responses.stream(body).finalResponse()
          : openai().responses.create(body);
      };
      const first = await ask();
      const calls: any[] = first.output.filter(({ type }) => type === 'function_call');
      expect(calls).toHaveLength(2);
      expect(first.output_text).toBe('Let me look.');
      expect(first.usage).toMatchObject({ input_tokens: 20, output_tokens: 10 });
      input.push(
        ...first.output,
        ...calls.map(({ call_id }) => ({
          type: 'function_call_output',
          call_id,
          output: 'sunny',
        })),
      );
      expect((await ask()).output_text).toBe('Sunny.');
      expectSecondTurn();
    },
  );
});
