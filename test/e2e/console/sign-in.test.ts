import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { verifies } from '../../requirements.ts';
import { ask, eventually, startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { ownPage, signIn } from './console-client.ts';

const CONFIG = {
  providers: [{ name: 'mock', type: 'mock' }],
  models: [{ name: 'acme/echo', routes: [{ provider: 'mock' }] }],
};

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startGateway(CONFIG, { binary: true });
});

afterAll(async () => void (await gateway.stop()));

const session = (): string => `${gateway.url}/console/api/session`;

async function newKey(body: object = {}): Promise<{ id: string; key: string }> {
  const name = `key-${Math.random().toString(36).slice(2)}`;
  const { body: made } = await gateway.admin('POST', '/admin/v1/keys', { name, ...body });
  return { id: made.id, key: made.value };
}

it(
  verifies(
    'console.sign-in.cookie',
    'sign-in sets a cookie of a session of its own that no script reads, and the key is nowhere in it',
  ),
  async () => {
    const { key, id } = await newKey({ scopes: ['account'] });
    const { signedIn, cookie, csrf, call } = await signIn(gateway, { key });
    expect(signedIn.status).toBe(201);
    expect(signedIn.body).toEqual({
      type: 'console_session',
      id: expect.stringMatching(/^[\w-]{16}$/),
      csrf: expect.stringMatching(/^[\w-]{43}$/),
      key: { id, name: expect.any(String), scopes: ['account'], role: null },
      organization: { id: expect.stringMatching(/^org_/), name: 'default' },
      api_url: null,
      expires_at: expect.stringMatching(/^20.*Z$/),
    });
    const set = signedIn.headers.get('set-cookie') ?? '';
    expect(set.split('; ').slice(1)).toEqual([
      'Path=/console/api',
      'Max-Age=43200',
      'HttpOnly',
      'SameSite=Strict',
    ]);
    expect(cookie).toMatch(/^gateway_console=[\w-]{43}$/);
    expect(JSON.stringify([...signedIn.headers, signedIn.body])).not.toContain(key);
    expect(JSON.stringify(signedIn.body)).not.toContain(cookie.slice('gateway_console='.length));
    expect(await call('GET', '/session')).toMatchObject({
      status: 200,
      body: { csrf, key: { id } },
    });
  },
);

it('marks the cookie as secure where the page came by TLS', async () => {
  const { key } = await newKey();
  const headers = { 'x-forwarded-proto': 'https' };
  const answer = await ask(session(), { method: 'POST', body: { key }, headers });
  expect(answer.headers.get('set-cookie')).toMatch(/; Secure$/);
});

it('refuses wrong keys as everywhere, and answers to no session with 401', async () => {
  const wrong = await ask(session(), { method: 'POST', body: { key: 'sk-wrong' } });
  expect(wrong).toMatchObject({ status: 401, body: { error: 'invalid API key' } });
  expect(wrong.headers.get('set-cookie')).toBeNull();
  for (const cookie of ['', 'gateway_console=x', `gateway_console=${'a'.repeat(43)}`]) {
    const answer = await ask(session(), { headers: { cookie } });
    expect(answer).toMatchObject({ status: 401 });
    expect(answer.body.error.message).toContain('sign in again');
  }
  for (const body of [{}, { key: 'a', link: 'b' }, { key: 1 }])
    expect(await ask(session(), { method: 'POST', body })).toMatchObject({ status: 400 });
});

