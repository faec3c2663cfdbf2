import { Buffer } from 'node:buffer';
import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../../src/core/errors.ts';
import type { CanonicalRequest, Part } from '../../../src/protocols/canonical/canonical.ts';
import { peekChat } from '../../../src/protocols/chat/chat-request.ts';
import { chatCodec } from '../../../src/protocols/chat/codec/chat-codec.ts';
import { toSignatureText } from '../../../src/protocols/canonical/reasoning-token.ts';
import { decodeRequest, encodeRequest } from '../../support/protocols.ts';

const USER = { role: 'user', content: 'hello' };

function read(fields: object): CanonicalRequest {
  const body = { model: 'acme/one', messages: [USER], ...fields };
  return decodeRequest(chatCodec, peekChat(Buffer.from(JSON.stringify(body))));
}

function write(request: Partial<CanonicalRequest>): { value: any; losses: readonly string[] } {
  const whole = { turns: [], tools: [], stream: false, unmapped: [], ...request };
  const target = { model: 'up', defaultMaxTokens: 4096, askUsage: true };
  return encodeRequest(chatCodec, whole, target);
}

function faultOf(fields: object): string | undefined {
  try {
    read(fields);
  } catch (thrown) {
    expect(thrown).toBeInstanceOf(GatewayError);
    expect((thrown as GatewayError).code).toBe('invalid_request');
    return (thrown as GatewayError).param;
  }
  return undefined;
}

const parts = (message: object): readonly Part[] =>
  read({ messages: [message] }).turns[0]?.parts ?? [];

