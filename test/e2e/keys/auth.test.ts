import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startMockServer } from '../../../src/providers/mock/mock-server.ts';
import type { MockServer } from '../../../src/providers/mock/mock-server.ts';
import { verifies } from '../../requirements.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import type { FakeClock } from '../../support/fake-clock.ts';
import { ask, startGateway } from '../../support/gateway.ts';
import type { Answer, TestGateway } from '../../support/gateway.ts';

const MISSING = 'missing API key in Authorization header';
const HOUR = 3_600_000;
const HELLO = { model: 'acme/fast', messages: [{ role: 'user', content: 'hello' }] };
const PATHS: [method: string, path: string][] = [
  ['POST', '/v1/chat/completions'],
  ['GET', '/v1/models'],
  ['GET', '/v1/models/acme/fast'],
  ['GET', '/admin/v1/keys'],
  ['POST', '/admin/v1/keys'],
  ['GET', '/admin/v1/models/acme%2Ffast'],
  ['DELETE', '/admin/v1/providers/upstream'],
  ['GET', '/admin/v1/usage'],
  ['GET', '/admin/v1/requests'],
];

let upstream: MockServer;
let clock: FakeClock;
let gateway: TestGateway;

beforeAll(async () => {
  upstream = await startMockServer();
  clock = createFakeClock();
  gateway = await startGateway(
    {
      providers: [
        {
          name: 'upstream',
          type: 'custom',
          base_url: `${upstream.url}/v1`,
          api_key: '${secret:env:UPSTREAM_KEY}',
          protocols: { chat: true },
        },
      ],
      models: [
        { name: 'acme/fast', routes: [{ provider: 'upstream' }] },
        { name: 'acme/priced', routes: [{ provider: 'upstream', pricing: { per_call: '0.15' } }] },
        { name: 'other/fast', routes: [{ provider: 'upstream' }] },
      ],
    },
    { clock, env: { UPSTREAM_KEY: 'upstream-secret-value' } },
  );
});

afterAll(async () => {
  await gateway.stop();
  await upstream.close();
});

beforeEach(() => upstream.engine.clearCalls());

async function createKey(body: object): Promise<{ id: string; value: string; name: string }> {
  const created = await gateway.admin('POST', '/admin/v1/keys', body);
  expect(created.status, JSON.stringify(created.body)).toBe(201);
  return created.body;
}

const chat = (key: string, body: unknown = HELLO): Promise<Answer> =>
  gateway.call('POST', '/v1/chat/completions', { key, body });

