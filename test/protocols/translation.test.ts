import { Buffer } from 'node:buffer';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../src/core/errors.ts';
import { formatSse } from '../../src/core/sse/frame.ts';
import { UNKNOWN } from '../../src/protocols/capabilities/capabilities-of.ts';
import type { AnswerContext } from '../../src/protocols/canonical/codec.ts';
import type {
  CanonicalAnswer,
  CanonicalRequest,
  Part,
  ToolCallPart,
} from '../../src/protocols/canonical/canonical.ts';
import type { Feature, FeatureFields } from '../../src/protocols/features.ts';
import { pairLosses } from '../../src/protocols/canonical/pair-losses.ts';
import type { RequestPeek, StreamReader } from '../../src/protocols/protocol.ts';
import { translateBetween } from '../../src/protocols/canonical/translate.ts';
import { verifies } from '../requirements.ts';
import { runsOf } from '../runs.ts';
import {
  answerArbitrary,
  FEATURE_SAMPLES,
  PLAIN_REQUEST,
  requestArbitrary,
} from './canonical-arbitraries.ts';
import { collectAnswer, framesOf, peekBody, toEvents, toText } from './codec-laws.ts';
import { mutatedFrames, mutatedJson } from './mutations.ts';
import { PAIRS, ROWS } from './translation-rows.ts';
import type { TranslationRow } from './translation-rows.ts';
import {
  atOnce,
  decodeAnswer,
  encodeAnswer,
  decodeRequest,
  encodeRequest,
} from '../support/protocols.ts';

const RUNS = { numRuns: runsOf(10, 60) };
const ANSWER_OPTIONS = {
  account: 'prov_test',
  vendor: 'acme',
  id: 'req-1',
  created: 1_700_000_000,
  logicalModel: undefined,
};

const encodeOptions = (losses: string[]) => ({
  model: 'up',
  askUsage: true,
  defaultMaxTokens: 4096,
  account: 'prov_test',
  vendor: 'acme',
  capabilities: UNKNOWN,
  losses,
});

/** A request of a client in its protocol's bytes. */
function ask({ codec, peek }: TranslationRow, request: CanonicalRequest): RequestPeek {
  const { value } = encodeRequest(codec, request, { ...encodeOptions([]), model: 'acme/one' });
  return peek(Buffer.from(toText(value)), request.stream);
}

function contextOf(keepUsage = true): AnswerContext {
  return { model: 'up', keepUsage, ...ANSWER_OPTIONS, peek: peekBody(Buffer.from('{}')) };
}

function wholeAnswer({ codec }: TranslationRow, answer: CanonicalAnswer): Buffer {
  return Buffer.from(toText(encodeAnswer(codec, answer, contextOf()).value));
}

/** A provider's stream, one chunk of bytes for every event that shows something. */
function chunksOf({ codec }: TranslationRow, answer: CanonicalAnswer, cuts: number[]): Buffer[] {
  const encoder = codec.createEncoder(contextOf());
  return toEvents(answer, cuts).flatMap((event) => encoder.write(event) ?? []);
}

function readAll({ codec }: TranslationRow, bytes: Buffer): CanonicalAnswer {
  const decoder = codec.createDecoder();
  const events = framesOf(bytes).flatMap((frame) => decoder.read(frame));
  const isOver = events.some(({ type }) => type === 'end' || type === 'failure');
  if (!isOver) events.push(...decoder.close());
  expect(events.at(-1)?.type).toBe('end');
  return collectAnswer(events);
}

/** What both protocols can say and neither refuses to translate. */
function both(a: TranslationRow, b: TranslationRow): FeatureFields {
  const refused = [...a.refused, ...b.refused];
  return Object.fromEntries(
    Object.entries(a.codec.features).filter(
      ([name]) => name in b.codec.features && !refused.includes(name as Feature),
    ),
  );
}

/** What protocols mean by leaving it out, or have no word for although nothing is lost. */
function alike({ output, reasoning, toolChoice, ...request }: CanonicalRequest): object {
  return {
    ...request,
    toolChoice: toolChoice ?? 'auto',
    tools: request.tools.map((tool) => ({ strict: false, ...tool })),
    ...(reasoning && { effort: reasoning.effort }),
    ...(output && { output: output.type === 'json' ? 'json' : output.schema }),
    turns: request.turns.map((turn) => ({ ...turn, parts: turn.parts.map(withoutNames) })),
  };
}

