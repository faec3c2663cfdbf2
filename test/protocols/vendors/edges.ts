import * as fc from 'fast-check';
import type { Spoken } from '../translating.ts';
import { one } from '../whole-requests/shapes.ts';

const LONG = 'x'.repeat(300);
const stops = (most: number) =>
  fc.array(one('END', '\n\n', 'a b', '###'), { minLength: 1, maxLength: most });
const names = (letters: string, length: number) =>
  one('look', `get${letters}it`, `7${letters}`, 'n'.repeat(length), `${'m'.repeat(length - 1)}1`);
const parameters = { type: 'object', properties: {} };
const schemas = (most: number) => one('answer', 'n'.repeat(most));

/** Members of each client's request at the bounds that its own protocol sets, or beyond them. */
const some = (members: Readonly<Record<string, fc.Arbitrary<unknown>>>): fc.Arbitrary<object> =>
  fc.record(members, { requiredKeys: [] });

const toolsOf = (
  letters: string,
  { length, most, write }: { length: number; most: number; write: (name: string) => unknown },
): fc.Arbitrary<unknown[]> =>
  fc
    .uniqueArray(names(letters, length), { minLength: 1, maxLength: 4 })
    .chain((all) =>
      one(0, most).map((count) => [
        ...all,
        ...Array.from({ length: Math.max(0, count - all.length) }, (_, at) => `tool_${at}`),
      ]),
    )
    .map((all) => all.map(write));

export const EDGES: Readonly<Record<Spoken, fc.Arbitrary<object>>> = {
  chat: some({
    temperature: one(0, 1.5, 2),
    top_p: one(0, 1),
    presence_penalty: one(-2, 2),
    frequency_penalty: one(-2, 2),
    seed: one(0, -1, 2 ** 31, Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER),
    stop: fc.oneof(one('END', ' '), stops(4)),
    max_completion_tokens: one(1, 15, 100_000),
    user: one('u', LONG, 'me@example.com', '+47 555 01 23 45'),
    logprobs: one(true),
    top_logprobs: one(0, 20),
    tools: toolsOf('-_', {
      length: 64,
      most: 128,
      write: (name) => ({ type: 'function', function: { name, parameters } }),
    }),
    service_tier: one('auto', 'default', 'flex', 'priority'),
    reasoning_effort: one('none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'),
    response_format: schemas(64).map((name) => ({
      type: 'json_schema',
      json_schema: { name, schema: parameters },
    })),
  }),
  responses: some({
    temperature: one(0, 1.5, 2),
    top_p: one(0, 1),
    max_output_tokens: one(16, 100_000),
    top_logprobs: one(0, 20),
    user: one('u', LONG, 'me@example.com'),
    service_tier: one('auto', 'default', 'flex', 'priority'),
    tools: toolsOf('-_', {
      length: 64,
      most: 128,
      write: (name) => ({ type: 'function', name, parameters }),
    }),
    reasoning: one('none', 'minimal', 'low', 'xhigh', 'max').map((effort) => ({ effort })),
  }),
  messages: some({
    temperature: one(0, 1),
    top_p: one(0, 1),
    top_k: one(0, 1, 500),
    max_tokens: one(1, 15, 64_000),
    stop_sequences: stops(12),
    metadata: one('u', LONG.slice(0, 256)).map((user_id) => ({ user_id })),
    service_tier: one('auto', 'standard_only'),
    tools: toolsOf('-_', {
      length: 128,
      most: 130,
      write: (name) => ({ name, input_schema: parameters }),
    }),
  }),
  'generate-content': some({
    generationConfig: some({
      temperature: one(0, 1.5, 2),
      topP: one(0, 1),
      topK: one(1, 40),
      maxOutputTokens: one(1, 8192),
      stopSequences: stops(5),
      seed: one(0, -1, 2 ** 31 - 1),
      presencePenalty: one(-2, 1.9),
      frequencyPenalty: one(-2, 1.9),
      responseLogprobs: one(true),
      logprobs: one(0, 20),
    }),
    tools: toolsOf('.:-', {
      length: 128,
      most: 130,
      write: (name) => ({ name, parametersJsonSchema: parameters }),
    }).map((functionDeclarations) => [{ functionDeclarations }]),
  }),
};
