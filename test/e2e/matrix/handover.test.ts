import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { REASONING_DETAILS } from '../../fixtures/wire/chat.ts';
import { THOUGHT_SIGNATURE } from '../../fixtures/wire/generate-content.ts';
import { THINKING } from '../../fixtures/wire/messages.ts';
import { REASONING_ITEM } from '../../fixtures/wire/responses.ts';
import { verifies } from '../../requirements.ts';
import { CLIENTS } from './clients.ts';
import { openStage, PROVIDER_IDS, PROVIDERS } from './stage.ts';
import type { ProviderId, Stage } from './stage.ts';

const QUESTION = { text: 'weather?', tools: true, thinks: true };

/** What proves the reasoning of a provider; nobody else can read it. */
const PROOFS: Readonly<Record<ProviderId, readonly string[]>> = {
  chat: REASONING_DETAILS.map(({ signature, data }) => signature ?? data ?? ''),
  responses: [REASONING_ITEM.encrypted_content],
  messages: THINKING.map(({ signature, data }) => signature ?? data ?? ''),
  'generate-content': [THOUGHT_SIGNATURE],
};

/** How the tokens begin by which other protocols' clients are shown such proofs. */
const TOKEN = Buffer.from('GWR1["').toString('base64');

/** Of Responses a conversation with reasoning stays with its account (requirement routing.affinity.responses). */
const MOVES = CLIENTS.filter(({ id }) => id !== 'responses').flatMap((client) =>
  PROVIDER_IDS.flatMap((from) =>
    PROVIDER_IDS.filter((to) => to !== from).flatMap((to) =>
      [false, true].map((stream) => ({
        client,
        from,
        to,
        stream,
        form: stream ? 'streamed' : 'whole',
      })),
    ),
  ),
);

describe('a conversation that another provider goes on with', () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await openStage();
  });
  beforeEach(() => stage.clear());
  afterAll(() => stage.close());

  it.each(MOVES)(
    verifies(
      'routing.translation.pairs',
      'leaves reasoning behind that only its provider can read: $client.id from $from to $to, $form',
    ),
    async ({ client, from, to, stream }) => {
      stage.play(PROVIDERS[from].reasoned);
      const dialogue = client.open(stage.target(from), QUESTION);
      const { calls } = await dialogue.ask(stream);
      dialogue.give([{ text: 'sunny' }]);
      dialogue.moveTo(`acme/${to}`);
      stage.play(PROVIDERS[to].said('Sunny.'));
      expect((await dialogue.ask(stream)).text).toBe('Sunny.');
      const { text } = stage.sent();
      expect(text).not.toContain(TOKEN);
      for (const proof of PROOFS[from]) expect(text).not.toContain(proof);
      // The call and its result go on, under one id; some providers of generate-content give none.
      expect(text).toContain('Oslo');
      expect(text).toContain('sunny');
      const id = calls[0]?.id;
      if (id) expect(text.split(`"${id}"`)).toHaveLength(3);
      const { losses } = await stage.record();
      expect(losses.length).toBeGreaterThan(0);
    },
  );
});
