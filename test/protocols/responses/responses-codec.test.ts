import { Buffer } from 'node:buffer';
import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../../src/core/errors.ts';
import { scanJson } from '../../../src/core/json/json-document.ts';
import type { AnswerEvent } from '../../../src/protocols/canonical/stream.ts';
import type {
  CanonicalAnswer,
  CanonicalRequest,
  Part,
} from '../../../src/protocols/canonical/canonical.ts';
import { toSignatureText } from '../../../src/protocols/canonical/reasoning-token.ts';
import { responsesCodec } from '../../../src/protocols/responses/codec/responses-codec.ts';
import { peekResponses } from '../../../src/protocols/responses/responses-request.ts';
import { fakePeek, encodeAnswer, decodeRequest, encodeRequest } from '../../support/protocols.ts';
import { PLAIN_REQUEST } from '../canonical-arbitraries.ts';
import { collectAnswer, framesOf, toEvents } from '../codec-laws.ts';
import {
  call,
  created,
  eventsIn,
  frames,
  itemEvents,
  message,
  numbered,
  response,
  streamOf,
} from './responses-fixtures.ts';
import type { Event } from './responses-fixtures.ts';

const TARGET = { model: 'up', defaultMaxTokens: 100, askUsage: true };
const CONTEXT = {
  model: 'acme/x',
  id: 'req-1',
  created: 1_700_000_000,
  keepUsage: true,
  peek: fakePeek({
    json: scanJson(Buffer.from('{"instructions":"be kind","metadata":{"a":"b"}}')),
  }),
};

const decode = (body: object): CanonicalRequest =>
  decodeRequest(
    responsesCodec,
    peekResponses(Buffer.from(JSON.stringify({ model: 'm', ...body }))),
  );
const encode = (request: Partial<CanonicalRequest>) => {
  const { value, losses } = encodeRequest(responsesCodec, { ...PLAIN_REQUEST, ...request }, TARGET);
  return { body: value as Record<string, unknown>, losses };
};
const answer = (...parts: Part[]): CanonicalAnswer => ({
  id: 'a-1',
  parts,
  stop: { kind: 'end' },
  usage: undefined,
});
const write = (events: readonly AnswerEvent[]): Event[] => {
  const encoder = responsesCodec.createEncoder(CONTEXT);
  const bytes = events.map((event) => encoder.write(event) ?? Buffer.alloc(0));
  return eventsIn(Buffer.concat(bytes).toString());
};
const read = (text: string) => {
  const decoder = responsesCodec.createDecoder();
  return framesOf(Buffer.from(text)).flatMap((frame) => decoder.read(frame));
};

