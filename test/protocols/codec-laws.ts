import { Buffer } from 'node:buffer';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../src/core/errors.ts';
import { RawJson, stringifyWithRaw } from '../../src/core/json/raw.ts';
import { scanJson } from '../../src/core/json/json-document.ts';
import type { SseFrame } from '../../src/core/sse/frame.ts';
import { createSseFramer } from '../../src/core/sse/sse.ts';
import { UNKNOWN } from '../../src/protocols/capabilities/capabilities-of.ts';
import type { AnswerContext, CanonicalCodec } from '../../src/protocols/canonical/codec.ts';
import type { AnswerEvent, CanonicalEvent } from '../../src/protocols/canonical/stream.ts';
import type {
  CanonicalAnswer,
  CanonicalRequest,
  JsonToSend,
  Part,
} from '../../src/protocols/canonical/canonical.ts';
import type { Feature } from '../../src/protocols/features.ts';
import { InSequence } from '../../src/protocols/in-sequence.ts';
import type { RequestPeek } from '../../src/protocols/protocol.ts';
import {
  answerArbitrary,
  FEATURE_SAMPLES,
  PLAIN_REQUEST,
  requestArbitrary,
} from './canonical-arbitraries.ts';
import type { CanonicalShape } from './canonical-arbitraries.ts';
import { mutatedFrames, mutatedJson } from './mutations.ts';
import { waysToCut } from '../core/sse/cuts.ts';
import { decodeAnswer, encodeAnswer, decodeRequest, encodeRequest } from '../support/protocols.ts';
import { runsOf } from '../runs.ts';

/** Cases of each law. */
const RUNS = runsOf(60, 200);

/**
 * Each protocol has its own of these, so another's is lost for what it is, not because the protocol
 * has none.
 */
const LOST_BY_ORIGIN: ReadonlySet<Feature> = new Set(['builtin_tools', 'reasoning_signatures']);

export interface CodecLawOptions extends Omit<CanonicalShape, 'features'> {
  /**
   * A request as the protocol's own `peek` reads it.
   *
   * @param stream for protocols whose address says it
   */
  peek?: (body: Buffer, stream: boolean) => RequestPeek;
  /** What is the same to the protocol, applied to both sides of a comparison. */
  normalizeRequest?: (request: CanonicalRequest) => CanonicalRequest;
  normalizeAnswer?: (answer: CanonicalAnswer) => CanonicalAnswer;
}

/**
 * The laws of every codec: there and back is identity for what the protocol can say, what it cannot say
 * is declared, streams say what whole answers say, and no input makes it throw.
 */
