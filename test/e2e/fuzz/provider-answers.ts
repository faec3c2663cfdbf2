import { Buffer } from 'node:buffer';
import * as fc from 'fast-check';
import { systemClock } from '../../../src/core/time/clock.ts';
import type { Protocol } from '../../../src/protocols/registry.ts';
import { createMockEngine } from '../../../src/providers/mock/engine.ts';
import type { SurfaceRow } from '../../conformance/surface.ts';
import { answerArbitrary } from '../../protocols/canonical-arbitraries.ts';
import { framesOf, peekBody, toEvents, toText } from '../../protocols/codec-laws.ts';
import { mutatedFrames } from '../../protocols/mutations.ts';
import { ROWS } from '../../protocols/translation-rows.ts';
import { hostileJson, inPieces, mutatedBytes } from './hostile-bytes.ts';
import type { HostileScript } from './hostile-upstream.ts';
import { encodeAnswer } from '../../support/protocols.ts';

const REPLIES = {
  text: { reasoning: 'let me think', text: 'Grüße, 世界 🌍 "usage":{} [DONE]' },
  tools: {
    text: 'one moment',
    tool_calls: [
      { name: 'look', arguments: '{"city":"Z\\u00fcrich","n":1.0}' },
      { name: 'hear', arguments: {} },
    ],
  },
  refusal: { refusal: 'I cannot say that' },
  long: { text: 'word '.repeat(200), finish: 'length' },
};

const engine = createMockEngine({
  clock: systemClock,
  cassette: {
    rules: Object.entries(REPLIES).map(([model, reply]) => ({ match: { model }, reply })),
  },
});

/** What providers of the family's protocol answer, as the mock and as our own encoders write it. */
export function validAnswers(row: SurfaceRow, stream: boolean): fc.Arbitrary<Buffer> {
  const scripted = Object.keys(REPLIES).map((model) => {
    const { steps } = engine.handle({
      method: 'POST',
      path: row.path(model, stream),
      headers: { 'content-type': row.contentType ?? 'application/json' },
      body: Buffer.from(row.body(model, stream)),
    });
    return Buffer.concat(steps.map((step) => ('bytes' in step ? step.bytes : Buffer.alloc(0))));
  });
  const own = ROWS.find(({ id }) => id === row.protocol);
  if (!own) return fc.constantFrom(...scripted);
  const { codec } = own;
  const context = {
    model: 'up',
    keepUsage: true,
    id: 'answer-1',
    created: 1_700_000_000,
    peek: peekBody(Buffer.from('{}')),
  };
  const written = answerArbitrary({ features: codec.features }).map((answer) => {
    if (!stream) return Buffer.from(toText(encodeAnswer(codec, answer, context).value));
    const encoder = codec.createEncoder(context);
    return Buffer.concat(toEvents(answer, [2, 5]).flatMap((event) => encoder.write(event) ?? []));
  });
  return fc.oneof(fc.constantFrom(...scripted), written);
}

/** What a stream that is cut in front of it cannot have ended with. */
const FINISHES: Partial<Record<Protocol, RegExp>> = {
  chat: /"finish_reason": ?"/,
  responses: /"type": ?"response\.(?:completed|incomplete)"/,
  messages: /"stop_reason": ?"/,
  'generate-content': /"finishReason": ?"/,
  interactions: /"event_type": ?"interaction\.completed"/,
};

/** Bytes up to the first word of a stream's end. */
export function beforeFinish(protocol: Protocol, stream: Buffer): number {
  const at = stream.toString('latin1').search(FINISHES[protocol] as RegExp);
  if (at < 0) throw new Error(`no end in ${stream.toString()}`);
  return at;
}

const SSE = 'text/event-stream';
const headOf = (type: string, status = '200 OK', more = ''): string =>
  `HTTP/1.1 ${status}\r\ncontent-type: ${type}\r\n${more}`;
const framing = fc.constantFrom('chunked' as const, 'length' as const, 'close' as const);

/** The bytes whole and in a form of HTTP that is allowed. */
export function tidyScript(bytes: Buffer, stream: boolean): fc.Arbitrary<HostileScript> {
  const head = headOf(stream ? `${SSE}; charset=utf-8` : 'application/json');
  return fc.record({
    head: fc.constant(head),
    pieces: inPieces(bytes),
    framing,
    end: fc.constant('tidy' as const),
  });
}