describe('a Responses request, read', () => {
  it('is one turn of the assistant for the items of one answer', () => {
    const { turns } = decode({
      instructions: 'be kind',
      input: [
        { role: 'user', content: [{ type: 'input_text', text: 'hi' }] },
        { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'hm' }] },
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'so' }] },
        { type: 'function_call', call_id: 'a', name: 'f', arguments: '{"n":1.0}' },
        { type: 'function_call', call_id: 'b', name: 'g', arguments: '{}' },
        { type: 'function_call_output', call_id: 'a', output: 'one' },
        {
          type: 'function_call_output',
          call_id: 'b',
          output: [{ type: 'input_image', image_url: 'data:image/png;base64,AAAA', detail: 'low' }],
        },
        { role: 'assistant', content: 'first' },
        { role: 'assistant', content: 'second' },
      ],
    });
    expect(turns.map(({ role, parts }) => [role, parts.map(({ type }) => type)])).toEqual([
      ['system', ['text']],
      ['user', ['text']],
      ['assistant', ['reasoning', 'text', 'tool_call', 'tool_call']],
      ['tool', ['tool_result', 'tool_result']],
      ['assistant', ['text']],
      ['assistant', ['text']],
    ]);
    expect(turns[2]?.parts[2]).toMatchObject({ id: 'a', arguments: '{"n":1.0}' });
    expect(turns[3]?.parts[1]).toMatchObject({
      content: [{ type: 'image', source: { mediaType: 'image/png', data: 'AAAA' }, detail: 'low' }],
    });
  });

  it('names what has no canonical place, and nothing that is usual', () => {
    const { unmapped } = decode({
      input: 'x',
      store: true,
      background: false,
      truncation: 'auto',
      include: ['reasoning.encrypted_content', 'file_search_call.results'],
      reasoning: { effort: 'low', context: 'auto' },
      prompt_cache_key: 'k',
      max_tool_calls: null,
      tool_choice: { type: 'web_search' },
      tools: [{ type: 'function', name: 'f', defer_loading: true }],
    });
    expect(unmapped.toSorted()).toEqual([
      'include',
      'prompt_cache_key',
      'reasoning.context',
      'store',
      'tool_choice',
      'tools[0].defer_loading',
      'truncation',
    ]);
  });

  it.each([
    ['previous_response_id', { input: 'x', previous_response_id: 'resp_1' }],
    ['conversation', { input: 'x', conversation: 'conv_1' }],
    ['prompt', { prompt: { id: 'pmpt_1' } }],
    ['input[0]', { input: [{ type: 'item_reference', id: 'msg_1' }] }],
    ['input[0]', { input: [{ id: 'msg_1' }] }],
    ['input[0]', { input: [{ type: 'compaction', encrypted_content: 'x' }] }],
    [
      'input[0].content[0].file_id',
      { input: [{ role: 'user', content: [{ type: 'input_image', file_id: 'file_1' }] }] },
    ],
  ])('is left to providers that keep `%s`', (param, body) => {
    expect(() => decode(body)).toThrow(
      expect.objectContaining({ code: 'unsupported_feature', param }),
    );
  });

  it.each([
    ['input', {}],
    ['input', { input: 7 }],
    ['input[0]', { input: ['x'] }],
    ['input[0].role', { input: [{ content: 'x' }] }],
    ['input[0].arguments', { input: [{ type: 'function_call', call_id: 'a', name: 'f' }] }],
    ['tools[0].name', { input: 'x', tools: [{ type: 'function' }] }],
    ['text.format.type', { input: 'x', text: { format: { type: 'xml' } } }],
    ['temperature', { input: 'x', temperature: 'hot' }],
  ])('is refused for `%s`', (param, body) => {
    let thrown: unknown;
    try {
      decode(body);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(GatewayError);
    expect(thrown).toMatchObject({ code: 'invalid_request', param });
  });

  it('brings reasoning back to the protocol that signed it', () => {
    const token = toSignatureText({ origin: 'messages', value: 'c2ln' }, 'responses');
    const { turns } = decode({
      input: [
        { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: token },
        { type: 'reasoning', id: 'rs_2', summary: [], encrypted_content: 'gAAA' },
      ],
    });
    expect(turns[0]?.parts.map((part) => 'signature' in part && part.signature)).toEqual([
      { origin: 'messages', value: 'c2ln' },
      { origin: 'responses', value: '{"id":"rs_2","encrypted_content":"gAAA"}' },
    ]);
  });
});

describe('a Responses request, written', () => {
  it('keeps nothing at the provider and asks for encrypted reasoning', () => {
    const { body } = encode({ stream: true, logprobs: 0 });
    expect(body).toMatchObject({
      store: false,
      stream: true,
      include: ['reasoning.encrypted_content', 'message.output_text.logprobs'],
    });
    expect(Object.keys(body).slice(0, 3)).toEqual(['model', 'tools', 'input']);
  });

  it('says by itself that tools are not strict, and asks for no fewer tokens than are allowed', () => {
    const { body } = encode({ maxOutputTokens: 1 });
    expect(body).toMatchObject({ max_output_tokens: 16, tools: [{ strict: false }] });
  });

  it('leaves out reasoning that another protocol signed, and says so', () => {
    const parts: Part[] = [
      { type: 'reasoning', text: 'hm', signature: { origin: 'messages', value: 's' } },
      { type: 'text', text: 'so' },
    ];
    const { body, losses } = encode({ turns: [{ role: 'assistant', parts }] });
    expect(body['input']).toEqual([{ role: 'assistant', content: 'so' }]);
    expect(losses).toEqual(['reasoning_signatures']);
  });

  it.each([
    [
      { effort: 'low', show: true },
      { effort: 'low', summary: 'auto' },
    ],
    [{ budgetTokens: 1024 }, { effort: 'low' }],
    [{ budgetTokens: 8000 }, { effort: 'medium' }],
    [{ enabled: true, budgetTokens: 30_000 }, { effort: 'high' }],
    [{ enabled: false }, { effort: 'none' }],
    [{ enabled: true }, { effort: 'medium' }],
  ])('asks for reasoning %j as %j', (reasoning, expected) => {
    expect(encode({ reasoning }).body['reasoning']).toEqual(expected);
  });
});

