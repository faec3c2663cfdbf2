import { describe, expect, it } from 'vitest';
import { scanJson } from '../../../src/core/json/json-document.ts';
import type { AnswerEvent, CanonicalEvent } from '../../../src/protocols/canonical/stream.ts';
import type { CanonicalAnswer, Part } from '../../../src/protocols/canonical/canonical.ts';
import { messagesCodec } from '../../../src/protocols/messages/codec/messages-codec.ts';
import { verifies } from '../../requirements.ts';
import {
  endEvents,
  MESSAGE_START,
  messagesEvents,
  messagesFrames,
} from '../../support/messages.ts';
import { fakePeek, decodeAnswer, encodeAnswer, decodeRequest } from '../../support/protocols.ts';
import { collectAnswer, framesOf, toEvents, toText } from '../codec-laws.ts';

const CONTEXT = { model: 'acme/one', id: 'req_1', created: 1, keepUsage: true, peek: fakePeek() };

const answerOf = (parts: Part[], stop: CanonicalAnswer['stop'] = { kind: 'end' }) => ({
  id: undefined,
  parts,
  stop,
  usage: undefined,
});

/** A whole answer for a client, and the same as the events of a stream. */
function write(answer: CanonicalAnswer) {
  const { value, losses } = encodeAnswer(messagesCodec, answer, CONTEXT);
  const encoder = messagesCodec.createEncoder(CONTEXT);
  const bytes = toEvents(answer).flatMap((event: AnswerEvent) => encoder.write(event) ?? []);
  return {
    message: JSON.parse(toText(value)),
    losses,
    events: messagesEvents(Buffer.concat(bytes).toString()),
  };
}

function read(...events: object[]): CanonicalEvent[] {
  const decoder = messagesCodec.createDecoder();
  const frames = framesOf(Buffer.from(messagesFrames([MESSAGE_START, ...events])));
  const out: CanonicalEvent[] = [];
  for (const frame of frames) out.push(...decoder.read(frame));
  return out;
}

describe('an answer for a Messages client', () => {
  it('keeps reasoning of other protocols for them, and gives it back as it was', () => {
    const parts: Part[] = [
      { type: 'reasoning', text: 'hm', signature: { origin: 'responses', value: '{"id":"rs_1"}' } },
      {
        type: 'reasoning',
        text: '',
        signature: { origin: 'generate-content', value: 'sig' },
        ofNext: true,
      },
      { type: 'tool_call', id: 'a', name: 'look', arguments: '{}' },
    ];
    const { message } = write(answerOf(parts, { kind: 'tool_calls' }));
    expect(message.content.map(({ type }: { type: string }) => type)).toEqual([
      'thinking',
      'redacted_thinking',
      'tool_use',
    ]);
    const body = {
      model: 'm',
      max_tokens: 9,
      messages: [{ role: 'assistant', content: message.content }],
    };
    const bytes = Buffer.from(JSON.stringify(body));
    const { turns } = decodeRequest(
      messagesCodec,
      fakePeek({ body: bytes, json: scanJson(bytes) }),
    );
    expect(turns[0]?.parts).toEqual(parts);
  });

  it('says a refusal as text, and that it is one', () => {
    const { message, events, losses } = write(answerOf([{ type: 'refusal', text: 'I cannot.' }]));
    expect(message).toMatchObject({
      content: [{ type: 'text', text: 'I cannot.' }],
      stop_reason: 'refusal',
    });
    expect(events.at(-2)?.delta).toMatchObject({ stop_reason: 'refusal' });
    expect(losses).toEqual(['refusals']);
  });

  it('names its sources, and where in the text they belong', () => {
    const citation = { url: 'https://example.com', title: 'A', quote: 'q', start: 2, end: 5 };
    const part: Part = { type: 'text', text: 'some text', citations: [citation] };
    const { message, events } = write(answerOf([part]));
    const told = { type: 'web_search_result_location', url: citation.url, cited_text: 'q' };
    expect(message.content[0].citations).toMatchObject([told]);
    expect(events.find(({ delta }) => delta?.['type'] === 'citations_delta')?.delta).toMatchObject({
      citation: told,
    });
    expect(decodeAnswer(messagesCodec, JSON.stringify(message))?.parts).toEqual([part]);
  });

  it.each([
    { stop: { kind: 'end' }, reason: 'end_turn' },
    { stop: { kind: 'length' }, reason: 'max_tokens' },
    { stop: { kind: 'stop_sequence', sequence: 'END' }, reason: 'stop_sequence' },
    { stop: { kind: 'refusal' }, reason: 'refusal' },
    { stop: { kind: 'pause' }, reason: 'pause_turn' },
    { stop: { kind: 'context_exceeded' }, reason: 'model_context_window_exceeded' },
    { stop: { kind: 'malformed_call' }, reason: 'end_turn' },
    { stop: { kind: 'other', raw: 'whatever' }, reason: 'end_turn' },
  ] as const)(
    verifies('messages.stop-reason.mapping', 'stops with $reason'),
    ({ stop, reason }) => {
      const { message, events } = write(answerOf([{ type: 'text', text: 'x' }], stop));
      const sequence = 'sequence' in stop ? stop.sequence : null;
      const expected = { stop_reason: reason, stop_sequence: sequence };
      expect(message).toMatchObject(expected);
      expect(events.at(-2)?.delta).toEqual(expected);
      expect(events.at(-1)).toEqual({ type: 'message_stop' });
    },
  );

  it(
    verifies(
      'messages.stream.tool-fragments',
      'begins a call empty and gives it at least one delta',
    ),
    () => {
      const call = { type: 'tool_call', id: 'a', name: 'look' } as const;
      for (const [args, told] of [
        ['{"a":1.0}', '{"a":1.0}'],
        ['', '{}'],
      ] as const) {
        const { events, message } = write(answerOf([{ ...call, arguments: args }]));
        expect(events[1]?.content_block).toEqual({
          type: 'tool_use',
          id: 'a',
          name: 'look',
          input: {},
        });
        expect(events[2]?.delta).toEqual({ type: 'input_json_delta', partial_json: told });
        expect(message.content[0].input).toEqual(JSON.parse(told));
        expect(message.stop_reason).toBe('tool_use');
      }
    },
  );
});

