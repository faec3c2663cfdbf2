import { describe, expect, it } from 'vitest';
import type { Protocol } from '../../src/core/protocol-id.ts';
import { runInference } from '../../src/inference/run-inference.ts';
import { CODECS } from '../../src/protocols/registry.ts';
import type { Route } from '../../src/routing/catalog.ts';
import { CLIENT_PROTOCOLS } from '../../src/server/public-routes.ts';
import { NO_ANSWER_BODIES, NO_ANSWER_STREAMS } from '../fixtures/wire/odd-streams.ts';
import { CHAT } from '../fixtures/wire/chat.ts';
import { GENERATE_CONTENT } from '../fixtures/wire/generate-content.ts';
import { MESSAGES } from '../fixtures/wire/messages.ts';
import { RESPONSES } from '../fixtures/wire/responses.ts';
import { verifies } from '../requirements.ts';
import { fakeAccount, fakeCatalog, fakeModel, fakeRoute } from '../support/catalog.ts';
import { inferenceBench } from '../support/inference.ts';
import { principal } from '../usage/usage-fixtures.ts';

const WIRES = {
  chat: CHAT,
  messages: MESSAGES,
  responses: RESPONSES,
  'generate-content': GENERATE_CONTENT,
} as const;
type Family = keyof typeof WIRES;

const turn = () => new Promise((resolve) => setImmediate(resolve));
const PRICING = { input: 100, output: 200 };

const PATH = { path: '/ask' };
const PROTOCOLS = {
  chat: PATH,
  messages: PATH,
  responses: PATH,
  'generate-content': PATH,
  embeddings: PATH,
  images: PATH,
};

const route = (name: string, priority: number, protocol: Protocol): Route =>
  fakeRoute(name, {
    priority,
    pricing: PRICING,
    protocols: new Set([protocol]),
    mapping: 'translated',
    provider: fakeAccount(name, { protocols: PROTOCOLS }),
  });

const USER = { role: 'user', content: 'hi' };
const REQUESTS: Record<string, object> = {
  chat: { messages: [USER] },
  messages: { messages: [USER], max_tokens: 10 },
  responses: { input: 'hi' },
  'generate-content': { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] },
  embeddings: { input: ['a', 'b'] },
  images: { prompt: 'a fox' },
};

interface Asked {
  client: Protocol;
  provider: Protocol;
  stream?: boolean;
  routes?: readonly string[];
}

function ask({ client, provider, stream = false, routes = ['a', 'b'] }: Asked) {
  const bench = inferenceBench();
  const protocol = CLIENT_PROTOCOLS.find(({ id }) => id === client);
  if (!protocol) throw new Error(`no client speaks ${client}`);
  const all = routes.map((name, index) => route(name, index, provider));
  const answer = runInference(
    {
      id: 'req_1',
      at: bench.clock.now(),
      startedAt: bench.clock.monotonic(),
      surface: client,
      protocol,
      headers: {},
      address:
        client === 'generate-content'
          ? {
              model: 'acme/one',
              operation: stream ? 'streamGenerateContent' : 'generateContent',
              query: stream ? 'alt=sse' : '',
            }
          : {},
      principal: principal(),
      catalog: fakeCatalog(fakeModel('acme/one', all)),
      body: Buffer.from(
        JSON.stringify({
          ...(client !== 'generate-content' && { model: 'acme/one', stream }),
          ...REQUESTS[client],
        }),
      ),
      client: { gone: false, onGone: () => () => undefined },
      repeatable: client !== 'images',
    },
    bench.deps,
  );
  answer.catch(() => undefined);
  const give = async (body: unknown): Promise<void> => {
    const { sink } = bench.sent.at(-1) ?? {};
    const isStream = typeof body === 'string';
    sink?.onHead(200, { 'content-type': isStream ? 'text/event-stream' : 'application/json' });
    sink?.onData(Buffer.from(isStream ? body : JSON.stringify(body)));
    sink?.onEnd();
    for (let round = 0; round < 5; round++) await turn();
  };
  return { ...bench, answer, give };
}

const FAMILIES = CODECS.map(({ id }) => id as Family);
const DISCARDED = {
  usage: expect.objectContaining({ input: 5, output: 3 }) as unknown,
  cost: 5 * PRICING.input + 3 * PRICING.output,
};

