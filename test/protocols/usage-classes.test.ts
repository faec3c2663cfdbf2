import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Usage } from '../../src/core/usage.ts';
import { toChatUsage } from '../../src/protocols/chat/chat-usage.ts';
import { toGenerateContentUsage } from '../../src/protocols/generate-content/generate-content-usage.ts';
import { toInteractionUsage } from '../../src/protocols/interactions/interactions-usage.ts';
import { toMessagesUsage } from '../../src/protocols/messages/messages-usage.ts';
import { fromResponsesUsage } from '../../src/protocols/responses/responses-usage.ts';
import { TOLD_TWICE } from '../fixtures/wire/odd-streams.ts';
import { verifies } from '../requirements.ts';

const count = fc.oneof(fc.nat({ max: 5000 }), fc.constantFrom(0, 1, 2161));

function classesOf(usage: Usage | undefined) {
  const { input = 0, cacheRead = 0, cacheWrite5m = 0, cacheWrite1h = 0, output = 0 } = usage ?? {};
  return { prompt: input + cacheRead + cacheWrite5m + cacheWrite1h, output };
}

/** Classes are sound numbers, and reasoning is a part of the output. */
function expectSound(usage: Usage | undefined): void {
  const { raw: _raw, media: _media, tools: _tools, service: _service, ...counts } = usage ?? {};
  for (const value of Object.values(counts)) expect(value).toBeGreaterThanOrEqual(0);
  expect(usage?.reasoning ?? 0).toBeLessThanOrEqual(usage?.output ?? 0);
}

describe('the classes of tokens', () => {
  it(
    verifies('usage.classes-within-total', 'are those of the prompt where some are told twice'),
    () => {
      expect(toChatUsage(TOLD_TWICE)).toMatchObject({
        input: 0,
        cacheRead: 2161,
        cacheWrite5m: 7,
        output: 10,
      });
    },
  );

  it(verifies('usage.classes-within-total', 'never add up to more than the total'), () => {
    fc.assert(
      fc.property(fc.tuple(count, count, count, count, count), (counts) => {
        const [prompt, read, written, output, thought] = counts;
        const chat = toChatUsage({
          prompt_tokens: prompt,
          completion_tokens: output,
          total_tokens: prompt + output,
          prompt_tokens_details: { cached_tokens: read, cache_write_tokens: written },
          completion_tokens_details: { reasoning_tokens: thought },
        });
        const responses = fromResponsesUsage({
          input_tokens: prompt,
          output_tokens: output,
          total_tokens: prompt + output,
          input_tokens_details: { cached_tokens: read, cache_write_tokens: written },
          output_tokens_details: { reasoning_tokens: thought },
        });
        const google = toGenerateContentUsage({
          promptTokenCount: prompt,
          cachedContentTokenCount: read,
          candidatesTokenCount: output,
          thoughtsTokenCount: thought,
          totalTokenCount: prompt + output,
        });
        const interaction = toInteractionUsage({
          total_input_tokens: prompt,
          total_cached_tokens: read,
          total_output_tokens: output,
          total_thought_tokens: thought,
          total_tokens: prompt + output,
        });
        for (const usage of [chat, responses, google, interaction]) {
          expectSound(usage);
          expect(classesOf(usage)).toEqual({ prompt, output });
        }
      }),
    );
  });

  it(verifies('usage.classes-within-total', 'of Messages count what was written once'), () => {
    fc.assert(
      fc.property(fc.tuple(count, count, count, count), (counts) => {
        const [input, written, short, long] = counts;
        const usage = toMessagesUsage({
          input_tokens: input,
          cache_creation_input_tokens: written,
          cache_creation: { ephemeral_5m_input_tokens: short, ephemeral_1h_input_tokens: long },
        });
        expectSound(usage);
        expect(classesOf(usage).prompt).toBe(input + (written > 0 ? written : short + long));
      }),
    );
  });
});