export function testCodecLaws(codec: CanonicalCodec, options: CodecLawOptions = {}): void {
  const { normalizeRequest = same, normalizeAnswer = same } = options;
  const shape: CanonicalShape = { ...options, features: codec.features };
  const laws = lawsOf(codec, options.peek ?? peekBody);
  const check = (property: fc.IProperty<unknown> | fc.IPropertyWithHooks<never>): void =>
    fc.assert(property as fc.IProperty<unknown>, { numRuns: RUNS });

  describe(`${codec.id} codec laws`, () => {
    it('reads back every request that it can say', () => {
      check(
        fc.property(requestArbitrary(shape), (request) => {
          const { decoded, losses } = laws.throughRequest(request);
          expect(losses).toEqual([]);
          expect(comparableRequest(normalizeRequest(decoded))).toEqual(
            comparableRequest(normalizeRequest(request)),
          );
        }),
      );
    });

    it('writes the same request in the same bytes', () => {
      check(
        fc.property(requestArbitrary(shape), (request) => {
          expect(laws.requestText(structuredClone(request))).toBe(laws.requestText(request));
        }),
      );
    });

    it.each(Object.keys(FEATURE_SAMPLES) as Feature[])('says or declares lost: %s', (feature) => {
      const request = FEATURE_SAMPLES[feature]?.(PLAIN_REQUEST) as CanonicalRequest;
      const { decoded, losses } = laws.throughRequest(request);
      const plain = laws.throughRequest(PLAIN_REQUEST).decoded;
      if (feature in codec.features) {
        expect(losses).toEqual([]);
        expect(comparableRequest(decoded)).not.toEqual(comparableRequest(plain));
      } else {
        expect(losses).toContain(feature);
        expect(decoded.turns.length).toBe(plain.turns.length);
      }
    });

    it('never declares lost what its own table says it can say', () => {
      const everything = requestArbitrary({ ...shape, features: ALL_FEATURES });
      const answers = answerArbitrary({ ...shape, features: ALL_FEATURES });
      const expectHonest = (losses: Iterable<Feature>): void => {
        for (const feature of losses)
          if (!LOST_BY_ORIGIN.has(feature)) expect(codec.features).not.toHaveProperty(feature);
      };
      check(
        fc.property(everything, answers, (request, answer) => {
          expectHonest(lossesOf(codec, request));
          expectHonest(encodeAnswer(codec, answer, contextOf(false)).losses);
          expectHonest(laws.stream(answer, []).losses);
        }),
      );
    });

    it('reads back every answer that it can say', () => {
      check(
        fc.property(answerArbitrary(shape), (answer) => {
          const encoded = encodeAnswer(codec, answer, contextOf(true));
          expect(encoded.losses).toEqual([]);
          const decoded = decodeAnswer(codec, toText(encoded.value));
          expect(decoded).toBeDefined();
          expect(comparableAnswer(normalizeAnswer(decoded as CanonicalAnswer))).toEqual(
            comparableAnswer(normalizeAnswer(answer)),
          );
        }),
      );
    });

    it('streams what it says at once, however it comes in pieces', () => {
      check(
        fc.property(answerArbitrary(shape), fc.array(fc.nat(9)), (answer, cuts) => {
          const { bytes, losses } = laws.stream(answer, cuts);
          expect([...losses]).toEqual([]);
          const events = laws.read(bytes);
          const whole = decodeAnswer(
            codec,
            toText(encodeAnswer(codec, answer, contextOf(true)).value),
          );
          expect(comparableAnswer(normalizeAnswer(collectAnswer(events)))).toEqual(
            comparableAnswer(normalizeAnswer(whole as CanonicalAnswer)),
          );
        }),
      );
    });

    it('reads a stream the same in pieces of every size and with every kind of line end', () => {
      const [answer] = fc.sample(answerArbitrary(shape), { numRuns: 1, seed: 7 });
      const { bytes } = laws.stream(answer as CanonicalAnswer, [1, 2]);
      const expected = laws.read(bytes);
      for (const lineEnd of ['\n', '\r\n', '\r']) {
        const spelled = Buffer.from(bytes.toString('latin1').replaceAll('\n', lineEnd), 'latin1');
        for (const chunks of waysToCut(spelled)) expect(laws.read(...chunks)).toEqual(expected);
      }
    });

    it('never ends tidily what was cut', () => {
      check(
        fc.property(answerArbitrary(shape), fc.nat(), (answer, at) => {
          const { bytes } = laws.stream(answer, []);
          const events = laws.read(bytes.subarray(0, at % bytes.length));
          const ended = events.some(({ type }) => type === 'end');
          if (ended) expect(events.some(({ type }) => type === 'finish')).toBe(true);
          else expect(events.at(-1)?.type).toBe('failure');
        }),
      );
    });

    it('refuses what is no request with an error of the gateway', () => {
      check(
        fc.property(
          requestArbitrary(shape).chain((one) => mutatedJson(laws.requestText(one))),
          (text) => {
            const thrown = thrownBy(() =>
              decodeRequest(codec, laws.peek(Buffer.from(text), false)),
            );
            if (thrown) expect(thrown).toBeInstanceOf(GatewayError);
          },
        ),
      );
    });

    it('writes whatever it reads, or refuses it with an error of the gateway', () => {
      check(
        fc.property(
          requestArbitrary(shape).chain((one) => mutatedJson(laws.requestText(one))),
          (text) => {
            const thrown = thrownBy(() => {
              const request = decodeRequest(codec, laws.peek(Buffer.from(text), false));
              JSON.parse(toText(encodeRequest(codec, request, TARGET).value));
            });
            if (thrown) expect(thrown).toBeInstanceOf(GatewayError);
          },
        ),
      );
    });

    it('never throws at what is no answer', () => {
      const encoded = answerArbitrary(shape).map((one) =>
        toText(encodeAnswer(codec, one, contextOf(true)).value),
      );
      check(
        fc.property(encoded.chain(mutatedJson), (text) => {
          const answer = decodeAnswer(codec, text);
          if (answer) JSON.parse(toText(encodeAnswer(codec, answer, contextOf(true)).value));
        }),
      );
    });

    it('never throws at a broken stream, and tells whole parts one by one', () => {
      const streams = answerArbitrary(shape)
        .map((one) => framesOf(laws.stream(one, [2]).bytes))
        .chain(mutatedFrames);
      check(
        fc.property(streams, (bytes) => {
          const events = laws.read(bytes);
          expectGrammar(events);
          const encoder = codec.createEncoder(contextOf(true));
          for (const event of sequence(events)) encoder.write(event);
        }),
      );
    });
  });
}

