import Anthropic from '@anthropic-ai/sdk';
import Anthropic0 from 'anthropic-0';
import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { verifies } from '../../requirements.ts';
import { eventually, startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { MESSAGE } from '../../support/messages.ts';
import { sendJson, startUpstream } from '../../support/stage/upstream.ts';
import type { Upstream } from '../../support/stage/upstream.ts';

const OWN = 'sk-ant-oat01-own-login';
const HEADER = 'x-gateway-upstream-authorization';
const HELLO = [{ role: 'user' as const, content: 'hello' }];
const CHAT = { id: 'c', choices: [{ index: 0, message: { role: 'assistant', content: 'fine' } }] };

/** Names of the headers that hold credentials, with their values, as the provider got them. */
const CARRIERS = ['authorization', 'x-api-key', HEADER];

describe("a client's own credential", () => {
  let vendor: Upstream;
  let gateway: TestGateway;
  beforeAll(async () => {
    vendor = await startUpstream((response, { url, headers }) => {
      const key = headers.authorization ?? headers['x-api-key'];
      if (String(key).includes('bad'))
        return sendJson(response, 401, {
          type: 'error',
          error: { type: 'authentication_error', message: `invalid token ${String(key)}` },
        });
      sendJson(response, 200, url.includes('messages') ? MESSAGE : CHAT);
    });
    const auth = { type: 'client' };
    gateway = await startGateway({
      providers: [
        { name: 'claude', type: 'anthropic', base_url: vendor.url, auth },
        { name: 'gpt', type: 'openai', base_url: `${vendor.url}/v1`, auth, models: 'all' },
      ],
      models: [
        { name: 'm/claude', routes: [{ provider: 'claude', upstream_model: 'claude' }] },
        { name: 'm/gpt', routes: [{ provider: 'gpt', upstream_model: 'gpt' }] },
      ],
    });
  });
  beforeEach(() => void (vendor.seen.length = 0));
  afterAll(async () => {
    await gateway.stop();
    await vendor.close();
  });

  const anthropic = (options: object): Anthropic =>
    new Anthropic({ baseURL: gateway.url, apiKey: null, authToken: null, ...options });
  /** As Claude Code with a login sends both. */
  const beside = (authToken: string): Anthropic =>
    anthropic({ authToken, defaultHeaders: { 'x-api-key': gateway.clientKey }, maxRetries: 5 });
  const openai = (headers: Record<string, string> = {}): OpenAI =>
    new OpenAI({
      baseURL: `${gateway.url}/v1`,
      apiKey: gateway.clientKey,
      defaultHeaders: headers,
    });
  const ask = (client: Anthropic) =>
    client.messages.create({ model: 'm/claude', max_tokens: 5, messages: HELLO });
  const chat = (client: OpenAI, model = 'm/gpt') =>
    client.chat.completions.create({ model, messages: HELLO });
  const carried = () =>
    vendor.seen.map(({ headers }) =>
      Object.fromEntries(
        CARRIERS.filter((name) => headers[name]).map((name) => [name, headers[name]]),
      ),
    );
  const failure = (call: Promise<unknown>): Promise<any> =>
    call.then(
      () => expect.fail('it was answered'),
      (error: unknown) => error,
    );

  it(
    verifies('providers.client-auth', 'comes beside the key of the gateway from official clients'),
    async () => {
      const { clientKey } = gateway;
      const both = { baseURL: gateway.url, apiKey: clientKey, authToken: OWN };
      await new Anthropic0(both).messages.create({
        model: 'm/claude',
        max_tokens: 5,
        messages: HELLO,
      });
      await ask(beside(OWN));
      await ask(anthropic({ authToken: clientKey, defaultHeaders: { [HEADER]: `Bearer ${OWN}` } }));
      await ask(anthropic({ apiKey: clientKey, defaultHeaders: { [HEADER]: 'sk-ant-api' } }));
      await chat(openai({ [HEADER]: 'sk-own' }));
      await chat(openai({ [HEADER]: 'sk-own' }), 'gpt/undeclared');
      const login = { authorization: `Bearer ${OWN}` };
      const key = { authorization: 'Bearer sk-own' };
      expect(carried()).toEqual([login, login, login, { 'x-api-key': 'sk-ant-api' }, key, key]);
    },
  );

  it('is asked for in the shape of the family, and nothing is sent without one', async () => {
    const messages = await failure(ask(anthropic({ apiKey: gateway.clientKey, maxRetries: 5 })));
    expect(messages).toBeInstanceOf(Anthropic.AuthenticationError);
    expect(messages.error).toMatchObject({
      type: 'error',
      error: {
        type: 'authentication_error',
        message:
          'provider claude takes your own credential: send it in x-gateway-upstream-authorization, as `Bearer TOKEN` or as a key, or in Authorization with the key of the gateway in x-api-key',
      },
    });
    const refused = await failure(chat(openai()));
    expect(refused).toBeInstanceOf(OpenAI.AuthenticationError);
    expect(refused).toMatchObject({
      type: 'authentication_error',
      code: 'missing_client_credential',
    });
    const { status, body } = await gateway.call('POST', '/v1beta/models/m%2Fgpt:generateContent', {
      body: { contents: [{ role: 'user', parts: [{ text: 'hello' }] }] },
    });
    expect([status, body.error?.status]).toEqual([404, 'NOT_FOUND']);
    expect(vendor.seen).toEqual([]);
  });

  it('is no key of the gateway, whose it may be', async () => {
    const made = await gateway.admin('POST', '/admin/v1/keys', { name: 'gone' });
    await gateway.admin('POST', `/admin/v1/keys/${made.body.id}/revoke`);
    for (const key of [gateway.clientKey, gateway.adminKey, made.body.value as string]) {
      const both = await failure(ask(beside(key)));
      expect(both).toBeInstanceOf(Anthropic.AuthenticationError);
      expect(both.message).toContain('is a key of this gateway, which never leaves it');
      expect(both.message).not.toContain(key);
      const sent = await failure(chat(openai({ [HEADER]: key })));
      expect(sent).toMatchObject({ status: 401, code: 'client_credential_refused' });
    }
    expect(vendor.seen).toEqual([]);
  });

  it("gets the provider's refusal as its own, and cools nothing for others", async () => {
    const bad = await failure(ask(beside('bad-token-1')));
    expect(bad).toBeInstanceOf(Anthropic.AuthenticationError);
    expect(bad.error.error.message).toBe('invalid token Bearer [redacted]');
    expect(vendor.seen).toHaveLength(1);
    await ask(beside(OWN));
    const body = await eventually(async () => {
      const found = await gateway.admin('GET', '/admin/v1/requests?limit=1');
      return found.body.data[0].result !== 'pending' && found.body;
    });
    expect(body.data[0].attempts).toMatchObject([{ outcome: 'ok', credential: 'client' }]);
    expect(JSON.stringify(body)).not.toContain(OWN);
  });

  it('is nothing that a run has: it fails, and says why', async () => {
    const headers = { [HEADER]: OWN };
    const body = { model: 'm/claude', input: { messages: HELLO, max_tokens: 5 } };
    const made = await gateway.call('POST', '/v1/run', { body, headers });
    const run = await eventually(async () => {
      const found = await gateway.call('GET', `/v1/run/${made.body.id}`, { headers });
      return found.body.status === 'failed' && found.body;
    });
    expect(run.error.message).toBe(
      'provider claude takes the credential of a client, and this call has none for it',
    );
    expect(vendor.seen).toEqual([]);
  });
});