/** A stream that breaks off in front of its end: properly, with a reset, or short of its length. */
export function cutScript(protocol: Protocol, bytes: Buffer): fc.Arbitrary<HostileScript> {
  return fc.nat(beforeFinish(protocol, bytes)).chain((at) =>
    fc.record({
      head: fc.constant(headOf(SSE)),
      pieces: inPieces(bytes.subarray(0, at)),
      framing,
      end: fc.constantFrom('tidy' as const, 'reset' as const, 'close' as const),
    }),
  );
}

const GARBAGE = [
  'garbage',
  '\u0000\u0000',
  '\n\n\n',
  'data: {"error":{"message":"late"}}\n\n',
  'data: {}\n\n',
  'data: [DONE]\n\ndata: [DONE]\n\n',
  'event: error\ndata: {"type":"error","error":{"type":"x","message":"late"}}\n\n',
  '{"choices":[]}',
  ']',
  'x'.repeat(200_000),
].map((text) => Buffer.from(text));

/** The bytes changed in any way. */
function damaged(bytes: Buffer, stream: boolean): fc.Arbitrary<Buffer> {
  const text = bytes.toString();
  const late = fc.constantFrom(...GARBAGE).map((garbage) => Buffer.concat([bytes, garbage]));
  const early = fc.constantFrom(...GARBAGE).map((garbage) => Buffer.concat([garbage, bytes]));
  const mutated = stream ? mutatedFrames(framesOf(bytes)) : hostileJson(text);
  const hostile = stream ? mutatedEvent(text) : hostileJson(text);
  return fc.oneof(mutated, hostile, mutatedBytes(bytes), late, early);
}

/** The stream with one of its events in a hostile shape. */
function mutatedEvent(text: string): fc.Arbitrary<Buffer> {
  const events = [...text.matchAll(/^data: ?(\{.*\})$/gm)];
  return fc.nat(events.length - 1).chain((index) => {
    const [line = '', json = '{}'] = events[index] ?? [];
    const at = events[index]?.index ?? 0;
    const [before, after] = [text.slice(0, at), text.slice(at + line.length)];
    return hostileJson(json).map((changed) =>
      Buffer.concat([Buffer.from(`${before}data: `), changed, Buffer.from(after)]),
    );
  });
}

const STATUSES = [
  '200 OK',
  '200',
  '201 Created',
  '204 No Content',
  '206 Partial',
  '299 x',
  '302 Found',
  '304 Not Modified',
  '400 Bad',
  '402 x',
  '413 x',
  '418 x',
  '422 x',
  '429 x',
  '451 x',
  '502 x',
  '503 x',
  '529 x',
  '599 x',
];
const HEADERS = [
  'content-encoding: gzip\r\n',
  'content-encoding: br, gzip\r\n',
  'content-encoding: nonsense\r\n',
  'retry-after: -1\r\n',
  'retry-after: 1e99\r\n',
  'location: http://127.0.0.1:1/\r\n',
  'content-type: text/html\r\n',
  `x-long: ${'x'.repeat(20_000)}\r\n`,
  `x-long: ${'x'.repeat(80_000)}\r\n`,
  'x-latin: \u00ff\u0080\r\n',
  'trailer: x\r\n',
];
const TYPES = [
  SSE,
  'application/json',
  'text/html',
  'TEXT/EVENT-STREAM;x',
  '',
  'application/octet-stream',
  'text/event-streams',
];

/** Anything that a provider of the protocol may do wrong, on the wire or in what it says. */
export function brokenScript(bytes: Buffer, stream: boolean): fc.Arbitrary<HostileScript> {
  const usual = stream ? SSE : 'application/json';
  const rarely = <T>(normal: T, others: readonly T[]): fc.Arbitrary<T> =>
    fc.oneof(
      { weight: 6, arbitrary: fc.constant(normal) },
      { weight: 1, arbitrary: fc.constantFrom(...others) },
    );
  const head = fc
    .tuple(rarely(usual, TYPES), rarely('200 OK', STATUSES), rarely('', HEADERS))
    .map(([type, status, more]) => headOf(type, status, more));
  return damaged(bytes, stream).chain((body) =>
    fc.record({
      head,
      pieces: inPieces(body),
      framing,
      end: rarely<HostileScript['end']>('tidy', ['reset', 'close', 'hang', 'over']),
    }),
  );
}
