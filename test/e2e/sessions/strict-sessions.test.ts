import Anthropic from '@anthropic-ai/sdk';
import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { verifies } from '../../requirements.ts';
import type { TestGateway } from '../../support/gateway.ts';
import {
  ASK,
  DONE,
  nameOf,
  RESULT,
  SCHEMA,
  startStrictGateway,
  TOOL,
  UPSTREAMS,
} from '../../support/stage/strict-upstreams.ts';

let gateway: TestGateway;
let stop: () => Promise<void>;
beforeAll(async () => {
  ({ gateway, stop } = await startStrictGateway(UPSTREAMS));
});
afterAll(() => stop?.());

it.each(UPSTREAMS.map((upstream) => [nameOf(upstream)]))(
  verifies(
    'translate.strict-upstream',
    'a Session on %s, with parallel calls in two turns and another message, is refused nowhere',
  ),
  async (model) => {
    const client = new Anthropic({
      baseURL: gateway.url,
      apiKey: gateway.clientKey,
      maxRetries: 0,
    });
    const { agents, sessions } = client.beta;
    const tool = { name: TOOL, description: 'Looks something up.' };
    const agent = await agents.create({
      name: model.replace('/', '-'),
      model,
      system: 'You look things up.',
      tools: [{ type: 'custom', ...tool, input_schema: { ...SCHEMA, required: ['q'] } }],
    });
    const { id } = await sessions.create({ agent: agent.id, environment_id: 'env_1' });
    const run = betaTool({ ...tool, inputSchema: SCHEMA, run: () => RESULT });
    for (const text of [ASK, 'And what now?']) {
      await sessions.events.send(id, {
        events: [{ type: 'user.message', content: [{ type: 'text', text }] }],
      });
      for await (const _call of sessions.events.toolRunner(id, { tools: [run], maxIdleMs: 50 }));
    }
    const events: Anthropic.Beta.Sessions.BetaManagedAgentsSessionEvent[] = [];
    for await (const event of sessions.events.list(id, { order: 'asc' })) events.push(event);
    const said = events.filter((event) => event.type === 'agent.message');
    const errors = events.filter((event) => event.type === 'session.error');
    expect(errors).toEqual([]);
    expect(events.filter(({ type }) => type === 'agent.custom_tool_use')).toHaveLength(4);
    expect(said.map(({ content }) => content)).toEqual([
      [{ type: 'text', text: DONE }],
      [{ type: 'text', text: DONE }],
    ]);
  },
);