/** Results are named, files called and addresses typed in some protocols only. */
function withoutNames(part: Part): object {
  if (part.type === 'image' && part.source.type === 'url')
    return { ...part, source: { url: part.source.url } };
  if (part.type !== 'tool_result' && part.type !== 'document') return part;
  const { name: _name, ...rest } = part;
  return rest;
}

/** What was said; signatures of another protocol have a test of their own. */
function said({ parts, stop, usage }: CanonicalAnswer): object {
  const { raw: _raw, ...counts } = usage ?? {};
  const plain = parts.map((part) =>
    part.type === 'reasoning' ? { type: part.type, text: part.text } : part,
  );
  return { parts: plain, stop: stop.kind, ...counts };
}

const CALL: ToolCallPart = {
  type: 'tool_call',
  id: 'call_0',
  name: 'look',
  arguments: '{"city":"Z\\u00fcrich","n":1.0,"big":1152921504606846977}',
};

const answerWith = (...parts: readonly Part[]): CanonicalAnswer => ({
  id: 'answer-1',
  created: 1_700_000_000,
  parts,
  stop: { kind: parts.some(({ type }) => type === 'tool_call') ? 'tool_calls' : 'end' },
  usage: {
    input: 7,
    output: 5,
    reasoning: 0,
    cacheRead: 2,
    cacheWrite5m: 0,
    cacheWrite1h: 0,
    images: 0,
    seconds: 0,
  },
});

/** What the provider gets back when the client goes on behind its answer. */
function replayed(
  client: TranslationRow,
  provider: TranslationRow,
  answer: CanonicalAnswer,
): readonly Part[] {
  const wire = translateBetween(client.codec, provider.codec);
  const peek = ask(client, PLAIN_REQUEST);
  const translated = atOnce(wire.readAnswer(wholeAnswer(provider, answer), peek, ANSWER_OPTIONS));
  const body = Buffer.from(JSON.stringify(client.replay(JSON.parse(String(translated?.body)))));
  const losses: string[] = [];
  const next = wire.encode(client.peek(body, false), encodeOptions(losses)) as Buffer;
  expect(losses).toEqual([]);
  const { turns } = decodeRequest(provider.codec, provider.peek(next, false));
  return turns.find(({ role }) => role === 'assistant')?.parts ?? [];
}