/** A 200 that is none leads to the next route, and its usage is due. */
async function expectNext(asked: Asked, none: unknown, good: unknown): Promise<void> {
  const { sent, answer, outcomes, give } = ask(asked);
  await give(none);
  expect(sent, JSON.stringify(none)).toHaveLength(2);
  await give(good);
  expect(await answer).toMatchObject({ status: 200 });
  const [outcome] = outcomes;
  expect(outcome?.attempts).toMatchObject([
    { provider: 'a', status: 200, discarded: DISCARDED },
    { provider: 'b', outcome: 'ok', discarded: undefined },
  ]);
  const { input = 0, output = 0, cost = 0 } = { ...outcome?.usage, cost: outcome?.cost };
  expect(cost).toBe(input * PRICING.input + output * PRICING.output);
  expect(cost).toBeGreaterThan(DISCARDED.cost);
}

/** Without another route it is a 502 that is charged for. */
async function expectFailure(asked: Asked, none: unknown): Promise<void> {
  const { answer, outcomes, give } = ask({ ...asked, routes: ['a'] });
  await give(none);
  await expect(answer).rejects.toMatchObject({ code: 'invalid_upstream_response', status: 502 });
  expect(outcomes).toMatchObject([
    {
      result: 'error',
      cost: DISCARDED.cost,
      usage: { input: 5, output: 3 },
      attempts: [{ discarded: DISCARDED }],
    },
  ]);
}

describe('a 200 without an answer', () => {
  it.each(NO_ANSWER_BODIES.chat)(
    verifies('chat.answer.unusable', 'leads to the next route, else to 502: chat, case %#'),
    async (none) => {
      for (const client of FAMILIES) {
        const asked = { client, provider: 'chat' } as const;
        await expectNext(asked, none, JSON.parse(CHAT.said('hello').whole));
        await expectFailure(asked, none);
      }
    },
  );

  it.each([null, false])(
    verifies('chat.answer.unusable', 'leads to the next route when its body is %s'),
    async (none) => {
      const { sent, give, answer } = ask({ client: 'chat', provider: 'chat' });
      await give(none);
      expect(sent).toHaveLength(2);
      await give(none);
      await expect(answer).rejects.toMatchObject({ status: 502 });
    },
  );

  it.each(NO_ANSWER_BODIES['generate-content'])(
    verifies('gencontent.answer.no-candidates', 'leads to the next route, else to 502: case %#'),
    async (none) => {
      for (const client of FAMILIES) {
        const asked = { client, provider: 'generate-content' } as const;
        await expectNext(asked, none, JSON.parse(GENERATE_CONTENT.said('hello').whole));
        await expectFailure(asked, none);
      }
    },
  );

  it.each(['messages', 'responses'] as const)(
    verifies('usage.discarded-answer', 'leads to the next route, else to 502: %s'),
    async (provider) => {
      for (const none of NO_ANSWER_BODIES[provider])
        for (const client of FAMILIES) {
          await expectNext(
            { client, provider },
            none,
            JSON.parse(WIRES[provider].said('hi').whole),
          );
          await expectFailure({ client, provider }, none);
        }
    },
  );

  it.each(FAMILIES)(
    verifies('usage.discarded-answer', 'is charged for when it was a stream: %s'),
    async (provider) => {
      const none = NO_ANSWER_STREAMS[provider];
      for (const client of FAMILIES) {
        const asked = { client, provider, stream: true };
        await expectNext(asked, none, WIRES[provider].said('hello').frames.join(''));
        await expectFailure(asked, none);
      }
    },
  );

  it(
    verifies('usage.discarded-answer', 'is charged for when vectors or images are missing'),
    async () => {
      const vectors = ask({ client: 'embeddings', provider: 'embeddings', routes: ['a'] });
      await vectors.give({
        object: 'list',
        data: [{ object: 'embedding', index: 0, embedding: [1] }],
        usage: { prompt_tokens: 5, total_tokens: 5 },
      });
      await expect(vectors.answer).rejects.toMatchObject({ status: 502 });
      expect(vectors.outcomes).toMatchObject([{ cost: 500, usage: { input: 5 } }]);
      const images = ask({ client: 'images', provider: 'images' });
      await images.give({ data: [], usage: { input_tokens: 5, output_tokens: 3 } });
      await expect(images.answer).rejects.toMatchObject({ status: 502 });
      expect(images.sent).toHaveLength(1);
      expect(images.outcomes).toMatchObject([
        { cost: DISCARDED.cost, usage: { input: 5, output: 3, images: 0 } },
      ]);
    },
  );
});