describe('chat requests in the canonical form', () => {
  it('takes every setting that another protocol may know', () => {
    const request = read({
      max_completion_tokens: 100,
      max_tokens: 5,
      temperature: 1.5,
      top_p: 0.9,
      top_k: 40,
      stop: 'END',
      seed: 7,
      presence_penalty: 0.5,
      frequency_penalty: -0.5,
      reasoning_effort: 'high',
      reasoning: { max_tokens: 2048, exclude: true },
      verbosity: 'low',
      logprobs: true,
      top_logprobs: 3,
      user: 'u-1',
      metadata: { team: 'search' },
      service_tier: 'flex',
      parallel_tool_calls: false,
      tool_choice: { type: 'function', function: { name: 'look' } },
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'n', strict: true, schema: { type: 'object' } },
      },
    });
    expect(request).toMatchObject({
      maxOutputTokens: 100,
      temperature: 1.5,
      topP: 0.9,
      topK: 40,
      stop: ['END'],
      seed: 7,
      presencePenalty: 0.5,
      frequencyPenalty: -0.5,
      reasoning: { effort: 'high', budgetTokens: 2048, show: false },
      verbosity: 'low',
      logprobs: 3,
      user: 'u-1',
      metadata: { team: 'search' },
      serviceTier: 'flex',
      parallelToolCalls: false,
      toolChoice: { name: 'look' },
      output: { type: 'schema', name: 'n', strict: true, schema: { type: 'object' } },
      // It says something else than the newer member.
      unmapped: ['max_tokens'],
    });
  });

  it('names the fields that have no place elsewhere, and passes over what asks for nothing', () => {
    const { unmapped } = read({
      n: 2,
      logit_bias: { 1: 2 },
      store: true,
      prediction: {},
      some_vendor_field: 1,
      audio: null,
    });
    expect(unmapped).toEqual(['n', 'logit_bias', 'store', 'prediction', 'some_vendor_field']);
    expect(read({ n: 1, store: false, modalities: ['text'], stop: null }).unmapped).toEqual([]);
  });

  it('keeps the order and grouping of the conversation', () => {
    const call = (id: string): object => ({
      id,
      type: 'function',
      function: { name: 'look', arguments: '{"a":1.0}' },
    });
    const { turns } = read({
      messages: [
        { role: 'system', content: 'one' },
        { ...USER, name: 'ann' },
        { role: 'developer', content: [{ type: 'text', text: 'two' }] },
        { role: 'assistant', content: '', tool_calls: [call('a'), call('b')] },
        { role: 'tool', tool_call_id: 'b', content: 'B' },
        { role: 'tool', tool_call_id: 'a', content: [{ type: 'text', text: 'A' }] },
        { role: 'assistant', content: 'done', refusal: 'no' },
      ],
    });
    const result = (callId: string, text: string): object => ({
      type: 'tool_result',
      callId,
      content: [{ type: 'text', text }],
      isError: false,
    });
    expect(turns).toEqual([
      { role: 'system', parts: [{ type: 'text', text: 'one' }] },
      { role: 'user', name: 'ann', parts: [{ type: 'text', text: 'hello' }] },
      { role: 'developer', parts: [{ type: 'text', text: 'two' }] },
      {
        role: 'assistant',
        parts: [
          { type: 'tool_call', id: 'a', name: 'look', arguments: '{"a":1.0}' },
          { type: 'tool_call', id: 'b', name: 'look', arguments: '{"a":1.0}' },
        ],
      },
      { role: 'tool', parts: [result('b', 'B'), result('a', 'A')] },
      {
        role: 'assistant',
        parts: [
          { type: 'text', text: 'done' },
          { type: 'refusal', text: 'no' },
        ],
      },
    ]);
  });

  it('understands the older form of functions', () => {
    const request = read({
      functions: [{ name: 'look', parameters: { type: 'object' } }],
      function_call: { name: 'look' },
      messages: [
        USER,
        { role: 'assistant', content: null, function_call: { name: 'look', arguments: '{}' } },
        { role: 'function', name: 'look', content: 'seen' },
      ],
    });
    expect(request.tools).toEqual([
      { type: 'function', name: 'look', parameters: { type: 'object' } },
    ]);
    expect(request.toolChoice).toEqual({ name: 'look' });
    const [call] = request.turns[1]?.parts ?? [];
    const [result] = request.turns[2]?.parts ?? [];
    expect(call).toMatchObject({ type: 'tool_call', name: 'look' });
    expect(result).toMatchObject({ type: 'tool_result', callId: (call as { id: string }).id });
  });

  it('reads images, files and audio, by data and by address', () => {
    const content = [
      { type: 'image_url', image_url: { url: 'https://example.com/a.png', detail: 'low' } },
      { type: 'image_url', image_url: { url: 'data:image/PNG;base64,AAAA' } },
      { type: 'image_url', image_url: { url: 'data:image/svg+xml,%3Csvg%2F%3E' } },
      { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,BBBB' } },
      { type: 'input_audio', input_audio: { data: 'CCCC', format: 'mp3' } },
      { type: 'text', text: 'cached', cache_control: { type: 'ephemeral', ttl: '1h' } },
    ];
    expect(parts({ role: 'user', content })).toEqual([
      { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' }, detail: 'low' },
      { type: 'image', source: { type: 'data', mediaType: 'image/png', data: 'AAAA' } },
      { type: 'image', source: { type: 'data', mediaType: 'image/svg+xml', data: 'PHN2Zy8+' } },
      {
        type: 'document',
        source: { type: 'data', mediaType: 'application/pdf', data: 'BBBB' },
        name: 'a.pdf',
      },
      { type: 'audio', mediaType: 'audio/mpeg', data: 'CCCC' },
      { type: 'text', text: 'cached', cache: { ttl: '1h' } },
    ]);
  });

  it('names parts that nobody else understands', () => {
    const content = [
      { type: 'text', text: 'see' },
      { type: 'video_url', video_url: { url: 'x' } },
    ];
    const request = read({ messages: [{ role: 'user', content }] });
    expect(request.turns[0]?.parts).toEqual([{ type: 'text', text: 'see' }]);
    expect(request.unmapped).toEqual(['messages[0].content[1].video_url']);
  });

  it("gives another provider's signatures back in front of what they belong to", () => {
    const token = (value: string): string =>
      toSignatureText({ origin: 'generate-content', value }, 'chat');
    const signature = (value: string): object => ({ origin: 'generate-content', value });
    const message = {
      role: 'assistant',
      content: 'text',
      reasoning_content: 'thought',
      reasoning_details: [
        { type: 'reasoning.text', text: 'thought', signature: token('s1'), index: 0 },
        { type: 'reasoning.encrypted', data: token('s2'), id: 'content', index: 1 },
        { type: 'reasoning.encrypted', data: token('s3'), id: 'b', index: 2 },
      ],
      tool_calls: [
        { id: 'a', type: 'function', function: { name: 'look', arguments: '{}' } },
        { id: 'b', type: 'function', function: { name: 'look', arguments: '{}' } },
      ],
    };
    expect(parts(message)).toEqual([
      { type: 'reasoning', text: 'thought', signature: signature('s1') },
      { type: 'reasoning', text: '', signature: signature('s2'), ofNext: true },
      { type: 'text', text: 'text' },
      { type: 'tool_call', id: 'a', name: 'look', arguments: '{}' },
      { type: 'reasoning', text: '', signature: signature('s3'), ofNext: true },
      { type: 'tool_call', id: 'b', name: 'look', arguments: '{}' },
    ]);
  });

  it.each([
    ['messages', { messages: 'hello' }],
    ['messages[0]', { messages: [1] }],
    ['messages[0].role', { messages: [{ role: 'robot', content: 'x' }] }],
    ['messages[0].content', { messages: [{ role: 'user', content: 5 }] }],
    ['messages[0].content[0].text', { messages: [{ role: 'user', content: [{ type: 'text' }] }] }],
    ['messages[0].tool_call_id', { messages: [{ role: 'tool', content: 'x' }] }],
    ['messages[0].tool_calls[0].id', { messages: [{ role: 'assistant', tool_calls: [{}] }] }],
    ['tools', { tools: {} }],
    ['tools[0].function.name', { tools: [{ type: 'function', function: {} }] }],
    ['temperature', { temperature: 'hot' }],
    ['stop[0]', { stop: [1] }],
    ['metadata.a', { metadata: { a: 1 } }],
    ['response_format.type', { response_format: { type: 'xml' } }],
    ['tool_choice', { tool_choice: 'sometimes' }],
  ])('names the field at fault: %s', (param, fields) => {
    expect(faultOf(fields)).toBe(param);
  });
});

