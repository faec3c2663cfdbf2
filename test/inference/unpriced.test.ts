import { describe, expect, it } from 'vitest';
import { runInference } from '../../src/inference/run-inference.ts';
import type { CallResult } from '../../src/inference/types.ts';
import { chat } from '../../src/protocols/chat/chat.ts';
import type { Route } from '../../src/routing/catalog.ts';
import { UpstreamError } from '../../src/upstream/transport.ts';
import { toFamilyError } from '../../src/surfaces/family-error.ts';
import { verifies } from '../requirements.ts';
import { fakeCatalog, fakeModel, fakeRoute } from '../support/catalog.ts';
import { chatBody, COMPLETION } from '../support/chat.ts';
import { inferenceBench } from '../support/inference.ts';
import { principal } from '../usage/usage-fixtures.ts';
import { FAMILIES } from '../server/surfaces.ts';

interface Setup {
  family?: keyof typeof FAMILIES;
  allowsUnpriced?: boolean;
  limited?: 'key' | 'organization' | 'none';
  model?: string;
}

function setup(routes: Route[], options: Setup = {}) {
  const { family = 'chat', allowsUnpriced = false, limited = 'key' } = options;
  const bench = inferenceBench();
  const limits = { day: 1_000_000 };
  const answer: Promise<CallResult> = runInference(
    {
      id: 'req_1',
      at: bench.clock.now(),
      startedAt: bench.clock.monotonic(),
      surface: 'chat',
      protocol: chat,
      headers: {},
      address: {},
      principal: {
        ...principal(),
        keySpend: limited === 'key' ? limits : null,
        organizationSpend: limited === 'organization' ? limits : null,
      },
      catalog: fakeCatalog(fakeModel('acme/fast', routes)),
      body: Buffer.from(chatBody(options.model ?? 'acme/fast', { stream: false })),
      client: { gone: false, onGone: () => () => undefined },
      repeatable: true,
      toClientError: (error, statuses) => toFamilyError(FAMILIES[family], error, statuses),
    },
    { ...bench.deps, allowsUnpriced },
  );
  answer.catch(() => undefined);
  return { ...bench, answer };
}

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));
const TEXT =
  'no route of acme/fast has a known price; set pricing, or server.limits.unpriced: allow';

describe('a route without a known price under a spending limit', () => {
  it('is skipped for one with a price, and the record says so', async () => {
    const routes = [
      fakeRoute('unpriced', { priority: 0 }),
      fakeRoute('priced', { priority: 1, pricing: { input: 1 } }),
    ];
    const { answer, sent, outcomes } = setup(routes);
    await nextTurn();
    expect(sent).toHaveLength(1);
    sent[0]?.sink.onHead(200, { 'content-type': 'application/json' });
    sent[0]?.sink.onData(Buffer.from(JSON.stringify(COMPLETION)));
    sent[0]?.sink.onEnd();
    await answer;
    expect(outcomes[0]?.attempts).toMatchObject([
      { provider: 'unpriced', outcome: 'unpriced', verdict: 'next route' },
      { provider: 'priced', outcome: 'ok' },
    ]);
  });

  it(
    verifies(
      'limits.spend.unpriced-refused',
      'is refused where no other is left, asks nobody, and leaves a record',
    ),
    async () => {
      for (const limited of ['key', 'organization'] as const) {
        const { answer, sent, refusals } = setup([fakeRoute('a')], { limited });
        await expect(answer).rejects.toMatchObject({ message: TEXT, retry: false });
        expect(sent).toEqual([]);
        expect(refusals).toMatchObject([
          {
            id: 'req_1',
            model: 'acme/fast',
            told: { status: 402 },
            cause: { code: 'unpriced' },
            attempts: [{ provider: 'a', outcome: 'unpriced' }],
          },
        ]);
      }
      const messages = setup([fakeRoute('a')], { family: 'messages' });
      await expect(messages.answer).rejects.toMatchObject({ message: TEXT });
      expect(messages.refusals).toMatchObject([{ told: { status: 403 } }]);
      const allowed = setup([fakeRoute('a')], { allowsUnpriced: true });
      const skipped = setup([fakeRoute('b'), fakeRoute('a', { pricing: { input: 1 } })]);
      await nextTurn();
      expect(allowed.sent).toHaveLength(1);
      expect(skipped.sent).toHaveLength(1);
    },
  );

  it('serves who has no limit', async () => {
    const { sent } = setup([fakeRoute('a')], { limited: 'none' });
    await nextTurn();
    expect(sent).toHaveLength(1);
  });
});

describe('a refusal', () => {
  it('of an unknown model leaves a record with the name', async () => {
    const { answer, refusals } = setup([fakeRoute('a')], { model: 'acme/none' });
    await expect(answer).rejects.toMatchObject({ code: 'model_not_found' });
    expect(refusals).toMatchObject([{ model: 'acme/none', cause: { code: 'model_not_found' } }]);
  });

  it('of a model without a route leaves a record', async () => {
    const { answer, refusals } = setup([fakeRoute('a', { protocols: new Set(['embeddings']) })]);
    await expect(answer).rejects.toMatchObject({ code: 'model_unavailable' });
    expect(refusals).toMatchObject([
      { told: { code: 'model_not_found' }, cause: { code: 'model_unavailable' } },
    ]);
  });
});

describe('failed attempts', () => {
  it(
    verifies(
      'attempts.verdict',
      'errors.no-route.next-step',
      'carry their verdict, and the error names what to run',
    ),
    async () => {
      const priced = { pricing: { input: 1 } };
      const { answer, sent, outcomes } = setup([
        fakeRoute('a', { ...priced, priority: 0 }),
        fakeRoute('b', { ...priced, priority: 1 }),
      ]);
      for (let i = 0; i < 4; i++) {
        await nextTurn();
        sent[i]?.sink.onError(new UpstreamError('connect', 'refused', { detail: 'ECONNREFUSED' }));
      }
      await expect(answer).rejects.toMatchObject({
        message: 'no provider route succeeded; gateway logs req_1 tells why',
      });
      expect(
        outcomes[0]?.attempts.map(({ provider, cause, verdict }) => [provider, cause, verdict]),
      ).toEqual([
        ['a', 'ECONNREFUSED', 'retried here'],
        ['a', 'ECONNREFUSED', 'next route'],
        ['b', 'ECONNREFUSED', 'retried here'],
        ['b', 'ECONNREFUSED', 'final'],
      ]);
    },
  );
});