it(
  verifies(
    'console.cookie-path',
    'the cookie counts below /console/api alone, where a call is one of the signed-in key with its limits and its record',
  ),
  async () => {
    const { key, id } = await newKey({ scopes: ['inference', 'account'], rpm_cap: 5 });
    const { cookie, csrf, call } = await signIn(gateway, { key });
    const headers = { cookie, 'x-gateway-csrf': csrf, ...ownPage(gateway.url) };
    const chat = { model: 'acme/echo', messages: [{ role: 'user', content: 'hello' }] };
    for (const [method, path, body] of [
      ['GET', '/v1/models'],
      ['POST', '/v1/chat/completions', chat],
      ['POST', '/v1/messages', chat],
      ['GET', '/admin/v1/keys'],
      ['GET', '/v1beta/models'],
    ] as const) {
      const answer = await ask(gateway.url + path, { method, body, headers });
      expect(answer.status, path).toBe(401);
      expect(JSON.stringify(answer.body)).toContain('missing API key in Authorization header');
    }
    const answered = await call('POST', '/v1/chat/completions', { body: chat });
    expect(answered).toMatchObject({ status: 200, body: { object: 'chat.completion' } });
    const record = await gateway.admin(
      'GET',
      `/admin/v1/requests/${answered.headers.get('x-request-id')}`,
    );
    expect(record.body).toMatchObject({ key: { id }, model: 'acme/echo', result: 'ok' });
    // A page cannot speak for another key.
    const other = { authorization: `Bearer ${gateway.adminKey}`, 'x-api-key': gateway.adminKey };
    expect(await call('GET', '/v1/account/key', { headers: other })).toMatchObject({
      status: 200,
      body: { id },
    });
    const { body } = await call('GET', '/admin/v1/keys', { headers: other });
    expect(body).toEqual({ error: 'insufficient_scope' });
    const last = [];
    for (let i = 0; i < 4; i++) last.push((await call('GET', '/v1/account/key')).status);
    expect(last).toContain(429);
  },
);

it(
  verifies(
    'console.csrf',
    'a change without the token, with that of another session or from another origin is refused on every path and changes nothing',
  ),
  async () => {
    const mine = await signIn(gateway, { key: gateway.adminKey });
    const theirs = await signIn(gateway, { key: gateway.adminKey });
    const keysBefore = (await gateway.admin('GET', '/admin/v1/keys?limit=100')).body.data.length;
    const own = { cookie: mine.cookie, 'x-gateway-csrf': mine.csrf, ...ownPage(gateway.url) };
    const { port } = new URL(gateway.url);
    const wrong: Record<string, Record<string, string>> = {
      'no token': { ...own, 'x-gateway-csrf': '' },
      "another session's token": { ...own, 'x-gateway-csrf': theirs.csrf },
      'another origin': { ...own, origin: 'https://example.com', 'sec-fetch-site': 'cross-site' },
      'another port of this machine': { ...own, origin: `http://localhost:${Number(port) + 1}` },
      'another site': { ...own, 'sec-fetch-site': 'same-site' },
      'no word of its origin': { cookie: mine.cookie, 'x-gateway-csrf': mine.csrf },
      'an origin that is none': { ...own, origin: 'null' },
    };
    const changes = [
      ['POST', '/admin/v1/keys', { name: 'stolen' }],
      ['POST', '/v1/sessions', {}],
      ['POST', '/v1beta/models/x:generateContent', {}],
      ['PATCH', '/admin/v1/keys/any', {}],
      ['DELETE', '/admin/v1/keys/any', undefined],
      ['DELETE', '/session', undefined],
    ] as const;
    for (const [what, headers] of Object.entries(wrong))
      for (const [method, path, body] of changes) {
        const answer = await ask(`${gateway.url}/console/api${path}`, { method, body, headers });
        expect(answer.status, `${what}: ${method} ${path}`).toBe(403);
      }
    const { body } = await gateway.admin('GET', '/admin/v1/keys?limit=100');
    expect(body.data).toHaveLength(keysBefore);
    expect(await mine.call('GET', '/session')).toMatchObject({ status: 200 });
    expect(await mine.call('POST', '/admin/v1/keys', { body: { name: 'mine' } })).toMatchObject({
      status: 201,
    });
    const read = await mine.call('GET', '/admin/v1/keys', { headers: { origin: 'http://x.test' } });
    expect(read.status).toBe(403);
  },
);

it('ends with the sign-out', async () => {
  const { call, cookie } = await signIn(gateway, { key: gateway.adminKey });
  const answer = await call('DELETE', '/session');
  expect(answer.status).toBe(204);
  expect(answer.headers.get('set-cookie')).toContain('gateway_console=; ');
  expect(await ask(session(), { headers: { cookie } })).toMatchObject({ status: 401 });
  expect(await call('GET', '/v1/models')).toMatchObject({ status: 401 });
});

it('ends with its key, and says why in the words of the contract', async () => {
  const { id, key } = await newKey();
  const { call } = await signIn(gateway, { key });
  expect(await call('GET', '/v1/models')).toMatchObject({ status: 200 });
  await gateway.admin('POST', `/admin/v1/keys/${id}/revoke`, {});
  await eventually(async () => (await call('GET', '/v1/models')).status === 401, 2_000);
  expect(await call('GET', '/v1/models')).toMatchObject({
    body: { error: 'API key has been revoked' },
  });
  expect(await call('GET', '/session')).toMatchObject({ status: 401 });
  expect(await ask(session(), { method: 'POST', body: { key } })).toMatchObject({ status: 401 });
});