describe('authentication', () => {
  it(
    verifies(
      'auth.key.required',
      'auth.key.missing-message',
      'errors.flat.shape',
      'errors.flat.which',
      'refuses every path without a key, and nothing happens',
    ),
    async () => {
      const providers = await gateway.admin('GET', '/admin/v1/providers');
      for (const [method, path] of PATHS) {
        const body = method === 'POST' ? { ...HELLO, name: 'never', stream: true } : undefined;
        const answer = await gateway.call(method, path, {
          key: '',
          body,
          headers: { accept: 'text/event-stream' },
        });
        expect([path, answer.status, answer.body]).toEqual([path, 401, { error: MISSING }]);
        expect(answer.headers.get('content-type')).toBe('application/json');
      }
      expect(upstream.engine.calls()).toEqual([]);
      expect((await gateway.admin('GET', '/admin/v1/providers')).body).toEqual(providers.body);
      const keys = await gateway.admin('GET', '/admin/v1/keys?name=never');
      expect(keys.body.data).toEqual([]);
    },
  );

  it(
    verifies(
      'auth.key.unknown-message',
      'auth.key.legacy-and-opaque',
      'refuses an unknown key whatever it looks like, and accepts an imported one',
    ),
    async () => {
      for (const key of ['x', 'sk-', 'sk-sb-0123456789', `sk-${'0'.repeat(64)}`, 'k'.repeat(4000)])
        expect(await chat(key)).toMatchObject({ status: 401, body: { error: 'invalid API key' } });
      const value = `sk-sb-${'legacy'.repeat(4)}`;
      const legacy = await createKey({ name: 'legacy', value });
      expect((await chat(value)).status).toBe(200);
      const odd = await createKey({
        name: 'odd',
        value: 'no prefix'.replace(' ', '-') + '-1234567',
      });
      expect((await chat(odd.value)).status).toBe(200);
      await gateway.admin('POST', `/admin/v1/keys/${legacy.id}/revoke`);
      expect((await chat(value)).body).toEqual({ error: 'API key has been revoked' });
    },
  );

  it(
    verifies(
      'auth.key.revoked-message',
      'says that a key is revoked, also when it is expired as well',
    ),
    async () => {
      const expires_at = new Date(clock.now() + HOUR).toISOString();
      const { id, value } = await createKey({ name: 'to-revoke', expires_at });
      expect((await chat(value)).status).toBe(200);
      expect((await gateway.admin('POST', `/admin/v1/keys/${id}/revoke`)).status).toBe(200);
      const revoked = { status: 401, body: { error: 'API key has been revoked' } };
      expect(await chat(value)).toMatchObject(revoked);
      clock.step(2 * HOUR);
      expect(await chat(value)).toMatchObject(revoked);
      clock.step(-2 * HOUR);
    },
  );

  it(
    verifies('auth.key.expired-message', 'refuses a key from the very instant of its expiry'),
    async () => {
      const expires_at = new Date(clock.now() + HOUR).toISOString();
      const { value } = await createKey({ name: 'to-expire', expires_at });
      clock.step(HOUR - 1);
      expect((await chat(value)).status).toBe(200);
      clock.step(1);
      expect(await chat(value)).toMatchObject({
        status: 401,
        body: { error: 'API key has expired' },
      });
      clock.step(-HOUR);
    },
  );

  it(
    verifies('auth.standard.bearer-only', 'reads the Authorization header and nothing else'),
    async () => {
      for (const [method, path] of PATHS) {
        const key = path.startsWith('/admin') ? gateway.adminKey : gateway.clientKey;
        const headers = { 'x-api-key': key, 'x-native-api-key': key, 'x-goog-api-key': key };
        const body = method === 'POST' ? HELLO : undefined;
        const answer = await gateway.call(method, `${path}?key=${key}`, { key: '', body, headers });
        expect([path, answer.status, answer.body]).toEqual([path, 401, { error: MISSING }]);
      }
      expect(upstream.engine.calls()).toEqual([]);
    },
  );

  it(
    verifies('auth.bearer.parsing', 'matches the scheme in any case and no other scheme'),
    async () => {
      const key = gateway.clientKey;
      const get = (authorization: string) =>
        gateway.call('GET', '/v1/models', { key: '', headers: { authorization } });
      for (const scheme of ['Bearer', 'bearer', 'BEARER', 'bEaReR'])
        expect((await get(`${scheme} ${key}`)).status).toBe(200);
      const basic = Buffer.from(`user:${key}`).toString('base64');
      for (const none of [`Basic ${basic}`, 'Bearer', 'Bearer ', '', key, `Bearer${key}`])
        expect(await get(none)).toMatchObject({ status: 401, body: { error: MISSING } });
    },
  );

  it(
    verifies(
      'auth.scope.insufficient',
      'auth.scope.vocabulary',
      'refuses what a restricted key has no scope for',
    ),
    async () => {
      const scopes =
        'inference,models,assets,run,agents,sessions,endpoints,deployments,credentials,skills,account,admin';
      expect((await createKey({ name: 'all', scopes: scopes.split(',') })).value).toMatch(/^sk-/);
      const refused = { status: 403, body: { error: 'insufficient_scope' } };

      const reader = await createKey({ name: 'reader', scopes: ['models'] });
      expect((await gateway.call('GET', '/v1/models', { key: reader.value })).status).toBe(200);
      expect(await chat(reader.value)).toMatchObject(refused);
      const caller = await createKey({ name: 'caller', scopes: ['inference'] });
      expect((await chat(caller.value)).status).toBe(200);
      expect(await gateway.call('GET', '/v1/models', { key: caller.value })).toMatchObject(refused);
      expect(upstream.engine.calls()).toHaveLength(1);

      const unknown = await gateway.admin('POST', '/admin/v1/keys', {
        name: 'bad',
        scopes: ['models', 'everything'],
      });
      expect(unknown.status).toBe(400);
    },
  );

  it(
    verifies(
      'auth.scope.console-key-org-wide',
      'keys.admin.separate-surface',
      'lets a standard key call every public path and no admin path',
    ),
    async () => {
      const { value } = await createKey({ name: 'standard' });
      expect((await chat(value)).status).toBe(200);
      for (const path of ['/v1/models', '/v1/models/acme/fast'])
        expect((await gateway.call('GET', path, { key: value })).status).toBe(200);
      for (const [method, path] of PATHS.filter(([, path]) => path.startsWith('/admin'))) {
        const body = method === 'POST' ? { name: 'never' } : undefined;
        const answer = await gateway.call(method, path, { key: value, body });
        expect([path, answer.status, answer.body]).toEqual([
          path,
          403,
          { error: 'insufficient_scope' },
        ]);
      }
      for (const method of ['GET', 'POST', 'DELETE'])
        expect((await gateway.call(method, '/v1/keys', { key: gateway.adminKey })).status).toBe(
          404,
        );
    },
  );

  it(
    verifies(
      'auth.compat.sdk-headers-ignored',
      'takes no notice of the headers and parameters that vendor clients add',
    ),
    async () => {
      const headers = {
        'anthropic-workspace-id': 'w',
        'anthropic-beta': 'b',
        'openai-beta': 'assistants=v2',
        'x-goog-api-client': 'gl-node/20',
      };
      for (const path of ['/v1/models?beta=true', '/v1/models/acme/fast?beta=true'])
        expect((await gateway.call('GET', path, { headers })).status).toBe(200);
      const client = new OpenAI({
        baseURL: `${gateway.url}/v1`,
        apiKey: gateway.clientKey,
        organization: 'org-x',
        project: 'proj-x',
        defaultHeaders: headers,
        defaultQuery: { beta: 'true' },
      });
      const answer = await client.chat.completions.create(HELLO as never);
      expect(answer).toMatchObject({ object: 'chat.completion' });
    },
  );

  it(
    verifies(
      'auth.upstream.client-credential-not-forwarded',
      "sends the provider's own credential once and nothing of the client's",
    ),
    async () => {
      const key = gateway.clientKey;
      const headers = { 'x-api-key': key, 'x-goog-api-key': key, cookie: `session=${key}` };
      const options = { body: HELLO, headers };
      expect((await gateway.call('POST', `/v1/chat/completions?key=${key}`, options)).status).toBe(
        200,
      );
      const [call] = upstream.engine.calls();
      expect(call?.headers['authorization']).toBe('Bearer upstream-secret-value');
      expect(JSON.stringify([call?.path, call?.headers, call?.body.toString()])).not.toContain(key);
      expect(call?.headers).not.toHaveProperty('cookie');
    },
  );
});