describe("a Messages provider's stream", () => {
  it('may send a call whole, and blocks that nobody knows in pieces', () => {
    const input = { city: 'Oslo' };
    const use = { type: 'tool_use', id: 'a', name: 'look', input };
    const server = { type: 'server_tool_use', id: 's', name: 'web_search', input: {} };
    const events = read(
      { type: 'content_block_start', index: 0, content_block: use },
      { type: 'content_block_stop', index: 0 },
      { type: 'content_block_start', index: 1, content_block: server },
      {
        type: 'content_block_delta',
        index: 1,
        delta: { type: 'input_json_delta', partial_json: '{"q":"x"}' },
      },
      { type: 'content_block_stop', index: 1 },
      ...endEvents('tool_use'),
    );
    const { parts, stop } = collectAnswer(events);
    expect(parts[0]).toMatchObject({ type: 'tool_call', arguments: '{"city":"Oslo"}' });
    expect(parts[1]).toMatchObject({
      type: 'opaque',
      value: { id: 's', input: { text: '{"q":"x"}' } },
    });
    expect(stop).toEqual({ kind: 'tool_calls', raw: 'tool_use' });
  });

  it('tells why it refused', () => {
    const delta = {
      stop_reason: 'refusal',
      stop_details: { type: 'refusal', category: null, explanation: 'not that' },
    };
    const events = read({ type: 'message_delta', delta }, { type: 'message_stop' });
    expect(collectAnswer(events).parts).toEqual([{ type: 'refusal', text: 'not that' }]);
    const message = { content: [], ...delta };
    expect(decodeAnswer(messagesCodec, JSON.stringify(message))?.parts).toEqual([
      { type: 'refusal', text: 'not that' },
    ]);
  });

  it('fails where it makes no sense, and at its own errors', () => {
    const delta = { type: 'text_delta', text: 'x' };
    const orphan = read({ type: 'content_block_delta', index: 3, delta });
    expect(orphan.at(-1)).toMatchObject({ type: 'failure', failure: { kind: 'malformed' } });
    const error = { type: 'rate_limit_error', message: 'slow down' };
    expect(read({ type: 'error', error }).at(-1)).toMatchObject({
      type: 'failure',
      failure: { kind: 'error', status: 429, message: 'slow down' },
    });
  });
});