it('ends when the value of its key that it began with does, while others go on', async () => {
  const { id, key } = await newKey();
  const { call: former } = await signIn(gateway, { key });
  const { body: rotated } = await gateway.admin('POST', `/admin/v1/keys/${id}/rotate`, {
    overlap: '1h',
  });
  const { call: current } = await signIn(gateway, { key: rotated.value });
  expect(await former('GET', '/v1/models')).toMatchObject({ status: 200 });
  // The former value ends now.
  await gateway.admin('POST', `/admin/v1/keys/${id}/rotate`, { overlap: '1s', end: 'former' });
  await eventually(async () => (await former('GET', '/v1/models')).status === 401, 1_500);
  expect(await former('GET', '/session')).toMatchObject({
    status: 401,
    body: { error: 'API key has been revoked' },
  });
  expect(await current('GET', '/v1/models')).toMatchObject({ status: 200 });
  // And this one with its overlap.
  await eventually(async () => (await current('GET', '/v1/models')).status === 401, 3_000);
});

it('hands nothing on but the API', async () => {
  const { call } = await signIn(gateway, { key: gateway.adminKey });
  for (const path of ['/console/api/session', '/healthz', '/v2/x', '/', ''])
    expect((await call('GET', path)).status, path).toBe(404);
  expect(await call('PUT', '/session')).toMatchObject({ status: 405 });
  expect(await ask(`${gateway.url}/console`, { method: 'POST' })).toMatchObject({ status: 405 });
});

it('bounds failed sign-ins and guesses of cookies as it does bad keys', async () => {
  const bounded = await startGateway({ server: { limits: { rpm: 20 } } });
  onTestFinished(async () => void (await bounded.stop()));
  const url = `${bounded.url}/console/api/session`;
  const tries = [
    { method: 'POST', body: { key: 'sk-wrong' } },
    { method: 'POST', body: { link: 'wrong' } },
    { headers: { cookie: `gateway_console=${'a'.repeat(43)}` } },
  ];
  for (const one of tries) {
    const statuses = new Set<number>();
    for (let n = 0; n < 20; n++) statuses.add((await ask(url, one)).status);
    expect(statuses, JSON.stringify(one)).toContain(429);
  }
});

it('answers several reads at once, each as a call of its own', async () => {
  const { key, id } = await newKey({ scopes: ['models', 'account'] });
  const { call } = await signIn(gateway, { key });
  const together = (...reads: string[]) =>
    call('GET', `/together?${new URLSearchParams(reads.map((read) => ['read', read])).toString()}`);
  const answer = await together(
    '/v1/models?limit=5',
    '/admin/v1/keys',
    '/v1/account/executions/none',
    '/v1/account/key',
    '/session',
    '/healthz',
    '/v1/nothing',
  );
  expect(answer.status).toBe(200);
  expect(answer.body.data.map(({ status }: { status: number }) => status)).toEqual([
    200, 403, 404, 200, 404, 404, 404,
  ]);
  const [models, keys, , own] = answer.body.data;
  expect(models.body.data[0].id).toBe('acme/echo');
  expect(keys.body).toEqual({ error: 'insufficient_scope' });
  expect(own.body).toMatchObject({ id });
  expect(await together()).toMatchObject({ status: 404 });
  expect(await together(...Array.from({ length: 17 }, () => '/v1/models'))).toMatchObject({
    status: 400,
  });
  expect(await together('/v1/models', '/v1/account/executions/events')).toMatchObject({
    status: 400,
  });
  expect(await call('POST', '/together?read=/v1/models')).toMatchObject({ status: 404 });
  const url = `${gateway.url}/console/api/together?read=/v1/models`;
  expect(await ask(url)).toMatchObject({ status: 401 });
  // Each counts.
  const few = await newKey({ scopes: ['models'], rpm_cap: 3 });
  const bounded = await signIn(gateway, { key: few.key });
  const reads = Array.from({ length: 6 }, () => ['read', '/v1/models']);
  const { body } = await bounded.call('GET', `/together?${new URLSearchParams(reads).toString()}`);
  expect(body.data.map(({ status }: { status: number }) => status)).toContain(429);
});