describe.each(PAIRS)('%s', (_name, client, provider) => {
  const wire = translateBetween(client.codec, provider.codec);
  const back = translateBetween(provider.codec, client.codec);
  const streamFor = (peek: RequestPeek): StreamReader =>
    wire.createStream?.({ ...ANSWER_OPTIONS, peek }) as StreamReader;

  // What some protocols require is there although nobody asked for it.
  const given = new Set(
    [client, provider].flatMap(({ codec }) => [
      codec.features.schema_name,
      codec.features.document_names,
    ]),
  );

  it(verifies('routing.translation.pairs', 'brings a request there and back unchanged'), () => {
    const shape = { features: both(client, provider) };
    fc.assert(
      fc.property(requestArbitrary(shape), (request) => {
        const losses: string[] = [];
        const there = wire.encode(ask(client, request), encodeOptions(losses)) as Buffer;
        const peek = provider.peek(there, request.stream);
        const again = back.encode(peek, encodeOptions(losses)) as Buffer;
        expect(losses.filter((name) => !given.has(name))).toEqual([]);
        const decoded = decodeRequest(client.codec, client.peek(again, request.stream));
        expect(alike(decoded)).toEqual(alike(request));
      }),
      RUNS,
    );
  });

  it(
    verifies(
      'routing.translation.pairs',
      "names what is lost in the client's words, and loses no more",
    ),
    () => {
      const lost = new Map(
        pairLosses(client.codec, provider.codec).map(({ feature, field }) => [feature, field]),
      );
      for (const [name, sample] of Object.entries(FEATURE_SAMPLES)) {
        const feature = name as Feature;
        if (!(feature in client.codec.features) || client.refused.includes(feature)) continue;
        const losses: string[] = [];
        wire.encode(ask(client, sample(PLAIN_REQUEST)), encodeOptions(losses));
        const field = lost.get(feature);
        const told = losses.filter((name) => name === field || !given.has(name));
        expect(told, feature).toEqual(field === undefined ? [] : [field]);
      }
    },
  );

  it(verifies('routing.translation.pairs', 'brings an answer to the client unchanged'), () => {
    const shape = { features: both(client, provider) };
    fc.assert(
      fc.property(answerArbitrary(shape), (answer) => {
        const peek = ask(client, PLAIN_REQUEST);
        const translated = atOnce(
          wire.readAnswer(wholeAnswer(provider, answer), peek, ANSWER_OPTIONS),
        );
        expect(translated?.losses).toEqual([]);
        expect(translated?.usage).toMatchObject({ output: answer.usage?.output });
        const decoded = decodeAnswer(client.codec, String(translated?.body));
        expect(said(decoded as CanonicalAnswer)).toEqual(said(answer));
      }),
      RUNS,
    );
  });

  it(verifies('routing.translation.pairs', 'streams what it answers at once'), () => {
    const shape = { features: both(client, provider) };
    fc.assert(
      fc.property(
        answerArbitrary(shape),
        fc.array(fc.integer({ min: 1, max: 5 })),
        fc.integer({ min: 1, max: 300 }),
        (answer, cuts, size) => {
          const reader = streamFor(ask(client, { ...PLAIN_REQUEST, stream: true }));
          const bytes = Buffer.concat(chunksOf(provider, answer, cuts));
          const out: Buffer[] = [];
          for (let at = 0; at < bytes.length; at += size)
            out.push(reader.push(bytes.subarray(at, at + size)) ?? Buffer.alloc(0));
          out.push(reader.end() ?? Buffer.alloc(0));
          expect(reader.failure).toBeUndefined();
          expect(reader.ended).toBe(true);
          expect(reader.losses).toEqual([]);
          expect(reader.usage).toMatchObject({ output: answer.usage?.output });
          expect(said(readAll(client, Buffer.concat(out)))).toEqual(said(answer));
        },
      ),
      RUNS,
    );
  });

  it('gives reasoning back to the provider that signed it, byte for byte', () => {
    for (const reasoning of provider.reasoning) {
      const answer = answerWith(reasoning, { type: 'text', text: 'fine' }, CALL);
      const parts = replayed(client, provider, answer);
      expect(parts.filter(({ type }) => type === 'reasoning')).toEqual([reasoning]);
    }
  });

  it("keeps a client's own reasoning from a provider that did not sign it", () => {
    for (const reasoning of client.reasoning) {
      const parts: Part[] = [
        { ...reasoning, text: reasoning.text && 'secret thought' },
        { type: 'text', text: 'fine' },
      ];
      const turns = [
        ...PLAIN_REQUEST.turns,
        { role: 'assistant' as const, parts },
        ...PLAIN_REQUEST.turns,
      ];
      const losses: string[] = [];
      const peek = ask(client, { ...PLAIN_REQUEST, turns });
      const there = wire.encode(peek, encodeOptions(losses)).toString();
      expect(there).not.toContain('secret thought');
      expect(losses).toEqual([client.codec.features.reasoning_signatures]);
    }
  });

  it('throws nothing but errors of the gateway at requests that are broken', () => {
    const texts = requestArbitrary({ features: client.codec.features })
      .map((request) => ask(client, request).body.toString())
      .chain(mutatedJson);
    fc.assert(
      fc.property(texts, (text) => {
        try {
          wire.encode(client.peek(Buffer.from(text), false), encodeOptions([]));
        } catch (thrown) {
          expect(thrown).toBeInstanceOf(GatewayError);
        }
      }),
      RUNS,
    );
  });

  it('throws nothing at answers and streams that are broken', () => {
    const peek = ask(client, { ...PLAIN_REQUEST, stream: true });
    const broken = answerArbitrary({ features: provider.codec.features }).chain((answer) =>
      fc.tuple(
        mutatedJson(wholeAnswer(provider, answer).toString()),
        mutatedFrames(framesOf(Buffer.concat(chunksOf(provider, answer, [2])))),
      ),
    );
    fc.assert(
      fc.property(broken, ([text, bytes]) => {
        atOnce(wire.readAnswer(Buffer.from(text), peek, ANSWER_OPTIONS));
        const reader = streamFor(peek);
        reader.push(bytes);
        reader.end();
        expect(reader.ended).toBe(reader.failure === undefined);
      }),
      RUNS,
    );
  });

  it('never ends tidily when it is cut in the middle of a call', () => {
    const answer = answerWith({ type: 'text', text: 'let me see' }, CALL);
    const chunks = chunksOf(provider, answer, [4, 4, 4]);
    const whole = Buffer.concat(chunks);
    const cut = whole.lastIndexOf('1152921504606846977');
    const at = cut < 0 ? whole.length - 200 : cut;
    const reader = streamFor(ask(client, { ...PLAIN_REQUEST, stream: true }));
    const out = [reader.push(whole.subarray(0, at)), reader.end()].flatMap((one) => one ?? []);
    expect(reader.failure?.kind).toMatch(/truncated|malformed/);
    expect(reader.ended).toBe(false);
    const decoder = client.codec.createDecoder();
    const events = framesOf(Buffer.concat(out)).flatMap((frame) => decoder.read(frame));
    expect([...events, ...decoder.close()].at(-1)?.type).toBe('failure');
  });
});