describe('the order of checks', () => {
  it(verifies('auth.check-order', 'lets the first failing check answer'), async () => {
    const organization = (await gateway.admin('POST', '/admin/v1/organizations', { name: 'order' }))
      .body.id;
    const key = await createKey({
      name: 'order',
      organization,
      rpm_cap: 2,
      spending_limit: '0.15',
      scopes: ['inference'],
    });
    const patchOrganization = (enabled: boolean) =>
      gateway.admin('PATCH', `/admin/v1/organizations/${organization}`, { enabled });
    const models = () => gateway.call('GET', '/v1/models', { key: key.value });
    const passMinute = () => clock.advance(60_000);

    // Spent to the limit: from now on everything below spending shows.
    expect((await chat(key.value, { ...HELLO, model: 'acme/priced' })).status).toBe(200);
    passMinute();
    // Spending before the body.
    expect(await chat(key.value, '{')).toMatchObject({
      status: 402,
      body: { error: 'API key spending limit exceeded' },
    });
    // Organization before spending.
    await patchOrganization(false);
    expect((await chat(key.value, '{')).body).toEqual({ error: 'organization is disabled' });
    passMinute();
    // Scope before organization.
    expect((await models()).body).toEqual({ error: 'insufficient_scope' });
    expect((await models()).body).toEqual({ error: 'insufficient_scope' });
    // Key rpm before scope.
    expect((await models()).body).toEqual({ error: 'API key rate limit exceeded' });
    // Key state before key rpm.
    await gateway.admin('POST', `/admin/v1/keys/${key.id}/revoke`);
    expect((await models()).body).toEqual({ error: 'API key has been revoked' });
    expect(upstream.engine.calls()).toHaveLength(1);
  });

  it(verifies('auth.check-order', 'asks the platform cap before anything of the key'), async () => {
    const capped = await startGateway(
      { server: { limits: { rpm: 1 } } },
      { clock: createFakeClock() },
    );
    try {
      expect((await ask(`${capped.url}/v1/models`)).body).toEqual({ error: MISSING });
      expect(await ask(`${capped.url}/v1/models`)).toMatchObject({
        status: 429,
        body: { error: 'global rate limit exceeded' },
      });
    } finally {
      await capped.stop();
    }
  });
});
