import Anthropic from '@anthropic-ai/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verifies } from '../../requirements.ts';
import { eventually, startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';

const CONFIG = {
  server: { harnesses: { tester: { command: 'true', protocol: 'jsonl' } } },
  providers: [{ name: 'acme', type: 'mock' }],
  models: [
    { name: 'acme/one', routes: [{ provider: 'acme', pricing: { per_call: '0.01' } }] },
    { name: 'acme/free', routes: [{ provider: 'acme' }] },
  ],
};

const limit = (amount: string) => ({
  type: 'limit' as const,
  max_list_cost: { amount, currency: 'USD' as const },
});

describe('the budget of a Session', () => {
  let gateway: TestGateway;
  let client: Anthropic;
  beforeAll(async () => {
    gateway = await startGateway(CONFIG);
    client = new Anthropic({ baseURL: gateway.url, apiKey: gateway.clientKey, maxRetries: 0 });
  });
  afterAll(() => gateway.stop());

  const create = async (
    agent: { model?: string; harness?: string },
    budget?: ReturnType<typeof limit>,
  ) => {
    const { body } = await gateway.call('POST', '/v1/agents', {
      body: { name: 'helper', ...agent },
    });
    return client.beta.sessions.create({
      agent: body.id,
      environment_id: 'env_1',
      ...(budget && { budget }),
    });
  };
  /** The stop reason of the turn of a message. */
  const say = async (id: string) => {
    const content = [{ type: 'text' as const, text: 'hello' }];
    const { data } = await client.beta.sessions.events.send(id, {
      events: [{ type: 'user.message', content }],
    });
    const sent = data?.[0]?.id;
    return eventually(async () => {
      const events = (await client.beta.sessions.events.list(id, { limit: 100 })).data;
      const from = events.findIndex((event) => event.id === sent);
      const end = events.slice(from).find(({ type }) => type === 'session.status_idle');
      return end?.type === 'session.status_idle' && end.stop_reason?.type;
    });
  };

  it(
    verifies(
      'sessions.object.shape',
      'sessions.update',
      'is kept, shown with what was used of it, and can be raised and taken away',
    ),
    async () => {
      const { sessions } = client.beta;
      const { id, budget, usage } = await create({ model: 'acme/one' }, limit('2'));
      expect(budget).toEqual(limit('2'));
      expect(usage.list_cost).toEqual({ amount: '0', currency: 'USD' });
      expect([await say(id), await say(id)]).toEqual(['end_turn', 'end_turn']);
      expect(await say(id)).toBe('budget_reached');
      const spent = await sessions.retrieve(id);
      expect(spent.usage.list_cost).toEqual({ amount: '2', currency: 'USD' });
      expect(spent.status).toBe('idle');

      await expect(sessions.update(id, { budget: limit('2') })).rejects.toMatchObject({
        status: 400,
        error: { error: { type: 'budget_not_raised' } },
      });
      const raised = await sessions.update(id, { budget: limit('3') });
      expect(raised.budget).toEqual(limit('3'));
      expect([await say(id), await say(id)]).toEqual(['end_turn', 'budget_reached']);
      expect((await sessions.update(id, { budget: null })).budget).toBeNull();
      expect(await say(id)).toBe('end_turn');
      await expect(sessions.update(id, { budget: limit('9') })).rejects.toMatchObject({
        status: 400,
        error: { error: { type: 'budget_create_only' } },
      });
      const events = (await sessions.events.list(id, { limit: 100 })).data;
      const updates = events.filter((event) => event.type === 'session.updated');
      expect(updates).toMatchObject([{ budget: limit('3') }, { budget: null }]);
    },
  );

  it('is refused where the cost cannot be known, and where it is no amount', async () => {
    const unknown = { status: 400, error: { error: { type: 'model_not_budgetable' } } };
    await expect(create({ model: 'acme/free' }, limit('2'))).rejects.toMatchObject(unknown);
    await expect(create({ harness: 'tester' }, limit('2'))).rejects.toMatchObject(unknown);
    for (const amount of ['0', '-1', '1.5', '007', '1e3', 'many'])
      await expect(create({ model: 'acme/one' }, limit(amount))).rejects.toMatchObject({
        status: 400,
      });
  });
});
