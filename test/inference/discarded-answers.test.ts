import { describe, expect, it } from 'vitest';

import { NO_ANSWER_BODIES, NO_ANSWER_STREAMS } from '../fixtures/wire/odd-streams.ts';
import { WIRES } from '../fixtures/wire/recorded.ts';
import type { Recorded } from '../fixtures/wire/recorded.ts';
import { verifies } from '../requirements.ts';
import { ask, PRICING } from './asking.ts';
import type { Asked } from './asking.ts';
import { CODECS } from '../protocols/spoken.ts';

const FAMILIES = CODECS.map(({ id }) => id as Recorded);
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
        await expectNext(asked, none, JSON.parse(WIRES.chat.said('hello').whole));
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
        await expectNext(asked, none, JSON.parse(WIRES['generate-content'].said('hello').whole));
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
