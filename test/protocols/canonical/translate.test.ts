import { Buffer } from 'node:buffer';
import { describe, expect, it } from 'vitest';
import { formatSse } from '../../../src/core/sse/frame.ts';
import type { StreamDecoder, StreamEncoder } from '../../../src/protocols/canonical/codec.ts';
import type { CanonicalEvent } from '../../../src/protocols/canonical/stream.ts';
import { chatCodec } from '../../../src/protocols/chat/codec/chat-codec.ts';
import { peekChat } from '../../../src/protocols/chat/chat-request.ts';
import type { Feature } from '../../../src/protocols/features.ts';
import { messagesCodec } from '../../../src/protocols/messages/codec/messages-codec.ts';
import { pairLosses } from '../../../src/protocols/canonical/pair-losses.ts';
import { translateBetween } from '../../../src/protocols/canonical/translate.ts';
import { TranslatedStream } from '../../../src/protocols/canonical/translated-stream.ts';
import { UniqueIds } from '../../../src/protocols/canonical/unique-ids.ts';
import { verifies } from '../../requirements.ts';
import { ANSWER, encodeOptions, atOnce } from '../../support/protocols.ts';

const wire = translateBetween(chatCodec, messagesCodec);

function peek(fields: object = {}) {
  const body = { model: 'acme/one', messages: [{ role: 'user', content: 'hello' }], ...fields };
  return peekChat(Buffer.from(JSON.stringify(body)));
}

/** A stream whose provider says `events`, all of them for its first frame. */
function streamOf(events: readonly CanonicalEvent[], losses: readonly Feature[] = []) {
  const decoder: StreamDecoder = { read: () => events, close: () => [] };
  const encoder: StreamEncoder = {
    write: (event) => Buffer.from(`${event.type} `),
    losses: new Set(losses),
  };
  const fields = { citations: 'annotations', builtin_tools: 'annotations' };
  return new TranslatedStream({
    decoder,
    createEncoder: () => encoder,
    provider: { protocol: 'messages', account: 'prov_test', vendor: 'acme' },
    client: chatCodec,
    createIds: () => new UniqueIds([], 'req-1'),
    fields,
  });
}

const FRAME = formatSse({ data: '{}' });
const START: CanonicalEvent = { type: 'start', id: 'a' };
const END: CanonicalEvent = { type: 'end' };
const FINISH: CanonicalEvent = { type: 'finish', stop: { kind: 'end' } };
const open = (part: number): CanonicalEvent => ({ type: 'open', part, opening: { type: 'text' } });
const delta = (part: number, text: string): CanonicalEvent => ({ type: 'delta', part, text });

describe('a translated request', () => {
  it(
    verifies(
      'routing.translation.pairs',
      "tells each loss once, in the client's words, what nobody knows among them",
    ),
    () => {
      const options = encodeOptions();
      wire.encode(
        peek({ seed: 7, logit_bias: {}, response_format: { type: 'json_object' } }),
        options,
      );
      expect(options.losses).toEqual(['logit_bias', 'seed', 'response_format']);
    },
  );

  it(
    verifies('routing.body.byte-faithful', 'comes in a fixed order, whatever order the client has'),
    () => {
      const messages = [{ role: 'user', content: 'hello' }];
      const tools = [{ type: 'function', function: { name: 'look', parameters: {} } }];
      const one = { model: 'm', tools, messages, temperature: 0.5, top_p: 0.9 };
      const other = { top_p: 0.9, temperature: 0.5, messages, tools, model: 'm' };
      const bytes = [one, other].map((body) =>
        wire.encode(peekChat(Buffer.from(JSON.stringify(body))), encodeOptions()).toString(),
      );
      expect(bytes[0]).toBe(bytes[1]);
      const keys = Object.keys(JSON.parse(bytes[0] as string) as object);
      expect(keys.indexOf('tools')).toBeLessThan(keys.indexOf('messages'));
    },
  );

  it('gets the quirks of its provider', () => {
    const quirks = { rename: { max_tokens: 'limit' }, drop: ['temperature'], default: { a: 1 } };
    const body = wire.encode(peek({ max_tokens: 5, temperature: 0 }), encodeOptions({ quirks }));
    const sent = JSON.parse(body.toString()) as object;
    expect(sent).toMatchObject({ limit: 5, a: 1 });
    expect(sent).not.toHaveProperty('temperature');
  });

  it('is measured by the limit of the model where the client gave none', () => {
    const body = wire.encode(peek(), encodeOptions({ defaultMaxTokens: 321 }));
    expect(JSON.parse(body.toString())).toMatchObject({ model: 'up', max_tokens: 321 });
  });
});

