import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { COUNTED, WEIGHED } from '../../fixtures/wire/wire.ts';
import { verifies } from '../../requirements.ts';
import { CLIENTS } from './clients.ts';
import { openStage, PAIR_TITLE, pairsOf, PROVIDERS } from './stage.ts';
import type { ProviderId, Stage } from './stage.ts';

interface Written {
  short: number;
  long: number;
}

/** What the fixtures count as written to caches; the other classes are the same everywhere. */
const WRITTEN: Readonly<Record<ProviderId, Written>> = {
  chat: { short: 10, long: 0 },
  responses: { short: 10, long: 0 },
  messages: { short: 10, long: 20 },
  'generate-content': { short: 0, long: 0 },
};

/** The same tokens as each client counts them. */
const EXPECTED: Readonly<Record<ProviderId, (written: Written) => object>> = {
  chat: ({ short, long }) => ({
    prompt_tokens: 140 + short + long,
    completion_tokens: 30,
    total_tokens: 170 + short + long,
    prompt_tokens_details: { cached_tokens: 40 },
    completion_tokens_details: { reasoning_tokens: 12 },
  }),
  responses: ({ short, long }) => ({
    input_tokens: 140 + short + long,
    input_tokens_details: { cached_tokens: 40 },
    output_tokens: 30,
    output_tokens_details: { reasoning_tokens: 12 },
    total_tokens: 170 + short + long,
  }),
  messages: ({ short, long }) => ({
    input_tokens: 100,
    cache_read_input_tokens: 40,
    cache_creation_input_tokens: short + long,
    output_tokens: 30,
  }),
  'generate-content': ({ short, long }) => ({
    promptTokenCount: 140 + short + long,
    cachedContentTokenCount: 40,
    candidatesTokenCount: 18,
    thoughtsTokenCount: 12,
    totalTokenCount: 170 + short + long,
  }),
};

describe('what answers cost and weigh', () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await openStage();
  });
  afterAll(() => stage.close());

  it.each(pairsOf(CLIENTS))(
    verifies(
      'routing.translation.pairs',
      `counts every class of tokens once, for the client and the record: ${PAIR_TITLE}`,
    ),
    async ({ client, provider, stream, isNative }) => {
      stage.play(PROVIDERS[provider].counted);
      const said = await client.open(stage.target(provider), { text: 'go' }).ask(stream);
      expect(said.text).toBe(COUNTED);
      const written = WRITTEN[provider];
      if (!isNative) expect(said.usage).toMatchObject(EXPECTED[client.id as ProviderId](written));
      // Of a stream the library keeps what the first event said of the two kinds of writes.
      if (client.id === 'messages' && !isNative && !stream)
        expect(said.usage).toMatchObject({
          cache_creation: {
            ephemeral_5m_input_tokens: written.short,
            ephemeral_1h_input_tokens: written.long,
          },
        });
      const record = await stage.record();
      expect(record).toMatchObject({ result: 'ok', estimated: false, stream });
      expect(record.usage).toEqual({
        input_tokens: 100,
        cache_read_tokens: 40,
        cache_write_5m_tokens: written.short,
        cache_write_1h_tokens: written.long,
        output_tokens: 30,
        reasoning_tokens: 12,
        images: 0,
        seconds: 0,
      });
    },
  );

  const weighing = pairsOf(CLIENTS).filter(
    ({ client, provider }) => client.says.logprobs && PROVIDERS[provider].weighed,
  );
  it.each(weighing)(
    verifies('routing.translation.pairs', `has the logprobs of its tokens: ${PAIR_TITLE}`),
    async ({ client, provider, stream }) => {
      const { weighed } = PROVIDERS[provider];
      if (weighed) stage.play(weighed);
      const question = { text: 'go', logprobs: 2 };
      const said = await client.open(stage.target(provider), question).ask(stream);
      expect(said.text).toBe('yes!');
      const isGoogle = client.id === 'generate-content';
      const one = ([token, logprob]: readonly [string, number]): object =>
        isGoogle ? { token, logProbability: logprob } : { token, logprob };
      expect(said.logprobs).toMatchObject(
        WEIGHED.map(({ token, logprob, top }) => ({
          ...one([token, logprob]),
          [isGoogle ? 'top' : 'top_logprobs']: top.map(one),
        })),
      );
      const { body } = stage.sent();
      expect(body.top_logprobs ?? body.generationConfig?.logprobs).toBe(2);
    },
  );
});