describe('a provider that signs its calls', () => {
  const provider = ROWS.find(({ id }) => id === 'generate-content') as TranslationRow;
  const others = ROWS.filter((one) => one !== provider);

  it.each(others.map((one) => [one.id, one] as const))(
    verifies('routing.translation.pairs', 'gets each signature back with its call from %s'),
    (_id, client) => {
      const signed = (value: string): Part => ({
        type: 'reasoning',
        text: '',
        signature: { origin: 'generate-content', value },
        ofNext: true,
      });
      // Clients parse the input of Messages and write it anew.
      const call = { ...CALL, arguments: '{"city":"Oslo"}' };
      const answer = answerWith(
        { type: 'text', text: 'let me see' },
        signed('c2lnMQ=='),
        call,
        signed('c2lnMg=='),
        { ...call, id: 'call_1', name: 'hear' },
      );
      expect(replayed(client, provider, answer)).toEqual(answer.parts);
    },
  );
});

describe('a provider that mixes parallel calls', () => {
  const provider = ROWS.find(({ id }) => id === 'chat') as TranslationRow;
  const frame = (delta: object, finish: string | null = null): Buffer =>
    formatSse({
      data: JSON.stringify({
        id: 'c-1',
        choices: [{ index: 0, delta, finish_reason: finish }],
      }),
    });
  const piece = (index: number, text: string, name?: string): Buffer =>
    frame({
      tool_calls: [
        {
          index,
          ...(name !== undefined && { id: `call_${index}` }),
          function: { ...(name !== undefined && { name }), arguments: text },
        },
      ],
    });

  it.each(ROWS.filter((one) => one !== provider).map((one) => [one.id, one] as const))(
    verifies('routing.translation.pairs', 'is told to clients of %s call by call'),
    (_id, client) => {
      const wire = translateBetween(client.codec, provider.codec);
      const peek = ask(client, { ...PLAIN_REQUEST, stream: true });
      const reader = wire.createStream?.({ ...ANSWER_OPTIONS, peek }) as StreamReader;
      const chunks = [
        piece(0, '{"a"', 'one'),
        piece(1, '', 'two'),
        piece(2, '{"c":', 'three'),
        piece(1, '{"b":2}'),
        piece(0, ':1.0}'),
        piece(2, '3}'),
        frame({}, 'tool_calls'),
        formatSse({ data: '[DONE]' }),
      ];
      const out = chunks.flatMap((bytes) => reader.push(bytes) ?? []);
      const { parts, stop } = readAll(client, Buffer.concat(out));
      expect(stop.kind).toBe('tool_calls');
      expect(parts).toEqual([
        { type: 'tool_call', id: 'call_0', name: 'one', arguments: '{"a":1.0}' },
        { type: 'tool_call', id: 'call_1', name: 'two', arguments: '{"b":2}' },
        { type: 'tool_call', id: 'call_2', name: 'three', arguments: '{"c":3}' },
      ]);
    },
  );
});
