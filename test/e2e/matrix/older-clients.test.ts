import type Anthropic from '@anthropic-ai/sdk';
import type { GoogleGenAI } from '@google/genai';
import Anthropic0 from 'anthropic-0';
import { GoogleGenAI as GoogleGenAI1 } from 'genai-1';
import { GoogleGenAI as GoogleGenAI2 } from 'genai-2';
import type OpenAI from 'openai';
import OpenAI6 from 'openai-6';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SAID, TWO_CALLS } from '../../fixtures/wire/wire.ts';
import { verifies } from '../../requirements.ts';
import { chatClient } from './chat-client.ts';
import { generateContentClient } from './generate-content-client.ts';
import { messagesClient } from './messages-client.ts';
import { responsesClient } from './responses-client.ts';
import { openStage, PAIR_TITLE, pairsOf, PROVIDERS } from './stage.ts';
import type { Stage } from './stage.ts';

/** Still in use; what they ask for is the same as in the versions behind them. */
const CLIENTS = [
  chatClient('openai 6', OpenAI6 as unknown as typeof OpenAI),
  responsesClient('openai 6', OpenAI6 as unknown as typeof OpenAI),
  messagesClient('@anthropic-ai/sdk 0', Anthropic0 as unknown as typeof Anthropic),
  generateContentClient('@google/genai 2', GoogleGenAI2 as unknown as typeof GoogleGenAI),
  generateContentClient('@google/genai 1', GoogleGenAI1 as unknown as typeof GoogleGenAI),
];

describe('older client libraries', () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await openStage();
  });
  afterAll(() => stage.close());

  it.each(pairsOf(CLIENTS))(
    verifies(
      'routing.translation.pairs',
      'routing.response-model-logical',
      `get texts and calls, and send back results: ${PAIR_TITLE}`,
    ),
    async ({ client, provider, stream, isNative }) => {
      stage.play(PROVIDERS[provider].twoCalls);
      const question = { text: 'weather?', tools: true };
      const dialogue = client.open(stage.target(provider), question);
      const said = await dialogue.ask(stream);
      expect(said.text).toBe(SAID);
      if (!isNative) expect(said.model).toBe(`acme/${provider}`);
      const parsed = said.calls.map((call) =>
        typeof call.arguments === 'string' ? JSON.parse(call.arguments) : call.arguments,
      );
      expect(parsed).toEqual(TWO_CALLS.map((call) => JSON.parse(call.arguments)));
      dialogue.give([{ text: 'rain' }, { text: 'snow' }]);
      stage.play(PROVIDERS[provider].said('Rain and snow.'));
      expect((await dialogue.ask(stream)).text).toBe('Rain and snow.');
      const { text } = stage.sent();
      for (const one of ['Oslo', 'Bergen', 'rain', 'snow']) expect(text).toContain(one);
    },
  );
});
