import { LLMock } from '@copilotkit/aimock';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TWO_CALLS } from '../../fixtures/wire/wire.ts';
import { startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { providerPerProtocol } from '../../support/stage/provider-per-protocol.ts';
import { CLIENTS } from '../matrix/clients.ts';

const PROTOCOLS = ['chat', 'responses', 'messages', 'generate-content'] as const;
const PAIRS = CLIENTS.flatMap((client) => PROTOCOLS.map((protocol) => ({ client, protocol })));
const FIXTURES = [
  {
    match: { userMessage: 'weather' },
    response: { toolCalls: TWO_CALLS.map((call) => ({ ...call })) },
  },
  { match: { userMessage: 'hello' }, response: { content: 'Hi from elsewhere.' } },
];

/** The words of each client for an answer, and for one that calls tools. */
const STOPS: Readonly<Record<string, readonly [answered: string, called: string]>> = {
  chat: ['stop', 'tool_calls'],
  responses: ['completed', 'completed'],
  messages: ['end_turn', 'tool_use'],
  'generate-content': ['STOP', 'STOP'],
};

describe('a provider of another project', () => {
  const mock = new LLMock({ port: 0, host: '127.0.0.1', logLevel: 'silent', latency: 0 });
  let gateway: TestGateway;
  beforeAll(async () => {
    mock.addFixturesFromJSON(FIXTURES);
    await mock.start();
    gateway = await startGateway(providerPerProtocol(mock.url, PROTOCOLS));
  });
  afterAll(async () => {
    await gateway.stop();
    await mock.stop();
  });

  it.each(PAIRS)(
    'answers official clients with texts and calls: $client.library over $protocol',
    async ({ client, protocol }) => {
      const target = { url: gateway.url, key: gateway.clientKey, model: `acme/${protocol}` };
      const ask = (text: string, stream: boolean) =>
        client.open(target, { text, tools: true }).ask(stream);
      const [answered, called] = STOPS[client.id] ?? [];
      for (const stream of [false, true]) {
        const [hello, weather] = await Promise.all([ask('hello', stream), ask('weather', stream)]);
        expect(hello).toMatchObject({ text: 'Hi from elsewhere.', calls: [], stop: answered });
        expect(weather.text).toBe('');
        // It has a word of its own for that in generate-content.
        if (client.id !== protocol) expect(weather.stop).toBe(called);
        const calls = weather.calls.map(({ name, arguments: given }) => ({
          name,
          arguments: typeof given === 'string' ? JSON.parse(given) : given,
        }));
        expect(calls).toEqual(
          TWO_CALLS.map((call) => ({ ...call, arguments: JSON.parse(call.arguments) })),
        );
      }
    },
  );
});