describe('a Responses answer of the gateway', () => {
  it('is told in the strict order of events, and once more at the end', () => {
    const events = write(
      toEvents(
        answer(
          { type: 'reasoning', text: 'hm' },
          { type: 'text', text: 'one', citations: [{ url: 'https://a.example/' }] },
          { type: 'refusal', text: 'no' },
          { type: 'tool_call', id: 'c', name: 'f', arguments: '{"n":1.0}' },
        ),
        [2],
      ),
    );
    expect(events.map(({ type }) => type.replace('response.', ''))).toEqual([
      'created',
      'in_progress',
      'output_item.added',
      'reasoning_summary_part.added',
      'reasoning_summary_text.delta',
      'reasoning_summary_text.done',
      'reasoning_summary_part.done',
      'output_item.done',
      'output_item.added',
      'content_part.added',
      'output_text.delta',
      'output_text.delta',
      'output_text.annotation.added',
      'output_text.done',
      'content_part.done',
      'content_part.added',
      'refusal.delta',
      'refusal.done',
      'content_part.done',
      'output_item.done',
      'output_item.added',
      'function_call_arguments.delta',
      'function_call_arguments.delta',
      'function_call_arguments.done',
      'output_item.done',
      'completed',
    ]);
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual([...events.keys()]);
    const done = events.filter(({ type }) => type === 'response.output_item.done');
    expect(events.at(-1)).toMatchObject({
      response: {
        id: 'a-1',
        model: 'acme/x',
        status: 'completed',
        instructions: 'be kind',
        metadata: { a: 'b' },
        output: done.map(({ item }) => item),
      },
    });
  });

  it.each([
    ['length', 'incomplete', { reason: 'max_output_tokens' }],
    ['context_exceeded', 'incomplete', { reason: 'max_output_tokens' }],
    ['refusal', 'incomplete', { reason: 'content_filter' }],
    ['stop_sequence', 'completed', null],
    ['other', 'completed', null],
  ] as const)('that stopped by %s is %s', (kind, status, incomplete_details) => {
    const whole = { ...answer({ type: 'text', text: 'x' }), stop: { kind } };
    const { value } = encodeAnswer(responsesCodec, whole, CONTEXT);
    expect(value).toMatchObject({ status, incomplete_details });
    expect(write(toEvents(whole)).at(-1)).toMatchObject({
      type: `response.${status}`,
      response: { status, incomplete_details },
    });
  });

  it.each([
    ['message', { type: 'text', text: 'x' }],
    ['function_call', { type: 'tool_call', id: 'c', name: 'f', arguments: '{"path":"/x","co' }],
    ['custom_tool_call', { type: 'tool_call', id: 'c', name: 'f', arguments: 'cut', custom: true }],
  ] as const)('says of the last item that it was cut off: %s', (type, part) => {
    const first: Part = { type: 'tool_call', id: 'b', name: 'f', arguments: '{}' };
    const whole = { ...answer(first, part), stop: { kind: 'length' as const } };
    const output = [
      { type: 'function_call', status: 'completed' },
      { type, status: 'incomplete' },
    ];
    expect(encodeAnswer(responsesCodec, whole, CONTEXT).value).toMatchObject({ output });
    const events = write(
      toEvents(whole).map((event) =>
        event.type === 'open' && event.part === 1 && part.type === 'tool_call'
          ? { ...event, opening: part }
          : event,
      ),
    );
    const done = events.filter((event) => event.type === 'response.output_item.done');
    expect(done.map(({ item }) => item)).toMatchObject(output);
    expect(events.at(-1)).toMatchObject({ response: { output: done.map(({ item }) => item) } });
    // Clients run a call whose arguments are done.
    const ended = events.filter((event) => /(?:arguments|input)\.done$/.test(event.type));
    expect(ended).toMatchObject([{ output_index: 0 }]);
  });

  it('shows the signature of another protocol as a token', () => {
    const signature = { origin: 'messages', value: 'c2ln' } as const;
    const { value } = encodeAnswer(
      responsesCodec,
      answer({ type: 'reasoning', text: 'hm', signature }),
      CONTEXT,
    );
    expect(value).toMatchObject({
      output: [{ encrypted_content: toSignatureText(signature, 'responses') }],
    });
  });

  it('numbers its error behind what was told', () => {
    const encoder = responsesCodec.createEncoder(CONTEXT);
    encoder.write({ type: 'start', id: 'a' });
    const error = { message: 'broke', type: 'api_error', code: 'c', status: 502 };
    expect(eventsIn(String(encoder.errorFrame?.(error)))).toMatchObject([{ sequence_number: 2 }]);
  });
});

