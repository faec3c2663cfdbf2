import { Buffer } from 'node:buffer';
import { describe, expect, it } from 'vitest';
import type { CanonicalAnswer } from '../../src/protocols/canonical/canonical.ts';
import type { CanonicalCodec } from '../../src/protocols/canonical/codec.ts';
import type { Protocol } from '../../src/protocols/registry.ts';

import * as odd from '../fixtures/wire/odd-streams.ts';
import { sse } from '../fixtures/wire/wire.ts';
import { fromSignatureText, TOKEN_MARK } from '../../src/protocols/canonical/reasoning-token.ts';
import { verifies } from '../requirements.ts';
import { cutEvery } from '../core/sse/cuts.ts';
import { collectAnswer, framesOf } from './codec-laws.ts';
import { replayChunks } from './replaying.ts';
import type { Replayed } from './replaying.ts';
import { CODECS } from './spoken.ts';

/** What a client gets of a provider's stream, which is the same when its bytes come in small pieces. */
function replay(replayed: Replayed, stream: string) {
  const bytes = Buffer.from(stream);
  const whole = replayChunks(replayed, [bytes]);
  for (const size of [1, 2, 7])
    expect(replayChunks(replayed, cutEvery(bytes, size))).toEqual(whole);
  return whole;
}

/** What the client understands. */
function understood(codec: CanonicalCodec, output: string): CanonicalAnswer {
  const decoder = codec.createDecoder();
  const events = framesOf(Buffer.from(output)).flatMap((frame) => decoder.read(frame));
  if (events.at(-1)?.type !== 'end') events.push(...decoder.close());
  expect(events.at(-1)).toEqual({ type: 'end' });
  return collectAnswer(events);
}

const textIn = ({ parts }: CanonicalAnswer): string =>
  parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
const callsIn = ({ parts }: CanonicalAnswer) => parts.filter((part) => part.type === 'tool_call');
const citationsIn = ({ parts }: CanonicalAnswer) =>
  parts.flatMap((part) => (part.type === 'text' ? (part.citations ?? []) : []));
const others = (provider: Protocol) => CODECS.filter(({ id }) => id !== provider);

/** The elements of a client's generate-content stream. */
function elementsOf(output: string): Record<string, unknown>[] {
  const events = output.split('\n\n').filter((event) => event !== '');
  return events.map((event) => {
    expect(event).toMatch(/^data: [^\r\n]+$/);
    return JSON.parse(event.slice('data: '.length)) as Record<string, unknown>;
  });
}

describe('an answer of Messages', () => {
  it(verifies('gencontent.stream.one-line-json', 'is one line of JSON for each event'), () => {
    const { output } = replay(
      { client: 'generate-content', provider: 'messages' },
      odd.CALL_IN_LINES,
    );
    const parts = elementsOf(output).flatMap(
      ({ candidates }) => (candidates as { content: { parts: object[] } }[])[0]?.content.parts,
    );
    const args = JSON.parse(odd.ARGUMENTS_IN_LINES) as object;
    expect(parts).toContainEqual({ functionCall: { ...odd.CALLED, args } });
  });

  it.each(CODECS)(
    verifies('messages.stream.start-with-content', 'may stand in its first event: $id'),
    (codec) => {
      const got = replay({ client: codec.id, provider: 'messages' }, odd.START_WITH_CONTENT);
      expect(got).toMatchObject({ ended: true, failure: undefined, contentSeen: true });
      const answer = understood(codec, got.output);
      expect(textIn(answer)).toBe('Let me look.');
      expect(callsIn(answer)).toMatchObject([{ name: 'look', arguments: '{"city":"Oslo"}' }]);
      expect(answer.stop.kind).toBe('tool_calls');
      expect(got.usage).toMatchObject({ input: 11, output: 1 });
    },
  );

  it.each(CODECS)(
    verifies('messages.stream.second-start', 'may begin anew before its content: $id'),
    (codec) => {
      const got = replay({ client: codec.id, provider: 'messages' }, odd.BEGUN_ANEW);
      expect(got).toMatchObject({ ended: true, failure: undefined });
      expect(got.usage).toMatchObject({ input: 11, output: 7 });
      expect(got.outputChars).toBe('All well.'.length);
      expect(got.output).not.toContain('msg_lost');
      expect(got.output.match(/event: message_start/g) ?? []).toHaveLength(
        codec.id === 'messages' ? 1 : 0,
      );
      expect(textIn(understood(codec, got.output))).toBe('All well.');
    },
  );

  it.each(CODECS)('fails when it begins anew behind its content: $id', ({ id }) => {
    const got = replay({ client: id, provider: 'messages' }, odd.SPLICED);
    expect(got).toMatchObject({ ended: false, failure: { kind: 'malformed' } });
    expect(got.output).not.toContain('All well.');
  });

  it.each(CODECS)('is told of once where its beginning comes twice: $id', (codec) => {
    const got = replay({ client: codec.id, provider: 'messages' }, odd.STARTED_TWICE);
    expect(got).toMatchObject({ ended: true, failure: undefined });
    expect(textIn(understood(codec, got.output))).toBe('All well.');
  });
});

