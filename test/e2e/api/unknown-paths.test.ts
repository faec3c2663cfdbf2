import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verifies } from '../../requirements.ts';
import { ask, startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';

let gateway: TestGateway;

beforeAll(async () => {
  const route = { provider: 'mock', upstream_model: 'echo' };
  gateway = await startGateway({
    providers: [{ name: 'mock', type: 'mock' }],
    models: [{ name: 'a/one', routes: [route] }],
  });
});

afterAll(() => gateway.stop());

const thrownBy = (call: Promise<unknown>): Promise<any> =>
  call.then(
    () => undefined,
    (error: unknown) => error,
  );

const messages = [{ role: 'user' as const, content: 'hi' }];

describe('a wrong base address', () => {
  it(
    verifies(
      'errors.route.unknown.hint',
      'is told by official clients, with the path that is there',
    ),
    async () => {
      const { url: baseURL, clientKey: apiKey } = gateway;
      const openai = new OpenAI({ apiKey, baseURL, maxRetries: 0 });
      const chat = await thrownBy(openai.chat.completions.create({ model: 'a/one', messages }));
      expect(chat).toMatchObject({ status: 404, code: 'not_found', type: 'not_found_error' });
      expect(chat.message).toContain('/v1/chat/completions is there');

      const anthropic = new Anthropic({ apiKey, baseURL: `${baseURL}/v1`, maxRetries: 0 });
      const asked = { model: 'a/one', max_tokens: 9, messages };
      const message = await thrownBy(anthropic.messages.create(asked));
      expect(message).toMatchObject({
        status: 404,
        error: { type: 'error', error: { type: 'not_found_error' } },
      });
      expect(message.message).toContain('/v1/messages is there');

      const httpOptions = { baseUrl: `${baseURL}/v1` };
      const google = new GoogleGenAI({ apiKey, vertexai: false, httpOptions });
      const content = await thrownBy(
        google.models.generateContent({ model: 'a/one', contents: 'hi' }),
      );
      expect(content.status).toBe(404);
      expect(JSON.parse(content.message).error).toMatchObject({
        code: 404,
        status: 'NOT_FOUND',
        message: expect.stringContaining(':generateContent is there'),
      });
    },
  );

  it(
    verifies(
      'errors.route.unknown.hint',
      'is told in the shape of the path to clients that name none',
    ),
    async () => {
      const told = (path: string, method = 'POST') =>
        ask(gateway.url + path, { method, key: gateway.clientKey, body: {} });
      expect((await told('/v1/v1/chat/completions')).body.error).toMatchObject({
        type: 'not_found_error',
        code: 'not_found',
        param: null,
        message: expect.stringContaining('/v1/chat/completions is there'),
      });
      expect((await told('/v1/v1/messages')).body).toMatchObject({ type: 'error' });
      expect((await told('/v1/v1/agents')).body).toMatchObject({ type: 'error' });
      expect((await told('/v1/nothing')).body.error).toMatch(/GET \/openapi\.json/);
    },
  );
});
