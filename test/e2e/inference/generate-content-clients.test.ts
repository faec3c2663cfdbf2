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
import { providerPerProtocol } from '../../support/stage/provider-per-protocol.ts';

const CLIENTS = {
  'genai 3': GoogleGenAI,
  'genai 2': GoogleGenAI2 as unknown as typeof GoogleGenAI,
  'genai 1': GoogleGenAI1 as unknown as typeof GoogleGenAI,
};

const RULES = [
  { match: { text: 'refused' }, reply: { status: 400, error: { message: 'not like this' } } },
];

const PROTOCOLS = ['generate-content', 'chat'] as const;

describe('official clients of generate-content', () => {
  let mock: MockServer;
  let gateway: TestGateway;
  beforeAll(async () => {
    mock = await startMockServer({ cassette: { rules: RULES } });
    const { providers, models } = providerPerProtocol(mock.url, PROTOCOLS);
    const described = { description: 'by itself', max_output_tokens: 4096 };
    gateway = await startGateway({
      providers,
      models: models.map((model) => ({ ...model, ...described })),
    });
  });
  afterAll(async () => {
    await gateway.stop();
    await mock.close();
  });

  const clientOf = (Client: typeof GoogleGenAI, apiKey = gateway.clientKey): GoogleGenAI =>
    new Client({ apiKey, httpOptions: { baseUrl: gateway.url } });

  describe.each(Object.entries(CLIENTS))('%s', (_name, Client) => {
    it(
      verifies('gencontent.count-tokens', 'counts tokens, at the provider or by an estimate'),
      async () => {
        const client = clientOf(Client);
        for (const model of PROTOCOLS) {
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
        for await (const model of await client.models.list({ config: { pageSize: 1 } }))
          listed.push(model);
        expect(listed.map(({ name }) => name)).toEqual([
          'models/acme/chat',
          'models/acme/generate-content',
        ]);
        const model = await client.models.get({ model: 'generate-content' });
        expect(model).toMatchObject({
          name: 'models/acme/generate-content',
          displayName: 'acme/generate-content',
          description: 'by itself',
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
      expect(await ask('generate-content', 'refused')).toEqual([400, 'INVALID_ARGUMENT']);
      expect(await ask('chat', 'refused')).toEqual([400, 'INVALID_ARGUMENT']);
      expect(await ask('nothing', 'hello')).toEqual([404, 'NOT_FOUND']);
      expect(await ask('generate-content', 'hello', 'sk-wrong')).toEqual([401, 'UNAUTHENTICATED']);
      expect(await failed(clientOf(Client).models.get({ model: 'nothing' }))).toBeDefined();
    });
  });

  it(
    verifies(
      'gencontent.models-list',
      'get the shape of the catalog under /v1/models unless they say who they are',
    ),
    async () => {
      const plain = await gateway.call('GET', '/v1/models/acme/generate-content');
      expect(plain.body).toMatchObject({ id: 'acme/generate-content', object: 'model' });
      const headers = {
        'x-goog-api-client': 'google-genai-sdk/3.1.0',
        'x-goog-api-key': gateway.clientKey,
      };
      const google = await gateway.call('GET', '/v1/models/acme/generate-content', {
        key: '',
        headers,
      });
      expect(google.body).toMatchObject({ name: 'models/acme/generate-content' });
      const list = await gateway.call('GET', `/v1beta/models?key=${gateway.clientKey}`, {
        key: '',
      });
      expect(list.body.models).toHaveLength(2);
      expect(list.body).not.toHaveProperty('nextPageToken');
      const odd = await gateway.call('GET', '/v1beta/models?pageSize=x');
      expect(odd.body.error).toMatchObject({ code: 400, status: 'INVALID_ARGUMENT' });
      const missing = await gateway.call('GET', '/v1beta/models/none');
      expect(missing.body.error).toMatchObject({ code: 404, status: 'NOT_FOUND' });
    },
  );
});
