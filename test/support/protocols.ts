import { atOnce as runSteps } from '../../src/core/turns/in-turns.ts';
import { parseKeepingRaw } from '../../src/core/json/raw.ts';
import { parseJson } from '../../src/core/json/value.ts';
import { scanJson } from '../../src/core/json/json-document.ts';
import type {
  AnswerContext,
  CanonicalCodec,
  Encoded,
  RequestTarget,
} from '../../src/protocols/canonical/codec.ts';
import type { CanonicalAnswer, CanonicalRequest } from '../../src/protocols/canonical/canonical.ts';
import type { AnswerOptions, EncodeOptions, RequestPeek } from '../../src/protocols/protocol.ts';

/** What the pipeline tells a protocol of a call, for tests that call protocols themselves. */
export const ANSWER: AnswerOptions = {
  account: 'prov_test',
  vendor: 'acme',
  id: 'req_test',
  created: 1_700_000_000,
};

export function encodeOptions(overrides: Partial<EncodeOptions> = {}): EncodeOptions {
  return {
    model: 'up',
    askUsage: true,
    defaultMaxTokens: 1000,
    account: 'prov_test',
    vendor: 'acme',
    losses: [],
    ...overrides,
  };
}

/** The look at a request that a test needs no real one for. */
export function fakePeek(overrides: Partial<RequestPeek> = {}): RequestPeek {
  return {
    model: 'acme/model',
    stream: true,
    body: Buffer.from('{}'),
    members: [],
    json: scanJson(Buffer.from('{}')),
    keepUsage: false,
    choices: 1,
    inputBound: 2,
    outputBound: undefined,
    ...overrides,
  };
}

/** A client's request in the canonical form. */
export function decodeRequest(
  codec: Pick<CanonicalCodec, 'decodeRequest'>,
  peek: RequestPeek,
): CanonicalRequest {
  return runSteps(codec.decodeRequest(peek));
}

/** A canonical request as its provider is sent it. */
export function encodeRequest(
  codec: Pick<CanonicalCodec, 'encodeRequest'>,
  request: CanonicalRequest,
  target: RequestTarget,
): Encoded {
  return runSteps(codec.encodeRequest(request, target));
}

/** A provider's answer in the canonical form. */
export function decodeAnswer(codec: CanonicalCodec, json: string): CanonicalAnswer | undefined {
  const body = Buffer.from(json);
  const scanned = parseJson(json);
  const value = scanned === undefined ? scanned : parseKeepingRaw(json, codec.rawMembers ?? []);
  return runSteps(codec.decodeAnswer({ body, value }));
}

/** A canonical answer as the client is given it. */
export function encodeAnswer(
  codec: CanonicalCodec,
  answer: CanonicalAnswer,
  context: AnswerContext,
): Encoded {
  return runSteps(codec.encodeAnswer(answer, context));
}

/** What was read without a break. */
export function atOnce<T>(read: T | Promise<T>): T {
  if (read instanceof Promise) throw new Error('it was read in several steps');
  return read;
}
