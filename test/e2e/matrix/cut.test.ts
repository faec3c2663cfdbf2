import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WIRES } from '../../fixtures/wire/recorded.ts';
import type { Recorded } from '../../fixtures/wire/recorded.ts';
import { SAID, sse } from '../../fixtures/wire/wire.ts';
import { verifies } from '../../requirements.ts';
import { payloads } from '../../support/chat.ts';
import { beginEvents } from '../../support/stage/upstream.ts';
import { CLIENTS } from './clients.ts';
import { openStage, PAIR_TITLE, livePairs } from './stage.ts';
import type { Stage } from './stage.ts';

const QUESTION = { text: 'weather?', tools: true };

/** How many frames of its two calls a provider sends: the last one is in the middle of arguments. */
const CUT_AFTER: Readonly<Record<Recorded, number>> = {
  chat: 6,
  responses: 13,
  messages: 10,
  // Calls come whole, so the break is between the two.
  'generate-content': 3,
};

/** What a provider says when it fails in the middle. */
const FAILURE: Readonly<Record<Recorded, string>> = {
  chat: sse({ error: { message: 'overloaded', type: 'server_error', code: 'overloaded' } }),
  responses: sse(
    {
      type: 'error',
      sequence_number: 13,
      code: 'server_error',
      message: 'overloaded',
      param: null,
    },
    'error',
  ),
  messages: sse(
    { type: 'error', error: { type: 'overloaded_error', message: 'overloaded' } },
    'error',
  ),
  'generate-content': sse({ error: { code: 503, message: 'overloaded', status: 'UNAVAILABLE' } }),
};

/** It closes the stream as if it were over, breaks the connection, or says that it failed. */
const WAYS = ['ends', 'breaks', 'fails'] as const;

/** The last event of a stream that failed. */
const ERRORS: Readonly<Record<string, object>> = {
  chat: {
    error: { message: expect.any(String), type: expect.any(String), code: expect.any(String) },
  },
  responses: { type: 'error', message: expect.any(String), sequence_number: expect.any(Number) },
  messages: { type: 'error', error: { type: expect.any(String), message: expect.any(String) } },
  'generate-content': {
    error: { code: expect.any(Number), message: expect.any(String), status: expect.any(String) },
  },
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

  const pairs = livePairs(CLIENTS).filter(({ stream }) => stream);

  const playCut = (provider: Recorded, how: (typeof WAYS)[number]): void =>
    stage.play(async (response) => {
      beginEvents(response);
      const frames = WIRES[provider].twoCalls.frames.slice(0, CUT_AFTER[provider]);
      await new Promise<void>((resolve) => void response.write(frames.join(''), () => resolve()));
      if (how === 'breaks') response.destroy();
      else response.end(how === 'fails' ? FAILURE[provider] : '');
    });

  it.each(pairs)(
    verifies('stream.upstream-death', `makes the library raise: ${PAIR_TITLE}`),
    async ({ client, provider }) => {
      for (const how of WAYS) {
        playCut(provider, how);
        const asked = client.open(stage.target(provider), QUESTION).ask(true);
        await expect(asked, how).rejects.toThrow(/provider|overloaded/);
        const record = await stage.record();
        expect([how, record.result]).toEqual([how, 'interrupted']);
      }
    },
  );

  it.each(pairs)(
    verifies(
      'stream.upstream-death',
      'chat.stream.error-in-band',
      'gencontent.stream.error-in-band',
      'messages.stream.error-in-band',
      'responses.stream.malformed-closed',
      `ends with the error of the client's protocol, never tidily: ${PAIR_TITLE}`,
    ),
    async ({ client, provider }) => {
      for (const how of WAYS) {
        playCut(provider, how);
        const { path, body } = client.streamed(`acme/${provider}`);
        const answer = await stage.gateway.call('POST', path, { body });
        expect(answer.status).toBe(200);
        const text = String(answer.body);
        for (const word of SAID.split(' ')) expect(text).toContain(word);
        expect([how, ENDS.exec(text)?.[0]]).toEqual([how, undefined]);
        expect(JSON.parse(payloads(text).at(-1) ?? '')).toMatchObject(ERRORS[client.id] ?? {});
        expect(text).not.toContain('Bergen');
      }
    },
  );
});
