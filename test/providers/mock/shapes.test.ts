import { describe, expect, it } from 'vitest';
import { verifies } from '../../requirements.ts';
import { rawCall, toEvents } from './raw-call.ts';
import { useMockServer } from './use-mock-server.ts';

const REPLY = {
  text: 'hi you',
  reasoning: 'let me see',
  tool_calls: [{ name: 'weather', arguments: { city: 'Oslo' } }],
};
const USER = [{ role: 'user', content: 'hello there' }];
const CONTENTS = [{ role: 'user', parts: [{ text: 'hello there' }] }];

describe('mock: messages', () => {
  it(verifies('mock.offline', 'answers thinking, text and tool_use blocks'), async () => {
    const { url } = await useMockServer(REPLY);
    const { text } = await rawCall(`${url}/v1/messages`, {
      body: { model: 'm', max_tokens: 9, messages: USER },
    });
    expect(JSON.parse(text)).toMatchObject({
      type: 'message',
      role: 'assistant',
      model: 'm',
      stop_reason: 'tool_use',
      stop_sequence: null,
      content: [
        { type: 'thinking', thinking: 'let me see', signature: expect.any(String) },
        { type: 'text', text: 'hi you' },
        { type: 'tool_use', name: 'weather', input: { city: 'Oslo' } },
      ],
      usage: { input_tokens: 3, cache_read_input_tokens: 0 },
    });
  });

  it(
    verifies('mock.offline', 'streams named events whose deltas add up to the answer'),
    async () => {
      const { url } = await useMockServer(REPLY);
      const { text, headers } = await rawCall(`${url}/v1/messages`, {
        body: { model: 'm', max_tokens: 9, messages: USER, stream: true },
      });
      expect(headers['content-type']).toBe('text/event-stream');
      const events = toEvents(text);
      expect(text.match(/^event: (.*)$/gm)).toEqual(events.map(({ type }) => `event: ${type}`));
      expect(
        events.map(({ type }) => type).filter((type) => type !== 'content_block_delta'),
      ).toEqual([
        'message_start',
        'ping',
        ...Array.from({ length: 3 }, () => ['content_block_start', 'content_block_stop']).flat(),
        'message_delta',
        'message_stop',
      ]);
      const deltas = events
        .filter(({ type }) => type === 'content_block_delta')
        .map(({ delta }) => delta);
      expect(deltas.map((delta) => delta.text ?? '').join('')).toBe('hi you');
      expect(deltas.map((delta) => delta.thinking ?? '').join('')).toBe('let me see');
      expect(JSON.parse(deltas.map((delta) => delta.partial_json ?? '').join(''))).toEqual({
        city: 'Oslo',
      });
      expect(events.at(-2)).toMatchObject({
        delta: { stop_reason: 'tool_use' },
        usage: { input_tokens: 3 },
      });
    },
  );

  it('refuses what the real service refuses, in its own envelope', async () => {
    const { url } = await useMockServer();
    const answer = await rawCall(`${url}/v1/messages`, { body: { model: 'm', messages: USER } });
    expect(answer.status).toBe(400);
    expect(JSON.parse(answer.text)).toEqual({
      type: 'error',
      error: { type: 'invalid_request_error', message: 'max_tokens: Field required' },
    });
  });

  it('counts tokens', async () => {
    const { url } = await useMockServer();
    const { text } = await rawCall(`${url}/v1/messages/count_tokens`, {
      body: { model: 'm', messages: USER },
    });
    expect(JSON.parse(text)).toEqual({ input_tokens: 3 });
  });

  it('answers a tool result that a user message carries', async () => {
    const { url } = await useMockServer();
    const { text } = await rawCall(`${url}/v1/messages`, {
      body: {
        model: 'm',
        max_tokens: 9,
        messages: [
          ...USER,
          { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'f', input: {} }] },
          { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: 'sunny' }] },
        ],
      },
    });
    expect(JSON.parse(text).content).toEqual([{ type: 'text', text: 'The tool said: sunny' }]);
  });
});

describe('mock: generate-content', () => {
  it(verifies('mock.offline', 'answers one candidate with usage'), async () => {
    const { url } = await useMockServer(REPLY);
    const { text } = await rawCall(`${url}/v1beta/models/acme%2Fx:y:generateContent`, {
      body: { contents: CONTENTS },
    });
    expect(JSON.parse(text)).toMatchObject({
      candidates: [
        {
          index: 0,
          finishReason: 'STOP',
          content: {
            role: 'model',
            parts: [
              { text: 'let me see', thought: true },
              { text: 'hi you' },
              { functionCall: { name: 'weather', args: { city: 'Oslo' } } },
            ],
          },
        },
      ],
      usageMetadata: { promptTokenCount: 3, thoughtsTokenCount: 3 },
      modelVersion: 'acme/x:y',
    });
  });

  it(verifies('mock.offline', 'streams bare data frames with alt=sse'), async () => {
    const { url } = await useMockServer();
    const { text, headers } = await rawCall(`${url}/v1/models/m:streamGenerateContent?alt=sse`, {
      body: { contents: CONTENTS },
    });
    expect(headers['content-type']).toBe('text/event-stream');
    expect(text).not.toContain('event:');
    expect(joinParts(toEvents(text))).toBe('You said: hello there');
    expect(toEvents(text).at(-1)).toMatchObject({ usageMetadata: { promptTokenCount: 3 } });
  });

  it(verifies('mock.offline', 'streams one JSON array without alt=sse'), async () => {
    const { url } = await useMockServer();
    const { text, headers } = await rawCall(`${url}/v1beta/models/m:streamGenerateContent`, {
      body: { contents: CONTENTS },
    });
    expect(headers['content-type']).toBe('application/json');
    expect(joinParts(JSON.parse(text))).toBe('You said: hello there');
  });

  it('counts tokens and answers errors with a status name', async () => {
    const { url } = await useMockServer({ status: 503 });
    const counted = await rawCall(`${url}/v1beta/models/m:countTokens`, {
      body: { contents: CONTENTS },
    });
    expect(JSON.parse(counted.text)).toEqual({ totalTokens: 3 });
    const failed = await rawCall(`${url}/v1beta/models/m:generateContent`, { body: {} });
    expect(JSON.parse(failed.text)).toEqual({
      error: { code: 503, message: 'mock error 503', status: 'UNAVAILABLE' },
    });
  });
});

