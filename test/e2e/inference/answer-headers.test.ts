import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startMockServer } from '../../../src/providers/mock/mock-server.ts';
import type { MockServer } from '../../../src/providers/mock/mock-server.ts';
import { startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { verifies } from '../../requirements.ts';

let mock: MockServer;
let gateway: TestGateway;

const PRICING = { input: '1', output: '2' };
const own = (name: string, type: string, route: object) => ({
  name: `acme/${name}`,
  type,
  routes: [{ upstream_model: 'up', pricing: PRICING, ...route }],
});

beforeAll(async () => {
  mock = await startMockServer();
  const at = { type: 'custom', auth: { type: 'none' } };
  gateway = await startGateway({
    providers: [
      { name: 'own', type: 'mock' },
      { ...at, name: 'talks', base_url: `${mock.url}/v1`, protocols: { chat: true } },
      { ...at, name: 'down', base_url: 'http://127.0.0.1:1/v1', protocols: { chat: true } },
      { ...at, name: 'gone', base_url: 'http://127.0.0.1:1/v1', protocols: { chat: true } },
    ],
    models: [
      own('native', 'llm', { provider: 'own' }),
      own('translated', 'llm', { provider: 'talks', mapping: 'translated' }),
      own('down', 'llm', { provider: 'down', mapping: 'translated' }),
      own('vectors', 'embedding', { provider: 'own' }),
      own('pictures', 'image', { provider: 'own' }),
      { name: 'acme/unpriced', routes: [{ provider: 'talks', upstream_model: 'up' }] },
      {
        name: 'acme/second',
        routes: [
          { provider: 'gone', upstream_model: 'up', priority: 0 },
          { provider: 'own', upstream_model: 'up', priority: 1, pricing: 'free' },
        ],
      },
    ],
  });
});
afterAll(async () => {
  await gateway.stop();
  await mock.close();
});

const messages = [{ role: 'user', content: 'hello' }];
const contents = [{ role: 'user', parts: [{ text: 'hello' }] }];

type Talk = (model: string, stream: boolean) => [path: string, body: object];

/** Path and body of a call of each family that talks. */
const TALKS: Readonly<Record<'chat' | 'responses' | 'messages' | 'generate-content', Talk>> = {
  chat: (model, stream) => ['/v1/chat/completions', { model, messages, stream }],
  responses: (model, stream) => ['/v1/responses', { model, input: 'hello', stream }],
  messages: (model, stream) => ['/v1/messages', { model, messages, max_tokens: 50, stream }],
  'generate-content': (model, stream) => [
    `/v1beta/models/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    { contents },
  ],
};

async function headersOf(path: string, body: object) {
  const { status, headers } = await gateway.call('POST', path, { body });
  const value = (name: string) => headers.get(`x-gateway-${name}`);
  const [model, provider, attempts, cost] = ['model', 'provider', 'attempts', 'cost'].map(value);
  return { status, model, provider, attempts, cost };
}

const COST = expect.stringMatching(/^0\.0000\d+$/);

describe('an answer', () => {
  it.each(Object.keys(TALKS) as (keyof typeof TALKS)[])(
    verifies(
      'answers.headers',
      'of %s names model, provider and attempts, and the cost unless it is a stream',
    ),
    async (family) => {
      for (const [name, provider] of [
        ['native', 'own'],
        ['translated', 'talks'],
      ] as const) {
        const model = `acme/${name}`;
        const told = { status: 200, model, provider, attempts: '1' };
        expect(await headersOf(...TALKS[family](model, false))).toEqual({ ...told, cost: COST });
        expect(await headersOf(...TALKS[family](model, true))).toEqual({ ...told, cost: null });
      }
      const failed = await headersOf(...TALKS[family]('acme/down', true));
      expect(failed).toMatchObject({ model: 'acme/down', provider: 'down', cost: null });
      expect(failed.status).toBeGreaterThanOrEqual(500);
    },
  );

  it('of other families has them, too', async () => {
    const calls = [
      ['/v1/embeddings', { model: 'acme/vectors', input: 'hello' }],
      ['/v1/images/generations', { model: 'acme/pictures', prompt: 'hello' }],
      ['/v1/interactions', { model: 'acme/native', input: 'hello' }],
    ] as const;
    for (const [path, body] of calls)
      expect(await headersOf(path, body), path).toMatchObject({
        status: 200,
        model: body.model,
        provider: 'own',
        attempts: '1',
      });
  });

  it('counts every attempt, and tells no cost that is unknown', async () => {
    const second = await headersOf(...TALKS.chat('acme/second', false));
    expect(second).toMatchObject({ provider: 'own', attempts: '3', cost: '0.00' });
    const unpriced = await headersOf(...TALKS.chat('acme/unpriced', false));
    expect(unpriced).toMatchObject({ provider: 'talks', attempts: '1', cost: null });
  });
});
