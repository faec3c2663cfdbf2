import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import Anthropic from '@anthropic-ai/sdk';
import { verifies } from '../../requirements.ts';
import { customProvider } from '../../support/chat.ts';
import { startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';
import {
  endEvents,
  MESSAGE,
  MESSAGE_START,
  messagesFrames,
  textEvents,
} from '../../support/messages.ts';
import { beginEvents, sendJson, startUpstream } from '../../support/stage/upstream.ts';
import type { Upstream } from '../../support/stage/upstream.ts';

const model = (name: string, upstream_model: string, capabilities?: object) => ({
  name,
  routes: [{ provider: 'claude', upstream_model, ...(capabilities && { capabilities }) }],
});

describe('what an upstream model takes, in a whole gateway', () => {
  let upstream: Upstream;
  let gateway: TestGateway;
  beforeAll(async () => {
    upstream = await startUpstream((response, { body }) => {
      const { stream } = JSON.parse(body.toString()) as { stream?: boolean };
      if (!stream) return sendJson(response, 200, MESSAGE);
      beginEvents(response);
      response.end(messagesFrames([MESSAGE_START, ...textEvents(0, 'fine'), ...endEvents()]));
    });
    gateway = await startGateway({
      providers: [customProvider('claude', upstream.url, { protocols: { messages: true } })],
      models: [
        // A name that is not the upstream model's.
        model('acme/claude-opus-4-8', 'claude-haiku-4-5'),
        model('acme/own', 'claude-haiku-4-5', {
          thinking: 'adaptive',
          efforts: ['low', 'high'],
          sampling_with_thinking: true,
        }),
      ],
    });
  });
  beforeEach(() => void upstream.seen.splice(0));
  afterAll(async () => {
    await gateway.stop();
    await upstream.close();
  });

  const sent = () => JSON.parse(upstream.seen.at(-1)?.body.toString() ?? '{}');
  const ask = (name: string) =>
    gateway.chat(name, { body: { reasoning_effort: 'high', temperature: 0.5 } });

  it(
    verifies(
      'capabilities.override',
      'is what the route says, else what the table says of its upstream model',
    ),
    async () => {
      const plain = await ask('acme/claude-opus-4-8');
      expect(plain.status).toBe(200);
      expect(sent().thinking).toEqual({ type: 'enabled', budget_tokens: 6144 });
      expect(plain.headers.get('x-gateway-dropped-fields')).toBe('temperature');
      const own = await ask('acme/own');
      expect(sent()).toMatchObject({ thinking: { type: 'adaptive' }, temperature: 0.5 });
      expect(own.headers.get('x-gateway-dropped-fields')).toBeNull();
    },
  );

  it(
    verifies('capabilities.shown', 'is shown of each route by explain and by the catalog'),
    async () => {
      const expected = { thinking: 'adaptive', min_budget: 1024, sampling_with_thinking: true };
      const { body: plan } = await gateway.admin('GET', '/admin/v1/routing?model=acme/own');
      expect(plan.candidates[0].capabilities).toMatchObject(expected);
      const { body: detail } = await gateway.call('GET', '/v1/models/acme/own');
      expect(detail.routes).toEqual([
        { capabilities: { messages: expect.objectContaining(expected) } },
      ]);
      const { body: other } = await gateway.call('GET', '/v1/models/acme/claude-opus-4-8');
      expect(other.routes[0].capabilities.messages).toMatchObject({
        thinking: 'budget',
        efforts: [],
      });
    },
  );

  it('decides for Agents, whatever the logical name looks like', async () => {
    const { agents, sessions } = new Anthropic({
      baseURL: gateway.url,
      apiKey: gateway.clientKey,
    }).beta;
    const thinkingOf = async (id: string) => {
      const agent = await agents.create({ name: 'a', model: { id, effort: 'high' } as never });
      const session = await sessions.create({ agent: agent.id, environment_id: 'env_1' });
      const stream = await sessions.events.stream(session.id);
      await sessions.events.send(session.id, {
        events: [{ type: 'user.message', content: [{ type: 'text', text: 'hello' }] }],
      });
      for await (const { type } of stream) if (type === 'session.status_idle') break;
      const { thinking, output_config: output } = sent();
      return { thinking, output };
    };
    expect(await thinkingOf('acme/claude-opus-4-8')).toEqual({
      thinking: { type: 'enabled', budget_tokens: 6144 },
      output: undefined,
    });
    expect(await thinkingOf('acme/own')).toEqual({
      thinking: { type: 'adaptive' },
      output: { effort: 'high' },
    });
  });
});