describe('a call of generate-content', () => {
  it.each(others('generate-content'))(
    verifies('gencontent.stream.partial-args', 'is one when its arguments are streamed: $id'),
    (codec) => {
      const got = replay({ client: codec.id, provider: 'generate-content' }, odd.PARTIAL_ARGUMENTS);
      const answer = understood(codec, got.output);
      const calls = callsIn(answer);
      expect(calls.map(({ name }) => name)).toEqual(['look', 'list']);
      expect(JSON.parse(calls[0]?.arguments ?? '')).toEqual(odd.JOINED_ARGUMENTS);
      expect(answer.stop.kind).toBe('tool_calls');
    },
  );

  it('is as far as it came when the stream ends in it', () => {
    const cut = odd.PARTIAL_ARGUMENTS.split('\n\n').toSpliced(3, 2).join('\n\n');
    const { output } = replay({ client: 'chat', provider: 'generate-content' }, cut);
    const codec = others('generate-content').find(({ id }) => id === 'chat') as CanonicalCodec;
    expect(JSON.parse(callsIn(understood(codec, output))[0]?.arguments ?? '')).toEqual(
      odd.JOINED_ARGUMENTS,
    );
  });

  it.each(others('generate-content'))(
    verifies('gencontent.stream.partial-args', 'is one beside an unknown reason to end: $id'),
    (codec) => {
      const got = replay({ client: codec.id, provider: 'generate-content' }, odd.CALL_WITH_ODD_END);
      expect(understood(codec, got.output).stop.kind).toBe('tool_calls');
    },
  );

  it.each(others('generate-content'))(
    verifies('translate.signatures.dropped-parts', 'keeps its own signature alone: $id'),
    ({ id }) => {
      const { output } = replay({ client: id, provider: 'generate-content' }, odd.SIGNED_OWN_PARTS);
      const tokens = output.match(new RegExp(`${TOKEN_MARK}[\\w+/=]+`, 'g')) ?? [];
      const signatures = tokens.map((token) => fromSignatureText(token, id).value);
      expect([...new Set(signatures)]).toEqual([odd.KEPT_SIGNATURE]);
    },
  );
});

describe('a picture in a stream of generate-content', () => {
  const chunk = (...parts: object[]) =>
    sse({ candidates: [{ content: { role: 'model', parts } }] });
  const stream =
    chunk({ text: 'here' }) +
    chunk({ inlineData: { mimeType: 'image/png', data: 'aGk=' } }) +
    sse({ candidates: [{ finishReason: 'STOP' }] });

  it('is an item of Responses as in a whole answer', () => {
    const { output } = replay({ client: 'responses', provider: 'generate-content' }, stream);
    const events = framesOf(Buffer.from(output)).map(({ data = '' }) => JSON.parse(data));
    const [added, done] = events.filter(({ item }) => item?.type === 'image_generation_call');
    expect([added.type, done.type]).toEqual([
      'response.output_item.added',
      'response.output_item.done',
    ]);
    const { output: items } = events.at(-1).response;
    expect(items.map(({ type }: { type: string }) => type)).toEqual([
      'message',
      'image_generation_call',
    ]);
    expect(items[1]).toMatchObject({ result: 'aGk=', output_format: 'png', status: 'completed' });
  });

  it.each(['chat', 'messages'] as const)('is left out for clients of %s', (client) => {
    const { output } = replay({ client, provider: 'generate-content' }, stream);
    expect(output).toContain('here');
    expect(output).not.toMatch(/aGk=|"image"/);
  });
});