function lawsOf(codec: CanonicalCodec, peek: NonNullable<CodecLawOptions['peek']>) {
  const requestText = (request: CanonicalRequest): string =>
    toText(encodeRequest(codec, request, TARGET).value);
  return {
    peek,
    requestText,
    throughRequest(request: CanonicalRequest) {
      const { value, losses } = encodeRequest(codec, request, TARGET);
      const decoded = decodeRequest(codec, peek(Buffer.from(toText(value)), request.stream));
      return { decoded, losses: [...new Set(losses)] };
    },
    /** The bytes of a streamed answer; every text comes in pieces of the lengths `cuts`. */
    stream(answer: CanonicalAnswer, cuts: readonly number[]) {
      const encoder = codec.createEncoder(contextOf(true));
      const written = toEvents(answer, cuts).map((event) => encoder.write(event));
      const bytes = Buffer.concat(written.filter((one) => one !== undefined));
      return { bytes, losses: encoder.losses };
    },
    read(...chunks: readonly Buffer[]): CanonicalEvent[] {
      const decoder = codec.createDecoder();
      const events: CanonicalEvent[] = [];
      const over = (): boolean => isLast(events.at(-1));
      for (const frame of framesOf(...chunks)) if (!over()) events.push(...decoder.read(frame));
      if (!over()) events.push(...decoder.close());
      return events;
    },
  };
}

/** None of a request that is refused. */
function lossesOf(codec: CanonicalCodec, request: CanonicalRequest): readonly Feature[] {
  try {
    return encodeRequest(codec, request, TARGET).losses;
  } catch (thrown) {
    expect(thrown).toBeInstanceOf(GatewayError);
    return [];
  }
}

/** A model that takes everything: the laws are about forms. */
const TARGET = {
  model: 'up',
  defaultMaxTokens: 4096,
  askUsage: true,
  capabilities: UNKNOWN,
};
const ALL_FEATURES = Object.fromEntries(
  Object.keys(FEATURE_SAMPLES)
    .concat('citations', 'refusals', 'reasoning_text', 'strict_tools', 'tool_result_errors')
    .concat('tool_result_images', 'reasoning')
    .map((feature) => [feature, feature]),
);

function same<T>(value: T): T {
  return value;
}

function contextOf(keepUsage: boolean): AnswerContext {
  const peek = peekBody(Buffer.from('{"model":"acme/one","messages":[]}'));
  return { model: 'acme/one', id: 'req-1', created: 1_700_000_000, keepUsage, peek };
}

/** What the peek of a protocol with everything in its body says. */
export function peekBody(body: Buffer): RequestPeek {
  const json = scanJson(body);
  return {
    model: 'acme/one',
    stream: json.get('stream') === true,
    body,
    members: json.members,
    json,
    keepUsage: true,
    choices: 1,
    inputBound: body.length,
    outputBound: undefined,
  };
}

export function toText(value: JsonToSend): string {
  return value instanceof RawJson ? value.text : stringifyWithRaw(value);
}

export function framesOf(...chunks: readonly Buffer[]): SseFrame[] {
  const framer = createSseFramer();
  const frames = chunks.flatMap((chunk) => framer.push(chunk));
  const last = framer.end();
  return last ? [...frames, last] : frames;
}

/** The events of an answer that is known whole. */
export function toEvents(answer: CanonicalAnswer, cuts: readonly number[] = []): AnswerEvent[] {
  const { id, created, parts, stop, usage } = answer;
  const start = { type: 'start' as const, id, ...(created === undefined ? {} : { created }) };
  return [
    start,
    ...parts.flatMap((part, index) => partEvents(part, index, cuts)),
    { type: 'finish', stop },
    ...(usage ? [{ type: 'usage' as const, usage }] : []),
    { type: 'end' },
  ];
}

function partEvents(one: Part, part: number, cuts: readonly number[]): AnswerEvent[] {
  const deltas = (text: string): AnswerEvent[] =>
    inPieces(text, cuts).map((piece) => ({ type: 'delta', part, text: piece }));
  const close: AnswerEvent = { type: 'close', part };
  switch (one.type) {
    case 'text': {
      const { citations = [], logprobs } = one;
      return [
        { type: 'open', part, opening: { type: 'text' } },
        ...deltas(one.text),
        ...(logprobs ? [{ type: 'logprobs' as const, part, logprobs }] : []),
        ...citations.map((citation) => ({ type: 'citation' as const, part, citation })),
        close,
      ];
    }
    case 'refusal':
      return [{ type: 'open', part, opening: { type: 'refusal' } }, ...deltas(one.text), close];
    case 'reasoning': {
      const { signature, ofNext } = one;
      return [
        { type: 'open', part, opening: { type: 'reasoning', ...(ofNext && { ofNext }) } },
        ...deltas(one.text),
        ...(signature ? [{ type: 'signature' as const, part, signature }] : []),
        close,
      ];
    }
    case 'tool_call': {
      const { id, name } = one;
      const opening = { type: 'tool_call' as const, id, name };
      return [{ type: 'open', part, opening }, ...deltas(one.arguments), close];
    }
    case 'opaque':
      return [{ type: 'open', part, opening: one }, close];
    // Answers hold no other parts.
    case 'image':
    case 'document':
    case 'audio':
    case 'tool_result':
  }
  return [];
}

