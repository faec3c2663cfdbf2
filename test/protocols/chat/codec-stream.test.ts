import { Buffer } from 'node:buffer';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NO_USAGE } from '../../../src/core/usage.ts';
import type { AnswerEvent, CanonicalEvent } from '../../../src/protocols/canonical/stream.ts';
import type {
  CanonicalAnswer,
  Part,
  StopKind,
} from '../../../src/protocols/canonical/canonical.ts';
import { chatCodec } from '../../../src/protocols/chat/codec/chat-codec.ts';
import { verifies } from '../../requirements.ts';
import { collectAnswer, framesOf, peekBody, toEvents } from '../codec-laws.ts';
import { encodeAnswer, decodeRequest } from '../../support/protocols.ts';

const peek = peekBody(Buffer.from('{"model":"acme/one","messages":[]}'));
const context = (keepUsage = true) => ({
  model: 'acme/one',
  id: 'req-1',
  created: 5,
  keepUsage,
  peek,
});

function answerOf(parts: readonly Part[], kind: StopKind = 'end'): CanonicalAnswer {
  return { id: 'a-1', parts, stop: { kind }, usage: { ...NO_USAGE, input: 3, output: 2 } };
}

/** The chunks that a client gets; the last one must be the end mark. */
function written(events: readonly AnswerEvent[], keepUsage = true): any[] {
  const encoder = chatCodec.createEncoder(context(keepUsage));
  const bytes = events.map((event) => encoder.write(event) ?? Buffer.alloc(0));
  const payloads = framesOf(Buffer.concat(bytes)).map(({ data }) => data as string);
  expect(payloads.pop()).toBe('[DONE]');
  return payloads.map((payload) => JSON.parse(payload) as unknown);
}

/** What a provider's chunks say. */
function readChunks(deltas: readonly object[], finish: string | null = 'stop'): CanonicalEvent[] {
  const chunk = (choice: object): string =>
    `data: ${JSON.stringify({ id: 'c-1', choices: [{ index: 0, ...choice }] })}\n\n`;
  const text = [
    ...deltas.map((delta) => chunk({ delta })),
    ...(finish === null ? [] : [chunk({ delta: {}, finish_reason: finish })]),
    'data: [DONE]\n\n',
  ].join('');
  const decoder = chatCodec.createDecoder();
  return framesOf(Buffer.from(text)).flatMap((frame) => decoder.read(frame));
}

const call = (index: number): Part => ({
  type: 'tool_call',
  id: `toolu_${index}`,
  name: `look_${index}`,
  arguments: `{"n":${index}}`,
});

