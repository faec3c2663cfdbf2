import { LLMock } from '@copilotkit/aimock';
import { GoogleGenAI } from '@google/genai';
import type { ApiError } from '@google/genai';
import { GoogleGenAI as GoogleGenAI1 } from 'genai-1';
import { GoogleGenAI as GoogleGenAI2 } from 'genai-2';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startMockServer } from '../../../src/providers/mock/mock-server.ts';
import type { MockServer } from '../../../src/providers/mock/mock-server.ts';
import { verifies } from '../../requirements.ts';
import { startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';

const CLIENTS = {
  'genai 3': GoogleGenAI,
  'genai 2': GoogleGenAI2 as unknown as typeof GoogleGenAI,
  'genai 1': GoogleGenAI1 as unknown as typeof GoogleGenAI,
};

const WEATHER = {
  name: 'get_weather',
  description: 'The weather of a city',
  parametersJsonSchema: { type: 'object', properties: { city: { type: 'string' } } },
};

const RULES = [
  {
    match: { text: 'weather', turn: 1 },
    reply: {
      reasoning: 'A tool knows.',
      tool_calls: [{ name: 'get_weather', arguments: { city: 'Oslo' } }],
    },
  },
  { match: { text: 'broken' }, reply: { text: 'one two three four', error_after: 2 } },
  { match: { text: 'refused' }, reply: { status: 400, error: { message: 'not like this' } } },
];

/** Every protocol that a request of generate-content may be spoken in. */
const MAPPINGS = {
  native: { 'generate-content': { path: '/v1beta/models/{model}:{method}' } },
  chat: { chat: { path: '/v1/chat/completions' } },
  messages: { messages: { path: '/v1/messages' } },
  responses: { responses: { path: '/v1/responses' } },
} as const;

describe('official clients of generate-content', () => {
  let mock: MockServer;
  let gateway: TestGateway;
  const aimock = new LLMock({ port: 0, host: '127.0.0.1', logLevel: 'silent', latency: 0 });
  beforeAll(async () => {
    mock = await startMockServer({ cassette: { rules: RULES } });
    aimock.addFixturesFromJSON([
      { match: { userMessage: 'hello' }, response: { content: 'Hi from elsewhere' } },
    ]);
    await aimock.start();
    const provider = (name: string, protocols: object, url: string): object => ({
      name,
      type: 'custom',
      base_url: url,
      auth: { type: 'none' },
      protocols,
    });
    gateway = await startGateway({
      providers: [
        ...Object.entries(MAPPINGS).map(([name, protocols]) => provider(name, protocols, mock.url)),
        provider('elsewhere', MAPPINGS.native, aimock.url),
      ],
      models: [
        ...Object.keys(MAPPINGS).map((name) => ({
          name: `acme/${name}`,
          description: `by ${name}`,
          max_output_tokens: 4096,
          routes: [{ provider: name, upstream_model: 'up', mapping: 'translated' }],
        })),
        { name: 'acme/elsewhere', routes: [{ provider: 'elsewhere', upstream_model: 'up' }] },
      ],
    });
  });
  afterAll(async () => {
    await gateway.stop();
    await mock.close();
    await aimock.stop();
  });

  const clientOf = (Client: typeof GoogleGenAI, apiKey = gateway.clientKey): GoogleGenAI =>
    new Client({ apiKey, httpOptions: { baseUrl: gateway.url } });

  describe.each(Object.entries(CLIENTS))('%s', (_name, Client) => {
    it.each(Object.keys(MAPPINGS))('gets answers and streams over %s', async (model) => {
      const client = clientOf(Client);
      const answer = await client.models.generateContent({ model, contents: 'hello' });
      expect(answer.text).toBe('You said: hello');
      expect(answer.usageMetadata?.totalTokenCount).toBeGreaterThan(0);
      expect(answer.candidates?.[0]?.finishReason).toBe('STOP');
      const stream = await client.models.generateContentStream({ model, contents: 'hello' });
      let text = '';
      let total: number | undefined;
      for await (const chunk of stream) {
        text += chunk.text ?? '';
        total = chunk.usageMetadata?.totalTokenCount ?? total;
      }
      expect(text).toBe('You said: hello');
      expect(total).toBe(answer.usageMetadata?.totalTokenCount);
    });

    it.each(Object.keys(MAPPINGS))(
      verifies(
        'gencontent.translated.supported',
        'calls functions in a chat, streamed and not, over %s',
      ),
      async (model) => {
        const config = { tools: [{ functionDeclarations: [WEATHER] }] };
        for (const streamed of [false, true]) {
          const chat = clientOf(Client).chats.create({ model, config });
          const send = async (message: never) => {
            if (!streamed) return [await chat.sendMessage({ message })];
            const chunks = [];
            for await (const chunk of await chat.sendMessageStream({ message })) chunks.push(chunk);
            return chunks;
          };
          const asked = await send('the weather, please' as never);
          const calls = asked.flatMap(({ functionCalls = [] }) => functionCalls);
          expect(calls).toHaveLength(1);
          expect(calls[0]).toMatchObject({ name: 'get_weather', args: { city: 'Oslo' } });
          const response = { id: calls[0]?.id, name: 'get_weather', response: { output: 'sunny' } };
          const told = await send([{ functionResponse: response }] as never);
          const text = told.map((one) => one.text ?? '').join('');
          expect(text).toContain('The tool said:');
          expect(text).toContain('sunny');
          const kept = chat.getHistory(true).flatMap(({ parts = [] }) => parts);
          expect(kept.filter(({ functionCall }) => functionCall)).toHaveLength(1);
        }
      },
    );

    it(
      verifies('gencontent.count-tokens', 'counts tokens, at the provider or by an estimate'),
      async () => {
        const client = clientOf(Client);
        for (const model of ['native', 'chat']) {
          const { totalTokens } = await client.models.countTokens({ model, contents: 'hello you' });
          expect(totalTokens).toBe(3);
        }
      },
    );

    it(
      verifies('gencontent.models-list', 'lists and looks up models in its own shape'),
      async () => {
        const client = clientOf(Client);
        const listed = [];
        for await (const model of await client.models.list({ config: { pageSize: 2 } }))
          listed.push(model);
        expect(listed.map(({ name }) => name)).toEqual(
          ['chat', 'elsewhere', 'messages', 'native', 'responses'].map(
            (one) => `models/acme/${one}`,
          ),
        );
        const model = await client.models.get({ model: 'native' });
        expect(model).toMatchObject({
          name: 'models/acme/native',
          displayName: 'acme/native',
          description: 'by native',
          outputTokenLimit: 4096,
        });
        expect(model.supportedActions).toContain('generateContent');
        const again = { model: listed[0]?.name ?? '', contents: 'hello' };
        expect((await client.models.generateContent(again)).text).toBe('You said: hello');
      },
    );

    it(verifies('errors.google.shape', 'is told of errors by status and name'), async () => {
      const failed = async (work: Promise<unknown>): Promise<unknown> => {
        const thrown = (await work.catch((error: unknown) => error)) as ApiError;
        expect(thrown.name).toBe('ApiError');
        return [thrown.status, JSON.parse(thrown.message).error.status];
      };
      const ask = (model: string, contents: string, key?: string) =>
        failed(clientOf(Client, key).models.generateContent({ model, contents }));
      expect(await ask('native', 'refused')).toEqual([400, 'INVALID_ARGUMENT']);
      expect(await ask('chat', 'refused')).toEqual([400, 'INVALID_ARGUMENT']);
      expect(await ask('nothing', 'hello')).toEqual([404, 'NOT_FOUND']);
      expect(await ask('native', 'hello', 'sk-wrong')).toEqual([401, 'UNAUTHENTICATED']);
      expect(await failed(clientOf(Client).models.get({ model: 'nothing' }))).toBeDefined();
    });

    it('is served by a provider that nobody here wrote', async () => {
      const client = clientOf(Client);
      const request = { model: 'elsewhere', contents: 'hello' };
      expect((await client.models.generateContent(request)).text).toBe('Hi from elsewhere');
      let text = '';
      for await (const chunk of await client.models.generateContentStream(request))
        text += chunk.text ?? '';
      expect(text).toBe('Hi from elsewhere');
    });
  });

  it.each(Object.keys(MAPPINGS))(
    verifies('gencontent.stream.error-in-band', 'throw at a failure in a stream over %s'),
    async (model) => {
      for (const Client of [GoogleGenAI, CLIENTS['genai 2']]) {
        let text = '';
        const read = async (): Promise<void> => {
          const stream = await clientOf(Client).models.generateContentStream({
            model,
            contents: 'broken',
          });
          for await (const chunk of stream) text += chunk.text ?? '';
        };
        await expect(read()).rejects.toMatchObject({ name: 'ApiError', status: 502 });
        expect(text.length).toBeGreaterThan(0);
      }
    },
  );

  it(
    verifies(
      'gencontent.models-list',
      'get the shape of the catalog under /v1/models unless they say who they are',
    ),
    async () => {
      const plain = await gateway.call('GET', '/v1/models/acme/native');
      expect(plain.body).toMatchObject({ id: 'acme/native', object: 'model' });
      const headers = {
        'x-goog-api-client': 'google-genai-sdk/3.1.0',
        'x-goog-api-key': gateway.clientKey,
      };
      const google = await gateway.call('GET', '/v1/models/acme/native', { key: '', headers });
      expect(google.body).toMatchObject({ name: 'models/acme/native' });
      const list = await gateway.call('GET', `/v1beta/models?key=${gateway.clientKey}`, {
        key: '',
      });
      expect(list.body.models).toHaveLength(5);
      expect(list.body).not.toHaveProperty('nextPageToken');
      const odd = await gateway.call('GET', '/v1beta/models?pageSize=x');
      expect(odd.body.error).toMatchObject({ code: 400, status: 'INVALID_ARGUMENT' });
      const missing = await gateway.call('GET', '/v1beta/models/none');
      expect(missing.body.error).toMatchObject({ code: 404, status: 'NOT_FOUND' });
    },
  );
});
