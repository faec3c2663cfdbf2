import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ENDED, REFUSAL } from '../../fixtures/wire/wire.ts';
import { verifies } from '../../requirements.ts';
import { CLIENTS } from './clients.ts';
import { openStage, PAIR_TITLE, pairsOf, PROVIDERS } from './stage.ts';
import type { ProviderId, Stage } from './stage.ts';

type Words = Readonly<Record<ProviderId, string>>;

const STOPPED: Words = {
  chat: 'stop',
  responses: 'completed',
  messages: 'end_turn',
  'generate-content': 'STOP',
};
const FULL: Words = {
  chat: 'length',
  responses: 'incomplete:max_output_tokens',
  messages: 'max_tokens',
  'generate-content': 'MAX_TOKENS',
};
const FILTERED: Words = {
  chat: 'content_filter',
  responses: 'incomplete:content_filter',
  messages: 'refusal',
  'generate-content': 'SAFETY',
};
const MALFORMED: Words = { ...STOPPED, 'generate-content': 'MALFORMED_FUNCTION_CALL' };
const PAUSED: Words = { ...STOPPED, messages: 'pause_turn', 'generate-content': 'CONTINUATION' };
const UNKNOWN: Words = { ...STOPPED, 'generate-content': 'OTHER' };

/** A provider's word for why it stopped, and the clients' words for that. */
const STOPS: Readonly<Record<ProviderId, Readonly<Record<string, Words>>>> = {
  chat: {
    stop: STOPPED,
    length: FULL,
    content_filter: FILTERED,
    model_length: { ...FULL, messages: 'model_context_window_exceeded' },
    malformed_function_call: MALFORMED,
    never_heard_of: UNKNOWN,
  },
  responses: {
    completed: STOPPED,
    max_output_tokens: FULL,
    content_filter: FILTERED,
    never_heard_of: UNKNOWN,
  },
  messages: {
    end_turn: STOPPED,
    max_tokens: FULL,
    stop_sequence: STOPPED,
    pause_turn: PAUSED,
    refusal: FILTERED,
    model_context_window_exceeded: FULL,
    never_heard_of: UNKNOWN,
  },
  'generate-content': {
    STOP: STOPPED,
    MAX_TOKENS: FULL,
    SAFETY: FILTERED,
    RECITATION: FILTERED,
    BLOCKLIST: FILTERED,
    PROHIBITED_CONTENT: FILTERED,
    SPII: FILTERED,
    MALFORMED_FUNCTION_CALL: MALFORMED,
    UNEXPECTED_TOOL_CALL: MALFORMED,
    LANGUAGE: UNKNOWN,
    OTHER: UNKNOWN,
    TOO_MANY_TOOL_CALLS: UNKNOWN,
    NEVER_HEARD_OF: UNKNOWN,
  },
};

const CITY = {
  type: 'object',
  properties: { city: { type: 'string' }, size: { type: 'number' } },
  required: ['city', 'size'],
  additionalProperties: false,
};

describe('how answers end', () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await openStage();
  });
  afterAll(() => stage.close());

  const pairs = pairsOf(CLIENTS).filter(({ isNative }) => !isNative);

  it.each(pairs)(
    verifies(
      'routing.translation.pairs',
      'chat.finish-reason.mapping',
      'messages.stop-reason.mapping',
      `is told in the client's own words: ${PAIR_TITLE}`,
    ),
    async ({ client, provider, stream }) => {
      for (const [reason, words] of Object.entries(STOPS[provider])) {
        stage.play(PROVIDERS[provider].ended(reason));
        const said = await client.open(stage.target(provider), { text: 'go' }).ask(stream);
        expect([reason, said.text, said.stop]).toEqual([
          reason,
          ENDED,
          words[client.id as ProviderId],
        ]);
      }
    },
  );

  it.each(pairs)(
    verifies('routing.translation.pairs', `is a refusal, with what was said: ${PAIR_TITLE}`),
    async ({ client, provider, stream }) => {
      stage.play(PROVIDERS[provider].refused);
      const said = await client.open(stage.target(provider), { text: 'go' }).ask(stream);
      expect(said.refusal ?? said.text).toBe(REFUSAL);
    },
  );

  it.each(pairs)(
    verifies(
      'routing.translation.pairs',
      `is JSON of the schema that was asked for: ${PAIR_TITLE}`,
    ),
    async ({ client, provider, stream }) => {
      const json = '{"city":"Oslo","size":7}';
      stage.play(PROVIDERS[provider].said(json));
      const question = { text: 'a city', schema: CITY };
      const said = await client.open(stage.target(provider), question).ask(stream);
      expect(said.text).toBe(json);
      const { body } = stage.sent();
      const asked = {
        chat: body.response_format?.json_schema.schema,
        responses: body.text?.format.schema,
        messages: body.output_config?.format.schema,
        'generate-content': body.generationConfig?.responseJsonSchema,
      };
      expect(asked[provider]).toEqual(CITY);
    },
  );

  it.each(pairs.filter(({ client }) => client.says.stop))(
    verifies('routing.translation.pairs', `is at a stop sequence, or says why not: ${PAIR_TITLE}`),
    async ({ client, provider, stream }) => {
      stage.play(PROVIDERS[provider].ended(provider === 'messages' ? 'stop_sequence' : 'stop'));
      const question = { text: 'go', stop: ['HALT', 'END'] };
      await client.open(stage.target(provider), question).ask(stream);
      const { body } = stage.sent();
      const asked = body.stop ?? body.stop_sequences ?? body.generationConfig?.stopSequences;
      const { losses } = await stage.record();
      if (provider !== 'responses') {
        expect(asked).toEqual(['HALT', 'END']);
        expect(losses).toEqual([]);
      } else {
        expect(asked).toBeUndefined();
        expect(losses).toEqual([
          {
            chat: 'stop',
            messages: 'stop_sequences',
            'generate-content': 'generationConfig.stopSequences',
          }[client.id as string],
        ]);
      }
    },
  );
});
