import Anthropic from '@anthropic-ai/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verifies } from '../../requirements.ts';
import { eventually, startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';

const CONFIG = {
  providers: [{ name: 'acme', type: 'mock' }],
  models: [
    {
      name: 'acme/one',
      pricing: { input: '1', output: '1' },
      routes: [{ provider: 'acme' }],
    },
  ],
};

const say = (text: string) => ({
  type: 'user.message' as const,
  content: [{ type: 'text' as const, text }],
});

describe('Sessions of a whole gateway', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startGateway(CONFIG);
  });
  afterAll(() => gateway.stop());

  const connect = () => new Anthropic({ baseURL: gateway.url, apiKey: gateway.clientKey });

  it(
    verifies(
      'sessions.create.pins-version',
      'sessions.events.turn-order',
      'sessions.turn.billing',
      'run an Agent by its model, as it was when they were made, and are billed',
    ),
    async () => {
      const { agents, sessions } = connect().beta;
      const agent = await agents.create({ name: 'helper', model: 'acme/one', system: 'be kind' });
      const session = await sessions.create({ agent: agent.id, environment_id: 'env_1' });
      expect(session.agent).toMatchObject({ id: agent.id, version: 1, system: 'be kind' });
      await agents.update(agent.id, { version: 1, system: 'be brief' });
      const stream = await sessions.events.stream(session.id, { event_deltas: ['agent.message'] });
      await sessions.events.send(session.id, { events: [say('hello')] });
      const types: string[] = [];
      let deltas = '';
      let text = '';
      for await (const event of stream) {
        if (event.type === 'event_delta') deltas += event.delta.content.text;
        else if (event.type !== 'event_start') types.push(event.type);
        if (event.type === 'agent.message') text = JSON.stringify(event.content);
        if (event.type === 'session.status_idle') break;
      }
      expect(types).toEqual([
        'user.message',
        'session.status_running',
        'span.model_request_start',
        'agent.message',
        'span.model_request_end',
        'session.status_idle',
      ]);
      expect(JSON.parse(text)).toEqual([{ type: 'text', text: deltas }]);
      const after = await sessions.retrieve(session.id);
      expect(after).toMatchObject({ status: 'idle', agent: { version: 1, system: 'be kind' } });
      expect(after.usage.output_tokens).toBeGreaterThan(0);
      expect(after.stats.active_seconds).toBeGreaterThan(0);
      const records = await eventually(async () => {
        const { body } = await gateway.admin('GET', '/admin/v1/requests');
        return body.data.length > 0 && body.data[0].status !== null && body.data;
      });
      expect(records).toMatchObject([{ surface: 'session', model: 'acme/one', status: 200 }]);
    },
  );

  it('refuse Agents that are unknown or archived', async () => {
    const { agents, sessions } = connect().beta;
    const create = (agent: string) => sessions.create({ agent, environment_id: 'env_1' });
    await expect(create('agent_none')).rejects.toMatchObject({ status: 404 });
    const agent = await agents.create({ name: 'gone', model: 'acme/one' });
    await agents.archive(agent.id);
    await expect(create(agent.id)).rejects.toMatchObject({ status: 409 });
  });

  it('end their streams when the gateway stops', async () => {
    const other = await startGateway(CONFIG);
    const client = new Anthropic({ baseURL: other.url, apiKey: other.clientKey });
    const agent = await client.beta.agents.create({ name: 'helper', model: 'acme/one' });
    const { id } = await client.beta.sessions.create({ agent: agent.id, environment_id: 'env_1' });
    const stream = await client.beta.sessions.events.stream(id);
    const seen: unknown[] = [];
    const done = (async () => {
      for await (const event of stream) seen.push(event);
    })();
    await other.stop();
    await done;
    expect(seen).toEqual([]);
  });
});
