import OpenAI from 'openai';
import OpenAI6 from 'openai-6';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startMockServer } from '../../../src/providers/mock/mock-server.ts';
import type { MockServer } from '../../../src/providers/mock/mock-server.ts';
import { verifies } from '../../requirements.ts';
import { startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { providerPerProtocol } from '../../support/stage/provider-per-protocol.ts';

const LIBRARIES = [
  ['openai 7', OpenAI],
  ['openai 6', OpenAI6 as unknown as typeof OpenAI],
] as const;

describe('official clients of Responses', () => {
  let mock: MockServer;
  let gateway: TestGateway;
  beforeAll(async () => {
    mock = await startMockServer();
    const { providers, models } = providerPerProtocol(mock.url, ['responses', 'chat']);
    const both = [
      { provider: 'only-chat', upstream_model: 'up' },
      { provider: 'only-responses', upstream_model: 'up', priority: 1 },
    ];
    gateway = await startGateway({
      providers,
      models: [...models, { name: 'acme/both', routes: both }],
    });
  });
  afterAll(async () => {
    await gateway.stop();
    await mock.close();
  });

  const connect = (Client: typeof OpenAI): OpenAI =>
    new Client({ baseURL: `${gateway.url}/v1`, apiKey: gateway.clientKey, maxRetries: 0 });

  it.each(LIBRARIES)(
    verifies(
      'errors.family.embeddings-images-responses',
      'raise their typed error with the code and the field: %s',
    ),
    async (_name, Client) => {
      const thrown: unknown = await connect(Client)
        .responses.create({ model: 'acme/none', input: 'hello' })
        .catch((error: unknown) => error);
      expect(thrown).toBeInstanceOf(Client.BadRequestError);
      expect(thrown).toMatchObject({ status: 400, code: 'model_not_found', param: 'model' });
    },
  );

  it.each(LIBRARIES)(
    'are led past providers that cannot continue an answer: %s',
    async (_name, Client) => {
      const client = connect(Client);
      const { id } = await client.responses.create({ model: 'acme/responses', input: 'hello' });
      const input = { model: 'acme/both', input: 'more', previous_response_id: id };
      expect((await client.responses.create(input)).output_text).toBe('You said: more');
      const chat = client.responses.create({ ...input, model: 'acme/chat' });
      await expect(chat).rejects.toMatchObject({ status: 503 });
    },
  );
});
