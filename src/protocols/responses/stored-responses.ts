import { Buffer, isUtf8 } from 'node:buffer';
import { GatewayError } from '../../core/errors.ts';
import type { JsonDocument } from '../../core/json/json-document.ts';
import { isJsonObject } from '../../core/json/value.ts';
import { NO_USAGE } from '../../core/usage.ts';
import { answerDocument } from '../answer-document.ts';
import type { AnswerSource } from '../answer-document.ts';
import type { Answer, Question, RequestAddress, RequestPeek, WireProtocol } from '../protocol.ts';
import { scanRequest } from '../scan-request.ts';
import type { RequestSource } from '../scan-request.ts';
import { isWorkId } from '../work-id.ts';
import { isPublicItem } from './public/item-shapes.ts';
import { keepPublic } from './public/keep-public.ts';
import { FAMILY_SHAPES } from './public/response-shape.ts';
import { readResponsesAnswer, readResponsesUsage } from './responses-answer.ts';
import { toErrorEvent } from './responses-event.ts';
import { pinsOfAnswer, responsePin } from './responses-pins.ts';
import { encodeResponses, peekResponses } from './responses-request.ts';
import { createResponsesStream } from './responses-stream.ts';

type Members = Readonly<Record<string, unknown>>;

/** Members of the query that providers get; `starting_after` is the gateway's own business. */
const FORWARDED =
  /^(?:include(?:_obfuscation|(?:\[|%5B)\d*(?:\]|%5D))?|stream|after|before|limit|order)(?:=|$)/i;
const NOTHING = Buffer.alloc(0);

/**
 * Address of a request about a stored Response. Throws `not_found` for an id that no provider gave,
 * `invalid_request` for a query that cannot be taken.
 */
export function addressOfStored(
  method: Question['method'],
  path: string,
  search: string,
): RequestAddress {
  const [, id, ...rest] = path
    .replace(/^.*\/responses(?=\/)|\/$/g, '')
    .split('/')
    .map(decode);
  if (!isWorkId(id)) throw new GatewayError('not_found', { message: 'response not found' });
  const query = new URLSearchParams(search);
  const parts = method === 'GET' ? search.slice(1).split('&') : [];
  return {
    stream: rest.length === 0 && method === 'GET' && readStream(query),
    question: {
      method,
      below: [id, ...rest],
      query: parts.filter((part) => FORWARDED.test(part)).join('&'),
      after: readAfter(query),
    },
  };
}

/** `GET /v1/responses/{id}`, also as a stream, and `POST …/cancel`. */
export const storedResponse: WireProtocol = {
  ...lookUp(readResponsesAnswer),
  createStream: createResponsesStream,
  errorFrame: (error) => toErrorEvent(error, 0),
};

/** `GET /v1/responses/{id}/input_items`. */
export const inputItems = lookUp((source) =>
  readPublic(source, 'list', ({ data }) => Array.isArray(data)),
);

/** `DELETE /v1/responses/{id}`. Some providers answer without a body. */
export const deletedResponse = lookUp((source, { question }) => {
  const [id] = question?.below ?? [];
  const document = answerDocument(source);
  const isSilent = document?.members.length === 0;
  const done = Buffer.from(JSON.stringify({ id, object: 'response.deleted', deleted: true }));
  return readPublic(isSilent ? done : source, 'deleted', (value) => {
    return value['id'] === id && value['deleted'] === true;
  });
});

/** `POST /v1/responses/input_tokens`. */
export const inputTokens = operation('input_tokens', (source) =>
  readPublic(source, 'response.input_tokens', ({ input_tokens: count }) => {
    return typeof count === 'number' && Number.isSafeInteger(count) && count >= 0;
  }),
);

/** `POST /v1/responses/compact`: the result is bound to the account that encrypted it. */
export const compact = operation('compact', (source) => {
  const document = answerDocument(source);
  const read = document && readPublic(document, 'response.compaction', isCompaction);
  if (!read) return undefined;
  const pins = pinsOfAnswer({ output: document.get('output'), store: false });
  return { ...read, usage: readResponsesUsage(document), pins };
});

function isCompaction({ id, output }: Members): boolean {
  const items: unknown[] = Array.isArray(output) ? output : [];
  const isKept = items.some((item) => isJsonObject(item) && isPublicItem(item['type']));
  return typeof id === 'string' && isKept;
}

/** A wire for a Response that its provider keeps: the request is no more than its address. */
function lookUp(readAnswer: WireProtocol['readAnswer']): WireProtocol {
  return {
    id: 'responses',
    peek: peekStored,
    encode: () => NOTHING,
    parsesAnswers: true,
    readAnswer,
  };
}

function peekStored(
  source: RequestSource,
  { model = '', stream = false, question }: RequestAddress = {},
): RequestPeek {
  const json = scanRequest(source);
  const [id = '', part] = question?.below ?? [];
  const name = `${question?.method} /v1/responses/{id}${part === undefined ? '' : `/${part}`}`;
  return {
    model,
    stream,
    body: json.body,
    members: json.members,
    json,
    keepUsage: true,
    choices: 1,
    inputBound: 0,
    outputBound: 0,
    pins: [responsePin(id)],
    nativeOnly: { name, param: 'id' },
    question,
  };
}

/** A wire for another operation with the body of one that creates a Response. */
function operation(name: string, readAnswer: WireProtocol['readAnswer']): WireProtocol {
  const nativeOnly = { name: `POST /v1/responses/${name}`, param: 'model' };
  return {
    id: 'responses',
    peek: (source) => ({
      ...peekResponses(source),
      stream: false,
      background: false,
      operation: name,
      nativeOnly,
    }),
    // Members that providers are sent by default are about answers.
    encode: (peek, { quirks, ...options }) =>
      encodeResponses(peek, { ...options, quirks: quirks && { ...quirks, default: {} } }),
    parsesAnswers: true,
    readAnswer,
    readUsage: readResponsesUsage,
  };
}

/** An answer with only its public members; undefined for anything else. */
function readPublic(
  source: AnswerSource,
  name: keyof typeof FAMILY_SHAPES,
  isSound: (value: Members) => boolean,
): Answer | undefined {
  const document = answerDocument(source);
  if (!document || !isUtf8(document.body) || !isNamed(document, name)) return undefined;
  if (!isSound(document.value)) return undefined;
  const kept = keepPublic(document.body.toString('latin1'), FAMILY_SHAPES[name]);
  if (kept === undefined) return undefined;
  return { body: Buffer.from(kept, 'latin1'), usage: NO_USAGE, outputChars: 0 };
}

/** Providers give a deleted Response several values of `object`. */
function isNamed(document: JsonDocument, name: keyof typeof FAMILY_SHAPES): boolean {
  return name === 'deleted' || document.get('object') === name;
}

function readStream(query: URLSearchParams): boolean {
  const stream = query.get('stream') ?? 'false';
  if (/^(?:true|false)$/i.test(stream)) return stream.toLowerCase() === 'true';
  throw invalid('stream', 'must be `true` or `false`');
}

function readAfter(query: URLSearchParams): number | undefined {
  const after = query.get('starting_after');
  if (after === null) return undefined;
  if (/^\d{1,15}$/.test(after)) return Number(after);
  throw invalid('starting_after', 'must be the `sequence_number` of an event');
}

function invalid(param: string, what: string): GatewayError {
  return new GatewayError('invalid_request', { message: `\`${param}\` ${what}`, param });
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return '';
  }
}