describe('a translated answer', () => {
  const answer = (input: string): Buffer =>
    Buffer.from(
      `{"id":"m","type":"message","role":"assistant","content":[{"type":"tool_use","id":"t","name":"look","input":${input}}],"stop_reason":"tool_use","usage":{"input_tokens":3,"output_tokens":2}}`,
    );

  it('counts what was generated, and what was told of it', () => {
    const read = atOnce(wire.readAnswer(answer('{"a":1.0}'), peek(), ANSWER));
    expect(read).toMatchObject({
      outputChars: '{"a":1.0}'.length,
      losses: [],
      usage: { input: 3, output: 2 },
    });
    expect(String(read?.body)).toContain(JSON.stringify('{"a":1.0}'));
  });

  it('of some length is read in steps, with turns for others between them', async () => {
    // Some tens of milliseconds of work, in turns of two.
    const text = 'x\\u0041"'.repeat(1_000_000);
    const body = answer(JSON.stringify({ text }));
    const turns = { others: 0 };
    const other = (): void => void (turns.others++, setImmediate(other).unref());
    setImmediate(other);
    const read = wire.readAnswer(body, peek(), ANSWER);
    expect(read).toBeInstanceOf(Promise);
    expect((await read)?.outputChars).toBeGreaterThan(text.length);
    expect(turns.others).toBeGreaterThanOrEqual(2);
  });

  it('is refused when it is none, or nested too deeply to be written again', async () => {
    expect(
      atOnce(wire.readAnswer(Buffer.from('{"type":"error"}'), peek(), ANSWER)),
    ).toBeUndefined();
    const deep = `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`;
    const chat = Buffer.from(
      `{"choices":[{"message":{"tool_calls":[{"function":{"name":"look","arguments":${deep}}}]}}]}`,
    );
    const back = translateBetween(messagesCodec, chatCodec);
    const client = { ...peek(), value: { max_tokens: 5 } };
    expect(await back.readAnswer(chat, client, ANSWER)).toBeUndefined();
    const stream = back.createStream?.({ ...ANSWER, peek: client });
    stream?.push(formatSse({ data: chat.toString().replace('"message"', '"delta"') }));
    expect(stream?.failure?.kind).toBe('malformed');
  });
});

describe('a translated stream', () => {
  it('commits to text, not to the frame around it', () => {
    const quiet = streamOf([START, open(0), delta(0, '')]);
    expect(quiet.push(FRAME)).toBeUndefined();
    expect(quiet.contentSeen).toBe(false);
    const telling = streamOf([START, open(0), delta(0, 'hello')]);
    telling.push(FRAME);
    expect(telling).toMatchObject({ contentSeen: true, outputChars: 5, ended: false });
  });

  it('takes an end without an answer for a broken one', () => {
    const empty = streamOf([START, END]);
    empty.push(FRAME);
    expect(empty).toMatchObject({ ended: false, failure: { kind: 'truncated' } });
    const finished = streamOf([START, FINISH, END]);
    finished.push(FRAME);
    expect(finished).toMatchObject({ ended: true, failure: undefined });
  });

  it('hands out what stood in front of a failure, and nothing behind it', () => {
    const failure = { kind: 'error' as const, message: 'overloaded' };
    const stream = streamOf([
      START,
      open(0),
      delta(0, 'x'),
      { type: 'failure', failure },
      delta(0, 'y'),
    ]);
    expect(stream.push(FRAME)?.toString()).toBe('start open delta ');
    expect(stream.failure).toEqual(failure);
    expect(stream.push(FRAME)).toBeUndefined();
  });

  it('is broken when the connection closes in front of its end', () => {
    const stream = streamOf([START, open(0), delta(0, 'x')]);
    stream.push(FRAME);
    stream.end();
    expect(stream.failure?.kind).toBe('truncated');
  });

  it('gives up when more is mixed than may be held', () => {
    const piece = 'x'.repeat(1024 * 1024);
    const mixed = Array.from({ length: 9 }, () => delta(1, piece));
    const stream = streamOf([START, open(0), open(1), ...mixed]);
    stream.push(FRAME);
    expect(stream.failure?.kind).toBe('too_large');
  });

  it("names each loss once, in the client's words", () => {
    expect(streamOf([], ['citations', 'builtin_tools', 'images']).losses).toEqual([
      'annotations',
      'images',
    ]);
  });
});

describe('pairLosses', () => {
  it('tells what clients of one protocol lose with providers of another', () => {
    const lost = pairLosses(chatCodec, messagesCodec);
    const features = lost.map(({ feature }) => feature);
    expect(lost).toContainEqual({ feature: 'seed', field: 'seed' });
    expect(lost).toContainEqual({ feature: 'metadata', field: 'metadata' });
    expect(features).toContain('choices');
    expect(features).not.toContain('tool_choice');
    expect(features).not.toContain('cache_control');
    expect(features).toEqual(features.toSorted((a, b) => (a < b ? -1 : 1)));
  });
});
