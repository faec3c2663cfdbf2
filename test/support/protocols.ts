import { scanJson } from '../../src/core/json/json-document.ts';
import type { AnswerOptions, EncodeOptions, RequestPeek } from '../../src/protocols/protocol.ts';

/** What the pipeline tells a protocol of a call, for tests that call protocols themselves. */
export const ANSWER: AnswerOptions = {
  account: 'prov_test',
  id: 'req_test',
  created: 1_700_000_000,
};

export function encodeOptions(overrides: Partial<EncodeOptions> = {}): EncodeOptions {
  return {
    model: 'up',
    askUsage: true,
    defaultMaxTokens: 1000,
    account: 'prov_test',
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

/** What was read without a break. */
export function atOnce<T>(read: T | Promise<T>): T {
  if (read instanceof Promise) throw new Error('it was read in several steps');
  return read;
}
