import { Buffer } from 'node:buffer';
import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../src/core/errors.ts';
import type { LimitReached } from '../../src/core/errors.ts';
import { runInference } from '../../src/inference/run-inference.ts';
import type { InferenceRequest } from '../../src/inference/types.ts';
import type { Model } from '../../src/routing/catalog.ts';
import { verifies } from '../requirements.ts';
import { fakeCatalog, fakeModel, fakeRoute } from '../support/catalog.ts';
import { chatBody, chunk } from '../support/chat.ts';
import { inferenceBench } from '../support/inference.ts';
import { SPOKEN } from '../protocols/spoken.ts';
import { principal } from '../usage/usage-fixtures.ts';

const PRICING = { input: 10, output: 100 };
const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

function asking(extra: object, model: Partial<Model> = {}): InferenceRequest {
  const routes = [fakeRoute('a', { priority: 0, pricing: PRICING })];
  return {
    id: 'req_1',
    at: 0,
    startedAt: 0,
    surface: 'chat',
    protocol: SPOKEN.wires.chat,
    headers: {},
    address: {},
    principal: { ...principal(), tokenCaps: { day: 10_000 } },
    catalog: fakeCatalog(fakeModel('acme/fast', routes, model)),
    body: Buffer.from(chatBody('acme/fast', { max_tokens: 5, ...extra })),
    client: { gone: false, onGone: () => () => undefined },
    repeatable: true,
  };
}

describe('what a call reserves', () => {
  async function reserved(extra: object, model?: Partial<Model>) {
    const bench = inferenceBench();
    runInference(asking(extra, model), bench.deps).catch(() => undefined);
    while (bench.starts.length === 0) await nextTurn();
    return bench.starts[0]!;
  }
  const content = (part: object) => ({ messages: [{ role: 'user', content: [part] }] });

  it('is no more of a prompt than the model reads, however many bytes a picture has', async () => {
    const url = `data:image/png;base64,${'A'.repeat(500_000)}`;
    const picture = content({ type: 'image_url', image_url: { url } });
    const { bound, tokens } = await reserved(picture, { contextWindow: 8_000 });
    expect(tokens).toBe(8_005);
    expect(bound).toBe(8_000 * PRICING.input + 5 * PRICING.output);
    expect((await reserved(picture)).tokens).toBeGreaterThan(500_000);
  });

  it(
    verifies('store.ledger.never-exceeds', 'is all that the model reads, where bytes tell nothing'),
    async () => {
      const file = content({ type: 'file', file: { file_id: 'file_1' } });
      expect((await reserved(file, { contextWindow: 8_000 })).tokens).toBe(8_005);
      expect((await reserved(file)).tokens).toBe(1_000_005);
    },
  );
});

describe('what a stream is charged that was cut', () => {
  const usage = (output: number): string => {
    const tokens = { prompt_tokens: 70, completion_tokens: output, total_tokens: 70 + output };
    return `data: ${JSON.stringify({ id: 'x', choices: [], usage: tokens })}\n\n`;
  };

  async function cutBehind(frames: readonly string[]) {
    const bench = inferenceBench();
    const answer = runInference(asking({ stream: true }), bench.deps);
    while (bench.sent.length === 0) await nextTurn();
    const { sink } = bench.sent[0]!;
    sink.onHead(200, { 'content-type': 'text/event-stream' });
    for (const frame of frames) sink.onData(Buffer.from(frame));
    await answer;
    sink.onEnd();
    while (bench.outcomes.length === 0) await nextTurn();
    return bench.outcomes[0]!;
  }
  const said = Array.from({ length: 50 }, () => chunk({ content: 'many words ' }));

  it(
    verifies('store.ledger.abort', 'is at least the output that came, whatever its beginning told'),
    async () => {
      const outcome = await cutBehind([usage(1), ...said]);
      expect(outcome).toMatchObject({ result: 'interrupted', estimated: true });
      expect(outcome.usage.input).toBe(70);
      expect(outcome.usage.output).toBeGreaterThan(50);
      expect(outcome.cost).toBe(70 * PRICING.input + outcome.usage.output * PRICING.output);
    },
  );

  it('is what its provider counted where that is more, or the stream was whole', async () => {
    const counted = await cutBehind([usage(5_000), ...said]);
    expect(counted).toMatchObject({ estimated: false, usage: { output: 5_000 } });
    const whole = [...said, chunk({}, 'stop'), usage(3), 'data: [DONE]\n\n'];
    expect(await cutBehind(whole)).toMatchObject({
      result: 'ok',
      estimated: false,
      usage: { output: 3 },
    });
  });
});

describe('a call that a limit of money refuses', () => {
  const limit: LimitReached = {
    owner: 'key',
    id: 'key_1',
    name: 'first',
    unit: 'money',
    per: 'day',
    most: 100,
    used: 0,
    held: 0,
    needed: 100_000,
    freeAt: null,
  };
  const refuse = async (extra: object, model?: Partial<Model>) => {
    const admitted = Promise.reject(new GatewayError('key_spending_limit', { limit }));
    admitted.catch(() => undefined);
    const bench = inferenceBench({ admitted });
    const error: unknown = await runInference(asking(extra, model), bench.deps).catch(
      (thrown: unknown) => thrown,
    );
    return { error: error as GatewayError, outcome: bench.outcomes[0] };
  };

  it.each<{ what: string; extra: object; model?: Partial<Model>; expected: object }>([
    { what: 'the request', extra: {}, expected: { output: 5, from: 'request' } },
    {
      what: 'the model',
      extra: { max_tokens: undefined },
      model: { maxOutputTokens: 70 },
      expected: { output: 70, from: 'model' },
    },
    {
      what: 'the default',
      extra: { max_tokens: undefined },
      expected: { output: 1_000, from: 'default' },
    },
    {
      what: 'the default, for each choice',
      extra: { max_tokens: undefined, n: 3 },
      expected: { output: 3_000 },
    },
  ])(
    verifies('limits.refusal.reason', 'leaves a record of the tokens that were bounded by $what'),
    async ({ extra, model = {}, expected }) => {
      const { error, outcome } = await refuse(extra, model);
      const bound = expect.objectContaining({ input: expect.any(Number), ...expected });
      expect(outcome).toMatchObject({
        errorCode: 'key_spending_limit',
        limit: { ...limit, bound },
      });
      expect(error.message).toBe('API key spending limit exceeded');
      const { output } = expected as { output: number };
      expect(error.headers?.['x-gateway-limit']).toContain(`; output-tokens=${output}; by=`);
    },
  );
});
