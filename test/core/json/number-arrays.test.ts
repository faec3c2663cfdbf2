import { Buffer } from 'node:buffer';
import { expect, it } from 'vitest';
import { JsonScanner } from '../../../src/core/json/scanner.ts';
import { BODY_VALUES } from '../../support/value-bounds.ts';

/** Values of an answer that is parsed as a whole. */
const ANSWER_VALUES = 2_000_000;

const list = (count: number, element: string): string =>
  `[${Array(count).fill(element).join(',')}]`;
const embedding = list(3072, '-0.0123456');
const tokens = list(8191, '15496');
const place = '{"token":" the","logprob":-0.25,"bytes":[32,116,104,101]}';
const logprob = place.replace(/\}$/, `,"top_logprobs":${list(20, place)}}`);

it.each([
  ['a request of 300,000 tokens', BODY_VALUES.most, `{"input":${list(37, tokens)}}`],
  ['a request of 128 vectors of 3,072', BODY_VALUES.most, `{"input":${list(128, embedding)}}`],
  [
    'an answer of 128 vectors of 3,072',
    BODY_VALUES.most,
    `{"data":${list(128, `{"object":"embedding","index":7,"embedding":${embedding}}`)}}`,
  ],
  [
    'an answer of 16,000 tokens with 20 likely ones each',
    ANSWER_VALUES,
    `{"choices":[{"logprobs":{"content":${list(16_000, logprob)}}}]}`,
  ],
])('lists of numbers are not counted one by one: %s', (_what, values, text) => {
  const scanner = new JsonScanner(Buffer.from(text), { values });
  scanner.step();
  expect(scanner.fault).toBeUndefined();
});
