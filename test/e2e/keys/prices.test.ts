import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verifies } from '../../requirements.ts';
import { eventually, startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { startUpstream } from '../../support/stage/upstream.ts';
import type { Upstream } from '../../support/stage/upstream.ts';

/** A model of each vendor whose prices the gateway knows. */
const VENDORS = {
  anthropic: 'claude-opus-4-8',
  'azure-openai': 'gpt-4o',
  cohere: 'command-r-plus',
  deepseek: 'deepseek-chat',
  fireworks: 'accounts/fireworks/models/gpt-oss-120b',
  google: 'gemini-2.5-pro',
  groq: 'llama-3.3-70b-versatile',
  mistral: 'mistral-large-latest',
  openai: 'gpt-5',
  openrouter: 'openai/gpt-4o',
  together: 'meta-llama/Llama-3.3-70B-Instruct-Turbo',
  xai: 'grok-4',
};

const LOCAL = ['ollama', 'vllm', 'lmstudio', 'llamacpp', 'sglang'];
const TIERED = {
  input: '1',
  output: '2',
  tiers: [{ above: 1_000, input: '10', output: '20' }],
};

let upstream: Upstream;
let gateway: TestGateway;
/** Use that the next answers tell, in the words of their protocol. */
let told: object;

const ANSWERS: readonly [RegExp, () => object][] = [
  [
    /messages$/,
    () => ({
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'm',
      content: [{ type: 'text', text: 'hi' }],
      stop_reason: 'end_turn',
      usage: told,
    }),
  ],
  [
    /generateContent/,
    () => ({
      candidates: [{ content: { role: 'model', parts: [{ text: 'hi' }] }, finishReason: 'STOP' }],
      usageMetadata: told,
    }),
  ],
  [
    /completions$/,
    () => ({
      id: 'c',
      object: 'chat.completion',
      choices: [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }],
      usage: told,
    }),
  ],
];

beforeAll(async () => {
  upstream = await startUpstream((response, { url }) => {
    const answer = ANSWERS.find(([path]) => path.test(url))?.[1]();
    response.writeHead(answer ? 200 : 404, { 'content-type': 'application/json' });
    response.end(JSON.stringify(answer ?? {}));
  });
  const base_url = `${upstream.url}/v1`;
  const vendors = Object.entries(VENDORS);
  const custom = { type: 'custom', auth: { type: 'none' }, base_url, protocols: { chat: true } };
  const config = {
    providers: [
      ...vendors.map(([type]) => ({
        name: type,
        type,
        base_url,
        api_key: '${secret:env:VENDOR_KEY}',
      })),
      ...LOCAL.map((type) => ({ name: type, type, base_url })),
      { name: 'mock', type: 'mock' },
      { name: 'own', ...custom },
    ],
    models: [
      ...vendors.map(([provider, upstream_model]) => ({
        name: `vendor/${provider}`,
        routes: [{ provider, upstream_model }],
      })),
      ...[...LOCAL, 'mock', 'own'].map((provider) => ({
        name: `local/${provider}`,
        routes: [{ provider, upstream_model: 'm' }],
      })),
      {
        name: 'acme/said',
        description: 'Ours.',
        context_window: 9_000,
        routes: [
          { provider: 'openai', upstream_model: 'gpt-5', pricing: { input: '7', output: '9' } },
        ],
      },
      {
        name: 'acme/free',
        routes: [{ provider: 'openai', upstream_model: 'gpt-5', pricing: 'free' }],
      },
      {
        name: 'acme/own-free',
        routes: [{ provider: 'own', upstream_model: 'm', pricing: 'free' }],
      },
      { name: 'acme/priced-local', routes: [{ provider: 'ollama', pricing: { input: '1' } }] },
      { name: 'acme/tiered', routes: [{ provider: 'own', upstream_model: 'm', pricing: TIERED }] },
    ],
  };
  gateway = await startGateway(config, { env: { VENDOR_KEY: 'sk-upstream' } });
});
afterAll(async () => {
  await gateway.stop();
  await upstream.close();
});

const turn = { role: 'user', content: 'hi' };

const chatUsage = (prompt_tokens: number, completion_tokens: number) => ({
  prompt_tokens,
  completion_tokens,
  total_tokens: prompt_tokens + completion_tokens,
});

/** Record of a call that ended; rejects where the call failed. */
async function recordOf(path: string, body: object, key = gateway.clientKey) {
  const { status, headers, body: answer } = await gateway.call('POST', path, { body, key });
  expect(status, JSON.stringify(answer)).toBe(200);
  return eventually(async () => {
    const id = headers.get('x-request-id');
    const record = await gateway.admin('GET', `/admin/v1/requests/${id}`);
    return record.body.result === 'ok' && record.body;
  });
}