/** Never cuts a character that is two units of UTF-16. */
function inPieces(text: string, cuts: readonly number[]): string[] {
  const characters = Array.from(text);
  const pieces = cuts.map((length) => characters.splice(0, length).join(''));
  return [...pieces, characters.join('')].filter((piece) => piece !== '');
}

/** The events as encoders get them. */
export function sequence(events: readonly CanonicalEvent[]): AnswerEvent[] {
  const inSequence = new InSequence();
  return events.flatMap((event) =>
    event.type === 'failure' || event.type === 'restart' ? [] : inSequence.push(event),
  );
}

/** The answer that the events add up to. */
export function collectAnswer(events: readonly CanonicalEvent[]): CanonicalAnswer {
  expectGrammar(events);
  let answer: CanonicalAnswer = {
    id: undefined,
    parts: [],
    stop: { kind: 'other' },
    usage: undefined,
  };
  const parts: Part[] = [];
  const numbers: number[] = [];
  for (const event of sequence(events)) {
    if (event.type === 'start')
      answer = { ...answer, id: event.id, usage: event.usage ?? answer.usage };
    else if (event.type === 'finish') answer = { ...answer, stop: event.stop };
    else if (event.type === 'usage') answer = { ...answer, usage: event.usage };
    else if (event.type === 'open') {
      numbers.push(event.part);
      parts.push(emptyPart(event.opening));
    } else if (event.type === 'late_citation') {
      const at = numbers.indexOf(event.text);
      parts[at] = extend(parts[at] as Part, { ...event, type: 'citation', part: event.text });
    } else if ('part' in event && event.type !== 'close')
      parts.push(extend(parts.pop() as Part, event));
  }
  return { ...answer, parts };
}

type Opening = Extract<AnswerEvent, { type: 'open' }>['opening'];

function emptyPart(opening: Opening): Part {
  if (opening.type === 'tool_call') return { ...opening, arguments: '' };
  const isWhole = opening.type === 'opaque' || opening.type === 'image';
  return isWhole ? opening : { ...opening, text: '' };
}

function extend(part: Part, event: AnswerEvent): Part {
  if (event.type === 'delta') {
    if (part.type === 'tool_call') return { ...part, arguments: part.arguments + event.text };
    return 'text' in part ? { ...part, text: part.text + event.text } : part;
  }
  if (event.type === 'signature' && part.type === 'reasoning')
    return { ...part, signature: event.signature };
  if (part.type !== 'text') return part;
  if (event.type === 'citation')
    return { ...part, citations: [...(part.citations ?? []), event.citation] };
  if (event.type === 'logprobs')
    return { ...part, logprobs: [...(part.logprobs ?? []), ...event.logprobs] };
  return part;
}

/** What encoders rely on: parts are opened once and closed at most once, and nothing follows the end. */
export function expectGrammar(events: readonly CanonicalEvent[]): void {
  const states = new Map<number, 'open' | 'closed'>();
  let finished = false;
  events.forEach((event, index) => {
    expect(isLast(events[index - 1]), `nothing behind ${events[index - 1]?.type}`).toBe(false);
    if (event.type === 'finish') finished = true;
    if (!('part' in event)) return;
    expect(finished, `no ${event.type} behind finish`).toBe(false);
    const expected = event.type === 'open' ? undefined : 'open';
    expect(states.get(event.part), `${event.type} of part ${event.part}`).toBe(expected);
    states.set(event.part, event.type === 'close' ? 'closed' : 'open');
  });
}

function isLast(event: CanonicalEvent | undefined): boolean {
  return event?.type === 'end' || event?.type === 'failure';
}

/** Tools are named with their results by some protocols only. */
function comparableRequest(request: CanonicalRequest): CanonicalRequest {
  const turns = request.turns.map((turn) => ({
    ...turn,
    parts: turn.parts.map((part) => {
      if (part.type !== 'tool_result') return part;
      const { name: _name, ...rest } = part;
      return rest;
    }),
  }));
  return { ...request, turns };
}

/** Some protocols tell no time; usage is compared without the provider's own object. */
export function comparableAnswer({ id, parts, stop, usage }: CanonicalAnswer): object {
  const { raw: _raw, ...counts } = usage ?? {};
  return { id, parts, stop: stop.kind, usage: counts };
}

function thrownBy(act: () => unknown): unknown {
  try {
    act();
    return undefined;
  } catch (thrown) {
    return thrown;
  }
}
