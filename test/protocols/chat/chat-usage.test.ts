import * as fc from 'fast-check';
import { NO_USAGE } from '../../../src/core/usage.ts';
import { describe, expect, it } from 'vitest';
import { toChatUsage, usageOf } from '../../../src/protocols/chat/chat-usage.ts';

describe('toChatUsage', () => {
  it.each([
    [
      { prompt_tokens: 10, completion_tokens: 5 },
      { input: 10, cacheRead: 0, output: 5, reasoning: 0 },
    ],
    [
      {
        prompt_tokens: 10,
        completion_tokens: 5,
        prompt_tokens_details: { cached_tokens: 4, cache_write_tokens: 3 },
      },
      { input: 3, cacheRead: 4, cacheWrite5m: 3, output: 5 },
    ],
    [
      { prompt_tokens: 10, completion_tokens: 5, prompt_cache_hit_tokens: 6 },
      { input: 4, cacheRead: 6 },
    ],
    [
      {
        prompt_tokens: 32,
        completion_tokens: 109,
        total_tokens: 141,
        completion_tokens_details: { reasoning_tokens: 94 },
      },
      { output: 109, reasoning: 94 },
    ],
    [
      {
        prompt_tokens: 32,
        completion_tokens: 9,
        total_tokens: 135,
        completion_tokens_details: { reasoning_tokens: 94 },
      },
      { output: 103, reasoning: 94 },
    ],
    // Google's layer for chat clients, over a model that thinks.
    [
      { prompt_tokens: 8, completion_tokens: 57, total_tokens: 1119 },
      { input: 8, output: 1111, reasoning: 1054 },
    ],
    [
      {
        prompt_tokens: 8,
        completion_tokens: 57,
        total_tokens: 1119,
        completion_tokens_details: { reasoning_tokens: 0 },
      },
      { output: 57, reasoning: 0 },
    ],
    // A cache that was counted beside the prompt.
    [
      {
        prompt_tokens: 8,
        completion_tokens: 57,
        total_tokens: 165,
        prompt_tokens_details: { cached_tokens: 100 },
      },
      { output: 57, reasoning: 0 },
    ],
    [
      { prompt_tokens: 8, total_tokens: 30 },
      { input: 8, output: 0, reasoning: 0 },
    ],
    [
      { prompt_tokens: -3, completion_tokens: 5, prompt_tokens_details: null },
      { input: 0, output: 5 },
    ],
    [
      { prompt_tokens: '7', completion_tokens: 5, prompt_tokens_details: [1] },
      { input: 0, output: 5 },
    ],
  ])('maps %j', (raw, expected) => {
    expect(toChatUsage(raw)).toMatchObject({ ...expected, raw });
  });

  it.each([undefined, null, 7, [], {}, { prompt_tokens: 'x' }, { total_tokens: 3 }])(
    'finds nothing in %j',
    (raw) => {
      expect(toChatUsage(raw)).toBeUndefined();
    },
  );

  it('finds the usage of a Groq stream', () => {
    expect(
      usageOf({ choices: [], x_groq: { usage: { prompt_tokens: 1, completion_tokens: 2 } } }),
    ).toMatchObject({ input: 1, output: 2 });
  });

  it('gives finite counts that are not negative, whatever comes', () => {
    const names = ['prompt_tokens', 'completion_tokens', 'total_tokens', 'prompt_cache_hit_tokens'];
    const count = fc.oneof(fc.double(), fc.integer(), fc.anything());
    const details = fc.oneof(
      fc.record({ cached_tokens: count, reasoning_tokens: count }),
      fc.anything(),
    );
    const shape = Object.fromEntries(names.map((name) => [name, count]));
    fc.assert(
      fc.property(
        fc.record({ ...shape, prompt_tokens_details: details, completion_tokens_details: details }),
        (raw) => {
          const usage = toChatUsage(raw);
          for (const [name, value] of Object.entries(usage ?? {})) {
            if (name in NO_USAGE)
              expect(Number.isFinite(value) && Number(value) >= 0, name).toBe(true);
          }
          expect(usage === undefined || usage.reasoning <= usage.output).toBe(true);
        },
      ),
      { numRuns: 500 },
    );
  });
});