describe('sources in a stream', () => {
  it.each(others('generate-content'))(
    verifies('translate.citations.streams', 'survive an empty signed part at the end: $id'),
    (codec) => {
      const got = replay(
        { client: codec.id, provider: 'generate-content' },
        odd.GROUNDED_BEHIND_SIGNATURE,
      );
      const answer = understood(codec, got.output);
      expect(textIn(answer)).toBe('Så er det.');
      expect(citationsIn(answer)).toMatchObject([
        { url: odd.PAGES[0], title: 'A page', start: 0, end: 2 },
        { url: odd.PAGES[1], title: 'A page', start: 3, end: 10 },
      ]);
    },
  );

  it.each(others('chat'))(
    verifies('translate.citations.streams', 'survive in front of the text: $id'),
    (codec) => {
      const got = replay({ client: codec.id, provider: 'chat' }, odd.ANNOTATED_FIRST);
      expect(citationsIn(understood(codec, got.output))).toMatchObject([
        { url: odd.PAGES[0], title: 'A page', start: 0, end: 2 },
        { url: odd.PAGES[1], title: 'A page', start: 1, end: 3 },
      ]);
    },
  );

  it.each(others('generate-content'))(
    verifies('translate.citations.streams', 'find their text from the end of it: $id'),
    (codec) => {
      const got = replay(
        { client: codec.id, provider: 'generate-content' },
        odd.GROUNDED_AT_THE_END,
      );
      const answer = understood(codec, got.output);
      expect(citationsIn(answer).map(({ url }) => url)).toEqual(odd.PAGES);
      const texts = answer.parts.flatMap((part) => (part.type === 'text' ? [part] : []));
      expect(texts).toMatchObject([
        { citations: [{ start: 0, end: 2 }] },
        { citations: [{ start: 3, end: 5 }] },
      ]);
    },
  );

  it(
    verifies('translate.citations.streams', 'are one grounding at the end, by their places'),
    () => {
      const { output } = replay(
        { client: 'generate-content', provider: 'messages' },
        odd.CITED_TWICE,
      );
      const told = elementsOf(output).flatMap(({ candidates }) => {
        const [one] = candidates as Record<string, unknown>[];
        return one?.['groundingMetadata'] ? [one] : [];
      });
      expect(told).toMatchObject([
        {
          finishReason: 'STOP',
          groundingMetadata: {
            groundingChunks: odd.PAGES.map((uri) => ({ web: { uri } })),
            groundingSupports: [
              { segment: { partIndex: 1, text: 'so it is' }, groundingChunkIndices: [0] },
              { segment: { partIndex: 3, text: 'so it is' }, groundingChunkIndices: [1] },
            ],
          },
        },
      ]);
    },
  );
});

describe('usage in a chat stream', () => {
  it.each([
    ['chat', odd.UNCOUNTED_CHAT],
    ['messages', odd.UNCOUNTED_MESSAGE],
  ] as const)(
    verifies('chat.stream.include-usage.uncounted', 'is told to who asked for it, by %s'),
    (provider, stream) => {
      const got = replay({ client: 'chat', provider, keepUsage: true }, stream);
      const [usage, done] = got.output.split('\n\n').slice(-3);
      expect(JSON.parse(usage?.slice('data: '.length) ?? '')).toMatchObject({
        id: provider === 'chat' ? 'chatcmpl-1' : 'msg_1',
        object: 'chat.completion.chunk',
        choices: [],
        usage: { prompt_tokens: 21, completion_tokens: 2, total_tokens: 23 },
      });
      expect(done).toBe('data: [DONE]');
      // So the record says that it is an estimate.
      expect(got.usage).toBeUndefined();
      expect(replay({ client: 'chat', provider }, stream).output).not.toContain('"usage"');
    },
  );
});

describe('a stream that is forwarded', () => {
  const FRAMINGS: readonly ((stream: string) => string)[] = [
    (stream) => stream.replaceAll('\n', '\r\n'),
    (stream) => stream.replaceAll('\n', '\r'),
    (stream) => stream.replaceAll(/^(data|event): /gm, '$1:'),
    (stream) => stream.replaceAll(/^(data|event): /gm, '$1:  ').replaceAll(/(?<=^event:) +/gm, ''),
    (stream) => `: busy\n\n${stream.replaceAll('\n\n', '\n\n\n: busy\n\n')}`,
    (stream) => stream.replaceAll(/^data: /gm, 'id: 7\nretry: 10\nx: y\ndata: '),
  ];
  const STREAMS = [
    ['chat', odd.UNCOUNTED_CHAT],
    ['messages', odd.START_WITH_CONTENT],
    ['generate-content', odd.GROUNDED_BEHIND_SIGNATURE],
  ] as const;

  it.each(STREAMS)(
    verifies('stream.forwarded.framing', 'keeps its bytes however they are framed: %s'),
    (id, stream) => {
      for (const [index, framed] of FRAMINGS.map((frame) => frame(stream)).entries()) {
        // Official clients of generate-content take events of one bare line alone.
        if (id === 'generate-content' && index === 5) continue;
        const got = replay({ client: id, provider: id }, framed);
        expect(got).toMatchObject({ ended: true, failure: undefined });
        // Nothing stands behind the marker of the end.
        const end = id === 'generate-content' ? '' : framed.slice(got.output.length);
        expect(got.output + end).toBe(framed);
        expect(end.replaceAll(/[\r\n]|: busy/g, '')).toBe('');
      }
    },
  );
});

describe('a stream without an answer', () => {
  it.each(CODECS)(
    verifies('usage.discarded-answer', 'is none to any client, and tells its usage: $id'),
    ({ id: provider }) => {
      for (const { id } of CODECS) {
        const got = replay({ client: id, provider }, odd.NO_ANSWER_STREAMS[provider as 'chat']);
        expect(got).toMatchObject({ contentSeen: false, ended: false, output: '' });
        expect(got.failure).toBeDefined();
        expect(got.usage).toMatchObject({ input: 5, output: 3 });
      }
    },
  );
});