describe("a provider's Responses stream", () => {
  it('is understood from its items alone', () => {
    const items = [message('hi'), call('look')];
    const done = itemEvents(items[0] as Event, 0).slice(-1);
    const end = {
      type: 'response.completed',
      response: response({ status: 'completed', output: items }),
    };
    const events = read(frames(numbered([created, ...done, end])));
    expect(collectAnswer(events).parts).toEqual([
      { type: 'text', text: 'hi' },
      { type: 'tool_call', id: 'call_fc_1', name: 'look', arguments: '{"n":1.0}' },
    ]);
    expect(events.at(-1)).toEqual({ type: 'end' });
  });

  it('carries what the provider ran itself as it is', () => {
    const search = { type: 'web_search_call', id: 'ws_1', status: 'completed' };
    const events = read(frames(streamOf([search, message('hi')])));
    expect(collectAnswer(events).parts).toEqual([
      { type: 'opaque', origin: 'responses', value: search },
      { type: 'text', text: 'hi' },
    ]);
  });

  it('is no answer without an item, whatever other events it has', () => {
    const end = { type: 'response.completed', response: response({ status: 'completed' }) };
    const events = read(frames([created, { type: 'keepalive', sequence_number: 1 }, end]));
    expect(events.at(-1)).toMatchObject({ type: 'failure', failure: { kind: 'truncated' } });
  });

  it('puts a blank line between summaries of one reasoning', () => {
    const of = (summary_index: number, delta: string): Event => ({
      type: 'response.reasoning_summary_text.delta',
      output_index: 0,
      summary_index,
      delta,
    });
    const item = { type: 'reasoning', id: 'rs_1', encrypted_content: 'gA' };
    const events = read(
      frames([
        created,
        { type: 'response.output_item.added', output_index: 0, item },
        of(0, 'a'),
        of(0, 'b'),
        of(1, 'c'),
        { type: 'response.output_item.done', output_index: 0, item },
        { type: 'response.completed', response: response({ status: 'completed' }) },
      ]),
    );
    expect(collectAnswer(events).parts).toEqual([
      {
        type: 'reasoning',
        text: 'ab\n\nc',
        signature: { origin: 'responses', value: '{"id":"rs_1","encrypted_content":"gA"}' },
      },
    ]);
  });

  it('fails in the words of its provider', () => {
    const error = { code: 'rate_limit_exceeded', message: 'slow' };
    const failed = { type: 'response.failed', response: response({ error }) };
    expect(read(frames([created, failed])).at(-1)).toMatchObject({
      type: 'failure',
      failure: { kind: 'error', status: 429, message: 'slow' },
    });
  });
});
