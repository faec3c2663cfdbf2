import Anthropic from '@anthropic-ai/sdk';
import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema';
import Anthropic0 from 'anthropic-0';
import { betaTool as betaTool0 } from 'anthropic-0/helpers/beta/json-schema';
import { describe, expect, it, onTestFinished } from 'vitest';
import { verifies } from '../../requirements.ts';
import { startGateway } from '../../support/gateway.ts';

const CONFIG = {
  providers: [
    {
      name: 'acme',
      type: 'mock',
      mock: {
        rules: [
          {
            match: { text: 'Oslo', turn: 1 },
            reply: {
              tool_calls: [
                { name: 'weather', arguments: { city: 'Oslo' } },
                { name: 'weather', arguments: { city: 'nowhere' } },
                { name: 'read', arguments: { file_path: 'notes' } },
              ],
            },
          },
          { match: { text: 'Oslo', turn: 2 }, reply: { text: 'It is sunny in Oslo.' } },
        ],
      },
    },
  ],
  models: [{ name: 'acme/one', routes: [{ provider: 'acme' }] }],
};

/** The types of the two releases are too large to be compared. */
function sameAs(define: unknown): typeof betaTool {
  return define as typeof betaTool;
}

type Connect = (url: string, key: string) => Anthropic;

const CLIENTS: [string, Connect, typeof betaTool][] = [
  [
    '1.11',
    (baseURL: string, apiKey: string) => new Anthropic({ baseURL, apiKey, maxRetries: 0 }),
    betaTool,
  ],
  [
    '0.137',
    (baseURL: string, authToken: string) =>
      new Anthropic0({ baseURL, apiKey: null, authToken, maxRetries: 0 }) as never,
    sameAs(betaTool0),
  ],
];

describe.each(CLIENTS)('the official client %s of managed agents', (_version, connect, define) => {
  it(
    verifies(
      'sessions.turn.custom-tool',
      'sessions.turn.builtin-tools',
      'leads an Agent with tools of its own from its creation to its answer',
    ),
    async () => {
      const gateway = await startGateway(CONFIG);
      onTestFinished(async () => void (await gateway.stop()));
      const { agents, sessions } = connect(gateway.url, gateway.clientKey).beta;
      const inputs: unknown[] = [];
      const weather = define({
        name: 'weather',
        description: 'Tells the weather.',
        inputSchema: {
          type: 'object',
          properties: { city: { type: 'string' } },
          required: ['city'],
        },
        run(input) {
          inputs.push(input);
          if (input.city === 'nowhere') throw new Error('no such city');
          return 'sunny';
        },
      });
      const read = define({
        name: 'read',
        description: 'Reads a file.',
        inputSchema: { type: 'object', properties: { file_path: { type: 'string' } } },
        run: ({ file_path: path }) => `the ${path}`,
      });
      const agent = await agents.create({
        name: 'forecaster',
        model: 'acme/one',
        tools: [
          { type: 'agent_toolset_20260401' },
          {
            type: 'custom',
            name: 'weather',
            description: 'Tells the weather.',
            input_schema: { type: 'object', properties: { city: { type: 'string' } } },
          },
        ],
      });
      const { id } = await sessions.create({ agent: agent.id, environment_id: 'env_1' });
      // What is sent before the stream is there, the runner finds in the history.
      await sessions.events.send(id, {
        events: [{ type: 'user.message', content: [{ type: 'text', text: 'How is it in Oslo?' }] }],
      });
      const runner = sessions.events.toolRunner(id, { tools: [weather, read], maxIdleMs: 50 });
      const calls: string[] = [];
      for await (const { name, isError, posted } of runner)
        calls.push(`${name}: ${posted ? '' : 'not posted, '}${isError ? 'failed' : 'done'}`);
      expect(calls.toSorted()).toEqual(['read: done', 'weather: done', 'weather: failed']);
      expect(inputs).toEqual([{ city: 'Oslo' }, { city: 'nowhere' }]);
      const events: Anthropic.Beta.Sessions.BetaManagedAgentsSessionEvent[] = [];
      for await (const event of sessions.events.list(id, { order: 'asc' })) events.push(event);
      const answers = events.filter((event) => event.type === 'agent.message');
      expect(answers.at(-1)?.content).toMatchObject([{ text: 'It is sunny in Oslo.' }]);
      const results = events.filter((event) => event.type.endsWith('_result'));
      expect(results).toHaveLength(3);
      expect(events.at(-1)).toMatchObject({ stop_reason: { type: 'end_turn' } });
      expect((await sessions.retrieve(id)).usage?.output_tokens).toBeGreaterThan(0);
    },
  );
});