const chat = (model: string) => recordOf('/v1/chat/completions', { model, messages: [turn] });

describe('prices', () => {
  it(
    verifies('pricing.catalogue.shipped', 'of known vendors are charged without a word in YAML'),
    async () => {
      for (const type of Object.keys(VENDORS)) {
        const { body } = await gateway.call('GET', `/v1/models/vendor/${type}`);
        expect(Number(body.pricing?.input), type).toBeGreaterThan(0);
      }
      told = {
        input_tokens: 1_000,
        cache_read_input_tokens: 2_000,
        cache_creation_input_tokens: 700,
        cache_creation: { ephemeral_5m_input_tokens: 300, ephemeral_1h_input_tokens: 400 },
        output_tokens: 500,
      };
      const ask = { model: 'vendor/anthropic', max_tokens: 600, messages: [turn] };
      // 1,000 at 5, 2,000 at 0.5, 300 at 6.25, 400 at 10 and 500 at 25 dollars a million.
      expect(await recordOf('/v1/messages', ask)).toMatchObject({
        cost: '0.024375',
        estimated: false,
      });
      const generate = (promptTokenCount: number) => {
        told = {
          promptTokenCount,
          cachedContentTokenCount: 100_000,
          candidatesTokenCount: 1_000,
          totalTokenCount: promptTokenCount + 1_000,
        };
        return recordOf('/v1beta/models/vendor/google:generateContent', {
          contents: [{ role: 'user', parts: [{ text: 'hi' }] }],
        });
      };
      // 100,000 at 1.25, as many from the cache at 0.125, and 1,000 at 10 dollars a million.
      expect(await generate(200_000)).toMatchObject({ cost: '0.1475' });
      // Beyond 200,000 tokens of context at 2.5, 0.25 and 15.
      expect(await generate(200_001)).toMatchObject({ cost: '0.2900025' });
    },
  );

  it(
    verifies(
      'catalog.get.from-catalogue',
      'stand in the metadata of a model, with what else is published',
    ),
    async () => {
      const { body } = await gateway.call('GET', '/v1/models/vendor/anthropic');
      expect(body).toMatchObject({
        context_window: 1_000_000,
        pricing: { input: '5.00', output: '25.00', cache_read: '0.50', cache_write_1h: '10.00' },
        schema: { type: 'object' },
      });
      expect(body.description).toMatch(/model/);
      const said = await gateway.call('GET', '/v1/models/acme/said');
      expect(said.body).toMatchObject({
        description: 'Ours.',
        context_window: 9_000,
        pricing: { input: null },
      });
    },
  );

  it(
    verifies('pricing.tiers', 'of a route go by the tier that the input of the call reaches'),
    async () => {
      told = chatUsage(1_000, 10);
      expect(await chat('acme/tiered')).toMatchObject({ cost: '0.00102' });
      told = chatUsage(1_001, 10);
      expect(await chat('acme/tiered')).toMatchObject({ cost: '0.01021' });
    },
  );

  it(
    verifies('pricing.precedence', 'in YAML win over published ones, and `free` is a known zero'),
    async () => {
      told = chatUsage(1_000, 100);
      expect(await chat('vendor/openai')).toMatchObject({ cost: '0.00225' });
      expect(await chat('acme/said')).toMatchObject({ cost: '0.0079' });
      expect(await chat('acme/free')).toMatchObject({ cost: '0.00' });
    },
  );

  it(
    verifies('pricing.local-free', 'are nothing for local servers alone, and unknown for others'),
    async () => {
      const made = await gateway.admin('POST', '/admin/v1/keys', {
        name: 'limited',
        spending_limit: { lifetime: '5' },
      });
      expect(made.status, JSON.stringify(made.body)).toBe(201);
      const ask = (model: string) => gateway.chat(model, { key: made.body.value });
      told = chatUsage(1_000, 100);
      for (const provider of [...LOCAL, 'mock']) {
        const free = await chat(`local/${provider}`);
        expect(free, provider).toMatchObject({ cost: '0.00' });
        expect((await ask(`local/${provider}`)).status, provider).toBe(200);
      }
      expect(await chat('acme/priced-local')).toMatchObject({ cost: '0.001' });
      expect(await chat('local/own')).toMatchObject({ cost: null });
      expect((await ask('local/own')).status).toBe(402);
      expect((await ask('acme/own-free')).status).toBe(200);
    },
  );
});