describe('chat streams for clients', () => {
  it(
    verifies(
      'chat.stream.tool-index',
      'numbers three calls 0, 1, 2, with id and name once and no empty entry',
    ),
    () => {
      fc.assert(
        fc.property(fc.array(fc.nat(4)), (cuts) => {
          const chunks = written(
            toEvents(answerOf([call(0), call(1), call(2)], 'tool_calls'), cuts),
          );
          const entries = chunks.flatMap(
            ({ choices }) => (choices[0]?.delta.tool_calls as any[]) ?? [],
          );
          for (const index of [0, 1, 2]) {
            const [first, ...rest] = entries.filter((entry) => entry.index === index);
            expect(first).toEqual({
              index,
              id: `toolu_${index}`,
              type: 'function',
              function: { name: `look_${index}`, arguments: '' },
            });
            for (const entry of rest) {
              expect(Object.keys(entry)).toEqual(['index', 'function']);
              expect(Object.keys(entry.function)).toEqual(['arguments']);
              expect(entry.function.arguments).not.toBe('');
            }
            expect(rest.map((entry) => entry.function.arguments).join('')).toBe(`{"n":${index}}`);
          }
          expect(entries.map(({ index }) => index)).toEqual(
            entries.map(({ index }) => index).toSorted((a: number, b: number) => a - b),
          );
          expect(entries.every(({ index }) => [0, 1, 2].includes(index))).toBe(true);
        }),
      );
    },
  );

  it(
    verifies('chat.stream.chunk-shape', 'gives every chunk one id and the first one the role'),
    () => {
      const chunks = written(toEvents(answerOf([{ type: 'text', text: 'hello' }]), [1]));
      expect(new Set(chunks.map(({ id }) => id))).toEqual(new Set(['a-1']));
      expect(new Set(chunks.map(({ model }) => model))).toEqual(new Set(['acme/one']));
      expect(chunks[0].choices[0].delta.role).toBe('assistant');
      expect(chunks.slice(1).some(({ choices }) => choices[0]?.delta.role)).toBe(false);
      const reasons = chunks.map(({ choices }) => choices[0]?.finish_reason ?? null);
      expect(reasons).toEqual([null, null, null, 'stop', null]);
    },
  );

  it('tells usage in a chunk of its own, only to who asked', () => {
    const events = toEvents(answerOf([{ type: 'text', text: 'x' }]));
    const isUsage = ({ usage }: { usage?: unknown }): boolean => usage !== undefined;
    expect(written(events, true).filter(isUsage)).toMatchObject([
      { choices: [], usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 } },
    ]);
    expect(written(events, true).at(-1)).toHaveProperty('usage');
    expect(written(events, false).filter(isUsage)).toEqual([]);
  });

  it.each<[StopKind, string]>([
    ['end', 'stop'],
    ['stop_sequence', 'stop'],
    ['length', 'length'],
    ['context_exceeded', 'length'],
    ['tool_calls', 'tool_calls'],
    ['refusal', 'content_filter'],
    ['malformed_call', 'stop'],
    ['pause', 'stop'],
    ['other', 'stop'],
  ])(verifies('chat.finish-reason.mapping', 'says of %s: %s'), (kind, reason) => {
    const answer = answerOf([{ type: 'text', text: 'x' }], kind);
    const { value } = encodeAnswer(chatCodec, answer, context());
    expect((value as any).choices[0].finish_reason).toBe(reason);
    const reasons = written(toEvents(answer)).map(({ choices }) => choices[0]?.finish_reason);
    expect(reasons.filter(Boolean)).toEqual([reason]);
  });

  it('gives calls without arguments an empty object, which clients can parse', () => {
    const bare: Part = { type: 'tool_call', id: 'a', name: 'now', arguments: '' };
    const entries = written(toEvents(answerOf([bare], 'tool_calls'))).flatMap(
      ({ choices }) => (choices[0]?.delta.tool_calls as any[]) ?? [],
    );
    expect(entries.map((entry) => entry.function.arguments)).toEqual(['', '{}']);
  });

  it('shows reasoning as text and keeps its signature so that it can be sent back', () => {
    const parts: Part[] = [
      {
        type: 'reasoning',
        text: 'thought',
        signature: { origin: 'messages', value: 'c2ln' },
      },
      {
        type: 'reasoning',
        text: '',
        signature: { origin: 'generate-content', value: 'of the call' },
        ofNext: true,
      },
      call(0),
    ];
    const answer = answerOf(parts, 'tool_calls');
    const chunks = written(toEvents(answer, [3]));
    const deltas = chunks.map(({ choices }) => choices[0]?.delta ?? {});
    expect(deltas.map((delta) => delta.reasoning_content ?? '').join('')).toBe('thought');
    const streamed = accumulate(deltas.flatMap((delta) => delta.reasoning_details ?? []));
    const whole = (encodeAnswer(chatCodec, answer, context()).value as any).choices[0].message;
    for (const details of [streamed, whole.reasoning_details]) {
      const message = {
        role: 'assistant',
        content: null,
        reasoning_details: details,
        tool_calls: whole.tool_calls,
      };
      const body = { model: 'm', messages: [message] };
      const read = decodeRequest(chatCodec, peekBody(Buffer.from(JSON.stringify(body))));
      expect(read.turns[0]?.parts).toEqual(parts);
    }
  });

  it(
    verifies(
      'translate.citations.streams',
      'tells all sources in one delta in front of the finish, as official clients add them up',
    ),
    () => {
      const cite = (part: number, citation: object): AnswerEvent =>
        ({ type: 'citation', part, citation }) as AnswerEvent;
      const chunks = written([
        { type: 'start', id: 'a-1' },
        { type: 'open', part: 0, opening: { type: 'text' } },
        { type: 'delta', part: 0, text: 'one' },
        cite(0, { url: 'https://a.example', start: 0, end: 2 }),
        { type: 'delta', part: 0, text: ' two ' },
        cite(0, { url: 'https://b.example' }),
        { type: 'close', part: 0 },
        { type: 'open', part: 1, opening: { type: 'text' } },
        { type: 'delta', part: 1, text: 'three' },
        cite(1, { url: 'https://c.example', start: 1, end: 3 }),
        { type: 'close', part: 1 },
        {
          type: 'late_citation',
          text: 0,
          citation: { url: 'https://d.example', start: 4, end: 7 },
        },
        { type: 'finish', stop: { kind: 'end' } },
        { type: 'end' },
      ]);
      const choices = chunks.map((chunk) => chunk.choices[0]);
      const at = choices.findIndex((choice) => choice?.delta.annotations);
      expect(choices.filter((choice) => choice?.delta.annotations)).toHaveLength(1);
      expect(choices[at + 1]).toMatchObject({ finish_reason: 'stop' });
      expect(
        choices[at].delta.annotations.map(({ url_citation: one }: any) => [
          one.url,
          one.start_index,
          one.end_index,
        ]),
      ).toEqual([
        ['https://a.example', 0, 2],
        ['https://b.example', 0, 8],
        ['https://c.example', 9, 11],
        ['https://d.example', 4, 7],
      ]);
    },
  );

  it('keeps no more sources than a bound, and names the loss', () => {
    const encoder = chatCodec.createEncoder(context());
    const citation = { url: 'https://a.example', quote: 'x'.repeat(600_000), start: 0, end: 1 };
    encoder.write({ type: 'start', id: 'a-1' });
    encoder.write({ type: 'open', part: 0, opening: { type: 'text' } });
    encoder.write({ type: 'citation', part: 0, citation });
    expect([...encoder.losses]).toEqual([]);
    encoder.write({ type: 'citation', part: 0, citation });
    encoder.write({ type: 'close', part: 0 });
    expect([...encoder.losses]).toEqual(['citations']);
    const last = encoder.write({ type: 'finish', stop: { kind: 'end' } })?.toString() ?? '';
    expect(last.split('https://a.example')).toHaveLength(2);
  });

  it('writes something for every piece as it comes', () => {
    const encoder = chatCodec.createEncoder(context());
    const events = toEvents(answerOf([{ type: 'text', text: 'hello' }, call(0)]), [1, 1]);
    for (const event of events) {
      const bytes = encoder.write(event);
      if (event.type === 'delta') expect(bytes?.toString()).toContain(JSON.stringify(event.text));
    }
  });
});