describe('chat requests for providers', () => {
  it('puts tools in front of messages, and messages in front of settings', () => {
    const { value } = write({
      turns: [{ role: 'user', parts: [{ type: 'text', text: 'x' }] }],
      tools: [{ type: 'function', name: 'look' }],
      temperature: 0,
      stream: true,
    });
    expect(Object.keys(value)).toEqual([
      'model',
      'tools',
      'messages',
      'temperature',
      'stream',
      'stream_options',
    ]);
  });

  it("sends no other provider's reasoning, and its own as it came", () => {
    const reasoning = (origin: 'chat' | 'messages', value: string): Part => ({
      type: 'reasoning',
      text: 'secret thought',
      signature: { origin, value },
    });
    const said = (part: Part) =>
      write({ turns: [{ role: 'assistant', parts: [part, { type: 'text', text: 'x' }] }] });
    const foreign = said(reasoning('messages', 'sig'));
    expect(foreign.losses).toEqual(['reasoning_signatures']);
    expect(JSON.stringify(foreign.value)).not.toContain('secret thought');
    const own = said(reasoning('chat', '{"type":"reasoning.summary","id":"rs_1","index":2}'));
    expect(own.losses).toEqual([]);
    expect(own.value.messages[0].reasoning_details).toEqual([
      { type: 'reasoning.summary', id: 'rs_1', index: 2, summary: 'secret thought' },
    ]);
    const plain = said(reasoning('chat', '{}'));
    expect(plain.value.messages[0].reasoning_content).toBe('secret thought');
    expect(said(reasoning('chat', 'no json')).value.messages[0].content).toBe('x');
  });

  it('shows images of tool results in a message of their own', () => {
    const { value, losses } = write({
      turns: [
        {
          role: 'tool',
          parts: [
            {
              type: 'tool_result',
              callId: 'a',
              isError: true,
              content: [
                { type: 'text', text: 'one' },
                { type: 'text', text: 'two' },
                { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } },
              ],
            },
            { type: 'tool_result', callId: 'b', isError: false, content: [] },
          ],
        },
      ],
    });
    expect(losses).toEqual(['tool_result_errors', 'tool_result_images']);
    expect(value.messages).toMatchObject([
      { role: 'tool', tool_call_id: 'a', content: 'one\ntwo' },
      { role: 'tool', tool_call_id: 'b', content: '' },
      { role: 'user', content: [{ type: 'text' }, { type: 'image_url' }] },
    ]);
  });

  it.each([
    [1024, 'low'],
    [8000, 'medium'],
    [32_000, 'high'],
    [0, 'none'],
  ])('asks for the effort that is nearest to a budget of %i tokens', (budgetTokens, effort) => {
    expect(write({ reasoning: { budgetTokens } }).value.reasoning_effort).toBe(effort);
  });

  it('has the text of a document in a tool result', () => {
    const document = { type: 'document', source: { type: 'text', text: 'FILED' } } as const;
    const result = {
      type: 'tool_result',
      callId: 'a',
      isError: false,
      content: [document],
    } as const;
    const { value, losses } = write({ turns: [{ role: 'tool', parts: [result] }] });
    expect(value.messages).toMatchObject([{ role: 'tool', tool_call_id: 'a', content: 'FILED' }]);
    expect(losses).toEqual([]);
  });

  it("leaves out what another protocol's tools do by themselves, and says so", () => {
    const { value, losses } = write({
      tools: [{ type: 'opaque', origin: 'responses', value: { type: 'web_search' } }],
      toolChoice: 'auto',
    });
    expect(value).not.toHaveProperty('tools');
    expect(value).not.toHaveProperty('tool_choice');
    expect(losses).toEqual(['builtin_tools', 'tool_choice']);
  });
});
