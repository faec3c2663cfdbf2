import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SAID } from '../../fixtures/wire/wire.ts';
import { verifies } from '../../requirements.ts';
import { beginEvents } from '../../support/upstream.ts';
import { CLIENTS } from './clients.ts';
import { openStage, PAIR_TITLE, pairsOf, PROVIDERS } from './stage.ts';
import type { ProviderId, Stage } from './stage.ts';

const QUESTION = { text: 'weather?', tools: true };

/** How many frames of its two calls a provider sends: the last one is in the middle of arguments. */
const CUT_AFTER: Readonly<Record<ProviderId, number>> = {
  chat: 6,
  responses: 13,
  messages: 10,
  // Calls come whole, so the break is between the two.
  'generate-content': 3,
};

/** What only a stream that came to its end holds, in any protocol. */
const ENDS =
  /\[DONE\]|message_stop|stop_reason":"|response\.(?:completed|incomplete)|finishReason|finish_reason":"/;

describe('a stream that breaks in the middle of arguments', () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await openStage();
  });
  afterAll(() => stage.close());

  const pairs = pairsOf(CLIENTS).filter(({ stream }) => stream);

  /** Closes the stream as if it were over, or breaks the connection. */
  const playCut = (provider: ProviderId, how: 'ends' | 'breaks'): void =>
    stage.play(async (response) => {
      beginEvents(response);
      const frames = PROVIDERS[provider].twoCalls.frames.slice(0, CUT_AFTER[provider]);
      await new Promise<void>((resolve) => void response.write(frames.join(''), () => resolve()));
      if (how === 'ends') response.end();
      else response.destroy();
    });

  it.each(pairs)(
    verifies(
      'stream.upstream-death',
      'chat.stream.error-in-band',
      'messages.stream.error-in-band',
      'responses.stream.malformed-closed',
      `makes the library raise: ${PAIR_TITLE}`,
    ),
    async ({ client, provider }) => {
      for (const how of ['ends', 'breaks'] as const) {
        playCut(provider, how);
        const asked = client.open(stage.target(provider), QUESTION).ask(true);
        await expect(asked, how).rejects.toThrow(/provider/);
        const record = await stage.record();
        expect([how, record.result]).toEqual([how, 'interrupted']);
      }
    },
  );

  it.each(pairs)(
    verifies('stream.upstream-death', `never ends tidily: ${PAIR_TITLE}`),
    async ({ client, provider }) => {
      for (const how of ['ends', 'breaks'] as const) {
        playCut(provider, how);
        const { path, body } = client.streamed(`acme/${provider}`);
        const answer = await stage.gateway.call('POST', path, { body });
        expect(answer.status).toBe(200);
        const text = String(answer.body);
        for (const word of SAID.split(' ')) expect(text).toContain(word);
        expect([how, ENDS.exec(text)?.[0]]).toEqual([how, undefined]);
        expect(text).toContain('error');
        expect(text).not.toContain('Bergen');
      }
    },
  );
});