describe('mock: interactions', () => {
  it(verifies('mock.offline', 'answers steps and finds the interaction again'), async () => {
    const { url } = await useMockServer(REPLY);
    const { text } = await rawCall(`${url}/v1beta/interactions`, {
      body: { model: 'm', input: 'hello there', previous_interaction_id: 'int_0' },
    });
    const interaction = JSON.parse(text);
    expect(interaction).toMatchObject({
      status: 'requires_action',
      previous_interaction_id: 'int_0',
      steps: [
        { type: 'thought', summary: [{ type: 'text', text: 'let me see' }] },
        { type: 'model_output', content: [{ type: 'text', text: 'hi you' }] },
        { type: 'function_call', name: 'weather', arguments: { city: 'Oslo' } },
      ],
      usage: { total_input_tokens: 3, total_thought_tokens: 3 },
    });
    const found = await rawCall(`${url}/v1beta/interactions/${interaction.id}?stream=false`);
    expect(found.text).toBe(text);
  });

  it(
    verifies('mock.offline', 'runs in the background until it was polled often enough'),
    async () => {
      const { url } = await useMockServer({ text: 'done', polls: 1 });
      const created = await rawCall(`${url}/v1beta/interactions`, {
        body: { model: 'm', input: 'x', background: true },
      });
      const { id, status, steps } = JSON.parse(created.text);
      expect([status, steps]).toEqual(['in_progress', undefined]);
      const poll = async (): Promise<any> =>
        JSON.parse((await rawCall(`${url}/v1beta/interactions/${id}`)).text);
      expect(await poll()).not.toHaveProperty('usage');
      expect(await poll()).toMatchObject({
        status: 'completed',
        steps: [{ content: [{ text: 'done' }] }],
        usage: { total_output_tokens: 1 },
      });
      expect((await rawCall(`${url}/v1beta/interactions/int_other`)).status).toBe(404);
    },
  );

  it(verifies('mock.offline', 'streams steps between created and completed'), async () => {
    const { url } = await useMockServer(REPLY);
    const { text } = await rawCall(`${url}/v1beta/interactions`, {
      body: { model: 'm', input: [{ type: 'user_input', content: 'hello' }], stream: true },
    });
    const events = toEvents(text);
    expect(events[0]).toMatchObject({
      event_type: 'interaction.created',
      interaction: { id: expect.stringContaining('int_') },
    });
    expect(events.at(-1)).toMatchObject({
      event_type: 'interaction.completed',
      interaction: { id: events[0].interaction.id, status: 'requires_action' },
    });
    const starts = events.filter(({ event_type: type }) => type === 'step.start');
    expect(starts.map(({ index, step }) => [index, step.type])).toEqual([
      [0, 'thought'],
      [1, 'model_output'],
      [2, 'function_call'],
    ]);
    const deltas = events
      .filter(({ event_type: type }) => type === 'step.delta')
      .map(({ delta }) => delta);
    expect(deltas.map((delta) => (delta.type === 'text' ? delta.text : '')).join('')).toBe(
      'hi you',
    );
    expect(JSON.parse(deltas.map((delta) => delta.arguments ?? '').join(''))).toEqual({
      city: 'Oslo',
    });
  });

  it('tells an error in a stream as an event of its own', async () => {
    const { url } = await useMockServer({
      text: 'a b',
      error_after: 1,
      error: { message: 'boom' },
    });
    const { text } = await rawCall(`${url}/v1beta/interactions`, {
      body: { model: 'm', input: 'x', stream: true },
    });
    expect(toEvents(text).at(-1)).toEqual({
      event_type: 'error',
      error: { code: 'INTERNAL', message: 'boom' },
    });
  });
});

describe('mock: paths', () => {
  it('serves any base path and refuses an unknown one', async () => {
    const { url } = await useMockServer();
    const body = { model: 'm', messages: USER };
    expect((await rawCall(`${url}/openai/v1/chat/completions`, { body })).status).toBe(200);
    expect((await rawCall(`${url}/chat/completions?api-version=1`, { body })).status).toBe(200);
    expect((await rawCall(`${url}/v1/nothing`, { body })).status).toBe(404);
    expect((await rawCall(`${url}/v1/chat/completions`, { method: 'DELETE' })).status).toBe(404);
  });

  it('refuses bodies that are not JSON objects or name no model', async () => {
    const { url } = await useMockServer();
    for (const body of ['{', '[]', '{}', '{"model":3}']) {
      expect((await rawCall(`${url}/v1/chat/completions`, { body })).status).toBe(400);
    }
  });
});

function joinParts(chunks: any[]): string {
  return chunks
    .flatMap((chunk) => chunk.candidates[0].content.parts)
    .map((part: any) => part.text)
    .join('');
}