/** As clients do: entries of one index are one. */
function accumulate(details: readonly any[]): any[] {
  const byIndex = new Map<number, any>();
  for (const detail of details) {
    const known = byIndex.get(detail.index) ?? {};
    const text = (known.text ?? '') + (detail.text ?? '');
    byIndex.set(detail.index, { ...known, ...detail, ...(detail.text !== undefined && { text }) });
  }
  return [...byIndex.values()];
}

describe('chat streams of providers', () => {
  const piece = (index: number | undefined, fields: object): object => ({
    tool_calls: [{ index, ...fields }],
  });
  const named = (name: string, text = ''): object => ({ function: { name, arguments: text } });
  const more = (text: string): object => ({ function: { arguments: text } });
  const callsOf = (events: readonly CanonicalEvent[]): unknown =>
    collectAnswer(events).parts.map((part) =>
      part.type === 'tool_call' ? [part.id, part.name, part.arguments] : part.type,
    );

  it('reads parallel calls that are interleaved', () => {
    const events = readChunks(
      [
        piece(0, { id: 'a', ...named('one', '{"x"') }),
        piece(1, { id: 'b', ...named('two') }),
        piece(1, more('{}')),
        piece(0, more(':1}')),
      ],
      'tool_calls',
    );
    expect(callsOf(events)).toEqual([
      ['a', 'one', '{"x":1}'],
      ['b', 'two', '{}'],
    ]);
  });

  it('ends a call when it is complete and the next part begins', () => {
    const events = readChunks([
      piece(0, { id: 'a', ...named('one', '{"}":"\\"}"}') }),
      piece(1, { id: 'b', ...named('two', '{}') }),
    ]);
    const second = events.findIndex((event) => event.type === 'open' && event.part === 1);
    const closed = events.findIndex((event) => event.type === 'close' && event.part === 0);
    expect(closed).toBeGreaterThan(0);
    expect(closed).toBeLessThan(second);
  });

  it('tells calls of servers that count wrongly apart by their ids', () => {
    const events = readChunks([
      piece(0, { id: 'a', ...named('one', '{}') }),
      piece(0, { id: 'b', ...named('two', '{}') }),
      piece(undefined, { id: 'c', ...named('three') }),
      piece(undefined, more('{}')),
      piece(3, named('four', '{}')),
    ]);
    expect(callsOf(events)).toEqual([
      ['a', 'one', '{}'],
      ['b', 'two', '{}'],
      ['c', 'three', '{}'],
      ['call_3', 'four', '{}'],
    ]);
    expect(collectAnswer(events).stop.kind).toBe('tool_calls');
  });

  it('reads the spellings of reasoning that servers have', () => {
    const details = [{ type: 'reasoning.text', text: 'why', index: 0 }];
    const kinds = [
      ['{}', { reasoning_content: 'why' }],
      ['"reasoning"', { reasoning: 'why' }],
      ['"content"', { content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'why' }] }] }],
      ['{}', { reasoning: 'why', reasoning_details: details }],
    ] as const;
    for (const [value, delta] of kinds)
      expect(collectAnswer(readChunks([delta, { content: 'so' }])).parts).toEqual([
        { type: 'reasoning', text: 'why', signature: { origin: 'chat', value } },
        { type: 'text', text: 'so' },
      ]);
  });

  it('gathers the pieces of a signed entry', () => {
    const detail = (fields: object): object => ({ reasoning_details: [{ index: 0, ...fields }] });
    const [first] = collectAnswer(
      readChunks([
        detail({ type: 'reasoning.text', text: 'wh', signature: null }),
        detail({ type: 'reasoning.text', text: 'y', format: 'f' }),
        detail({ type: 'reasoning.text', signature: 's' }),
        detail({ type: 'reasoning.encrypted', data: 'd', id: 'r' }),
      ]),
    ).parts;
    expect(first).toMatchObject({ type: 'reasoning', text: 'why' });
    const { signature } = first as { signature: { value: string } };
    expect(JSON.parse(signature.value)).toEqual({
      index: 0,
      type: 'reasoning.text',
      format: 'f',
      signature: 's',
    });
  });

  it(
    verifies('chat.finish-reason.mapping', 'closes the stream at a reason that nobody knows'),
    () => {
      const events = readChunks([{ content: 'x' }], 'because');
      expect(events.slice(-2)).toEqual([
        { type: 'finish', stop: { kind: 'other', raw: 'because' } },
        { type: 'end' },
      ]);
    },
  );

  it('takes an end mark without a reason for an end only when there was an answer', () => {
    expect(readChunks([{ content: 'x' }], null).at(-1)).toEqual({ type: 'end' });
    expect(readChunks([{ role: 'assistant', content: '' }], null).at(-1)).toMatchObject({
      type: 'failure',
      failure: { kind: 'truncated' },
    });
  });

  it('leaves out a time that is none, as the first chunk of Azure has', () => {
    const decoder = chatCodec.createDecoder();
    const first = { id: '', created: 0, model: '', choices: [], prompt_filter_results: [] };
    const [frame] = framesOf(Buffer.from(`data: ${JSON.stringify(first)}\n\n`));
    expect(frame && decoder.read(frame)).toEqual([{ type: 'start', id: undefined }]);
  });

  it('tells failures as the provider words them', () => {
    const decoder = chatCodec.createDecoder();
    const error = { message: 'overloaded', type: 'server_error', code: 503 };
    const [frame] = framesOf(Buffer.from(`data: ${JSON.stringify({ error })}\n\n`));
    expect(frame && decoder.read(frame)).toEqual([
      {
        type: 'failure',
        failure: {
          kind: 'error',
          message: 'overloaded',
          code: '503',
          type: 'server_error',
          status: 503,
        },
      },
    ]);
  });

  it('fails when the connection closes in the middle of a call', () => {
    const decoder = chatCodec.createDecoder();
    const delta = piece(0, { id: 'a', ...named('one', '{"x":') });
    const chunk = { id: 'c', choices: [{ index: 0, delta }] };
    const frames = framesOf(Buffer.from(`data: ${JSON.stringify(chunk)}\n\n`));
    for (const frame of frames) decoder.read(frame);
    expect(decoder.close()).toMatchObject([{ type: 'failure', failure: { kind: 'truncated' } }]);
  });
});
