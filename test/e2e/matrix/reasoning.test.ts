import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { REASONING_DETAILS } from '../../fixtures/wire/chat.ts';
import { THOUGHT_SIGNATURE } from '../../fixtures/wire/generate-content.ts';
import { THINKING } from '../../fixtures/wire/messages.ts';
import { REASONING_ITEM } from '../../fixtures/wire/responses.ts';
import { THOUGHT, THOUGHTFUL_CALL } from '../../fixtures/wire/wire.ts';
import { verifies } from '../../requirements.ts';
import { CLIENTS } from './clients.ts';
import { openStage, PAIR_TITLE, pairsOf, PROVIDERS } from './stage.ts';
import type { ProviderId, Received, Stage } from './stage.ts';

const QUESTION = { text: 'weather?', tools: true, thinks: true };

/** What a provider gets back of what it thought, and what it must be. */
const PROOFS: Readonly<Record<ProviderId, readonly [(body: Received) => unknown, unknown]>> = {
  chat: [(body) => body.messages[1].reasoning_details, REASONING_DETAILS],
  responses: [(body) => body.input[1], REASONING_ITEM],
  messages: [(body) => body.messages[1].content.slice(0, 2), THINKING],
  'generate-content': [
    (body) => body.contents[1].parts.find((part: Received) => part.functionCall),
    {
      functionCall: { name: 'look', args: { city: 'Oslo' }, id: expect.any(String) },
      thoughtSignature: THOUGHT_SIGNATURE,
    },
  ],
};

describe('signed reasoning', () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await openStage();
  });
  afterAll(() => stage.close());

  it.each(pairsOf(CLIENTS).filter(({ isNative }) => !isNative))(
    verifies(
      'routing.translation.pairs',
      'messages.thinking.round-trip',
      'gencontent.thought-signature',
      `is shown, and comes back as it was with the result: ${PAIR_TITLE}`,
    ),
    async ({ client, provider, stream }) => {
      stage.play(PROVIDERS[provider].reasoned);
      const dialogue = client.open(stage.target(provider), QUESTION);
      const said = await dialogue.ask(stream);
      expect(said.thought).toBe(THOUGHT);
      expect(said.text).toBe('');
      expect(said.calls).toMatchObject([{ name: THOUGHTFUL_CALL.name }]);
      dialogue.give([{ text: 'sunny' }]);
      stage.play(PROVIDERS[provider].said('Sunny.'));
      expect((await dialogue.ask(stream)).text).toBe('Sunny.');
      const [find, proof] = PROOFS[provider];
      expect(find(stage.sent().body)).toEqual(proof);
    },
  );

  it.each(pairsOf(CLIENTS).filter(({ isNative }) => isNative))(
    `is forwarded as it is where nothing is translated: ${PAIR_TITLE}`,
    async ({ client, provider, stream }) => {
      stage.play(PROVIDERS[provider].reasoned);
      const dialogue = client.open(stage.target(provider), QUESTION);
      expect((await dialogue.ask(stream)).thought).toBe(THOUGHT);
      dialogue.give([{ text: 'sunny' }]);
      stage.play(PROVIDERS[provider].said('Sunny.'));
      expect((await dialogue.ask(stream)).text).toBe('Sunny.');
      const proofs = {
        chat: REASONING_DETAILS.map(({ signature, data }) => signature ?? data),
        responses: [REASONING_ITEM.encrypted_content],
        messages: THINKING.map(({ signature, data }) => signature ?? data),
        'generate-content': [THOUGHT_SIGNATURE],
      };
      for (const proof of proofs[provider]) expect(stage.sent().text).toContain(proof);
    },
  );
});
