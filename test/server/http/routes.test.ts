import { Agent, get } from 'node:http';
import { json } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../src/core/time/clock.ts';
import { GatewayError } from '../../../src/core/errors.ts';
import { createIdSource } from '../../../src/core/ids.ts';
import { createCors } from '../../../src/server/http/cors.ts';
import { listen } from '../../../src/server/http/listen.ts';
import { createApp } from '../../../src/server/http/routes.ts';
import type { RouteSpec, RoutesOptions } from '../../../src/server/http/routes.ts';
import type { Handler } from '../../../src/surfaces/http-exchange.ts';
import { roomyBudget } from '../../support/body-intake.ts';
import { verifies } from '../../requirements.ts';

const LIMITS = {
  bodyBytes: 1_000,
  headerBytes: 16_384,
  requestTimeoutMs: 30_000,
  maxConnections: 100,
} as never;
const PAGE = 'https://page.test';

/** Says which handler answers, and where. */
const say =
  (word: string): Handler =>
  async ({ path, search }) => ({ status: 200, body: { word, path, search } });

const route = (path: string, methods: RouteSpec['methods'], rest: Partial<RouteSpec> = {}) => ({
  path,
  envelope: 'flat' as const,
  methods,
  ...rest,
});

async function serve(routes: readonly RouteSpec[], options: Partial<RoutesOptions> = {}) {
  const ids = createIdSource(systemClock);
  const bugs: unknown[] = [];
  const app = createApp({
    routes,
    clock: systemClock,
    ids,
    bodies: roomyBudget(),
    guard: () => undefined,
    onBug: (thrown) => bugs.push(thrown),
    ...options,
  });
  const listener = await listen(app, {
    host: '127.0.0.1',
    port: 0,
    limits: LIMITS,
    drainIdleMs: 10,
    ids,
  });
  onTestFinished(async () => {
    listener.cut();
    await listener.drain();
  });
  const call = async (method: string, path: string, headers: Record<string, string> = {}) => {
    const answer = await fetch(listener.url + path, { method, headers });
    const text = await answer.text();
    const body: unknown = text === '' ? undefined : JSON.parse(text);
    return { status: answer.status, headers: answer.headers, body };
  };
  return { call, bugs, url: listener.url };
}

describe('a route', () => {
  it('is found by its method and its path, as it was sent', async () => {
    const { call } = await serve([
      route('/v1/things', { GET: say('list'), POST: say('create') }),
      route('/v1/things/:id', { GET: say('get') }),
      route('/v1/files/**', { GET: say('below') }),
    ]);
    const told = async (method: string, path: string) => (await call(method, path)).body;
    expect(await told('GET', '/v1/things?a=b')).toEqual({
      word: 'list',
      path: '/v1/things',
      search: '?a=b',
    });
    expect(await told('POST', '/v1/things')).toMatchObject({ word: 'create' });
    for (const id of ['a', 'a%2Fb', '%', '%ff'])
      expect(await told('GET', `/v1/things/${id}`)).toMatchObject({
        word: 'get',
        path: `/v1/things/${id}`,
      });
    expect(await told('GET', '/v1/files/a/b/c')).toMatchObject({ word: 'below' });
  });

  it('answers HEAD as GET without the body', async () => {
    const { call } = await serve([route('/v1/things', { GET: say('list') })]);
    const [get, head] = [await call('GET', '/v1/things'), await call('HEAD', '/v1/things')];
    expect(head).toMatchObject({ status: 200, body: undefined });
    const length = JSON.stringify(get.body).length;
    expect(head.headers.get('content-length')).toBe(String(length));
  });

  it('answers HEAD by a handler of its own, or not at all', async () => {
    const own: Handler = async () => ({ status: 204, headers: { 'x-own': '1' } });
    const { call } = await serve([
      route('/v1/own', { GET: say('get'), HEAD: own }),
      route('/v1/endless', { GET: say('get') }, { refusesHead: true }),
      route('/v1/write', { POST: say('create') }),
    ]);
    expect((await call('HEAD', '/v1/own')).headers.get('x-own')).toBe('1');
    for (const [path, allow] of Object.entries({ '/v1/endless': 'GET', '/v1/write': 'POST' })) {
      const { status, headers } = await call('HEAD', path);
      expect([status, headers.get('allow')]).toEqual([405, allow]);
    }
  });

  it('tells of errors in its shape, or in that of the client', async () => {
    const fail: Handler = () => Promise.reject(new GatewayError('not_found', { message: 'gone' }));
    const { call, bugs } = await serve([
      route('/flat', { GET: fail }),
      route('/own', { GET: fail }, { envelope: 'resource' }),
      route(
        '/client',
        { GET: fail },
        { envelopeOf: (headers) => ('x-chat' in headers ? 'chat' : 'resource') },
      ),
    ]);
    const resource = { type: 'error', error: { type: 'not_found', message: 'gone' } };
    expect((await call('GET', '/flat')).body).toEqual({ error: 'gone' });
    expect((await call('GET', '/own')).body).toMatchObject(resource);
    expect((await call('GET', '/client')).body).toMatchObject(resource);
    expect((await call('GET', '/client', { 'x-chat': '1' })).body).toMatchObject({
      error: { code: 'not_found' },
    });
    expect(bugs).toEqual([]);
  });

  it('answers what nobody foresaw with 500 and tells of it', async () => {
    const bug = new Error('oh');
    const { call, bugs } = await serve([route('/a', { GET: () => Promise.reject(bug) })]);
    expect(await call('GET', '/a')).toMatchObject({ status: 500 });
    expect(bugs).toEqual([bug]);
  });
});

describe('a method that a path does not have', () => {
  it('is refused with those that it has', async () => {
    const { call } = await serve([
      route('/v1/things', { POST: say('create'), GET: say('list') }),
      route('/v1/things/:id', { DELETE: say('remove'), PATCH: say('update') }),
    ]);
    const refused = async (method: string, path: string) => {
      const { status, headers } = await call(method, path);
      return [status, headers.get('allow')];
    };
    expect(await refused('DELETE', '/v1/things')).toEqual([405, 'GET, HEAD, POST']);
    expect(await refused('OPTIONS', '/v1/things')).toEqual([405, 'GET, HEAD, POST']);
    expect(await refused('GET', '/v1/things/a')).toEqual([405, 'DELETE, PATCH']);
  });

  it('is refused in the shape of the path, or flat where families share it', async () => {
    const google = { envelope: 'google' } as const;
    const { call } = await serve([
      route('/one', { GET: say('a') }, google),
      route('/same', { GET: say('a') }, google),
      route('/same', { POST: say('b') }, google),
      route('/shared', { GET: say('a') }, google),
      route('/shared', { POST: say('b') }, { envelope: 'chat' }),
    ]);
    const shape = { error: { code: 405, message: 'method not allowed' } };
    expect((await call('PUT', '/one')).body).toMatchObject(shape);
    const same = await call('PUT', '/same');
    expect(same.body).toMatchObject(shape);
    expect(same.headers.get('allow')).toBe('GET, HEAD, POST');
    expect((await call('PUT', '/shared')).body).toEqual({ error: 'method not allowed' });
  });
});

describe('a WebSocket upgrade', () => {
  const start = async () => {
    const { url } = await serve([
      route('/v1/responses', { POST: say('ask') }, { envelope: 'chat' }),
      route('/v1/messages', { GET: say('list'), POST: say('ask') }, { envelope: 'messages' }),
      route('/v1/things/:id', { GET: say('get') }),
    ]);
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    onTestFinished(() => agent.destroy());
    return (path: string, upgrade = 'websocket') =>
      new Promise<{ status?: number; upgrade?: string; reused: boolean; body: unknown }>(
        (resolve, reject) => {
          const headers = {
            connection: 'keep-alive, Upgrade',
            upgrade,
            'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
            'sec-websocket-version': '13',
          };
          const request = get(url + path, { agent, headers }, (response) => {
            const { statusCode: status, headers } = response;
            const { reusedSocket: reused } = request;
            const toAnswer = (body: unknown) => ({
              ...(status && { status }),
              ...(headers.upgrade && { upgrade: headers.upgrade }),
              reused,
              body,
            });
            json(response).then(toAnswer).then(resolve, reject);
          }).on('error', reject);
        },
      );
  };
  const message = expect.stringMatching(/does not speak WebSocket/) as unknown;

  it(
    verifies('responses.websocket', 'is refused in the shape of any path, on a kept connection'),
    async () => {
      const open = await start();
      const refused = { status: 426, upgrade: 'HTTP/1.1' };
      const body = { error: { message, type: 'invalid_request_error', code: 'websocket_refused' } };
      expect(await open('/v1/responses')).toMatchObject({ ...refused, reused: false, body });
      expect(await open('/v1/messages?beta=true', 'h2c, WebSocket')).toMatchObject({
        ...refused,
        reused: true,
        body: { type: 'error', error: { type: 'invalid_request_error', message } },
      });
      expect(await open('/v1/things/a')).toMatchObject({
        ...refused,
        reused: true,
        body: { error: message },
      });
    },
  );

  it('does not make a path, and is no upgrade to another protocol', async () => {
    const open = await start();
    expect(await open('/v1/realtime')).toMatchObject({ status: 404 });
    expect(await open('/v1/things/a', 'h2c')).toMatchObject({ status: 200, body: { word: 'get' } });
    expect(await open('/v1/responses', 'websocketish')).toMatchObject({ status: 405 });
  });
});

describe('a path that nobody serves', () => {
  it('is refused with the one that was meant', async () => {
    const { call } = await serve([route('/v1/things', { GET: say('list') })]);
    expect(await call('GET', '/v1/thing')).toMatchObject({
      status: 404,
      body: { error: 'no such path; did you mean /v1/things?' },
    });
    for (const method of ['GET', 'POST', 'DELETE'])
      expect(await call(method, '/else')).toMatchObject({
        status: 404,
        body: { error: 'no such path; GET /openapi.json lists those that are there' },
      });
  });

  it('is refused in the shape of the client', async () => {
    const { call } = await serve([]);
    const headers = { 'anthropic-version': '1' };
    expect((await call('GET', '/else', headers)).body).toMatchObject({
      type: 'error',
      error: { type: 'not_found_error' },
    });
  });
});

describe('the guard', () => {
  it('refuses before a handler is asked', async () => {
    const asked: string[] = [];
    const { call } = await serve(
      [route('/a', { GET: async ({ path }) => (asked.push(path), { status: 200 }) })],
      {
        guard: ({ headers }) => {
          if (headers['x-bad']) throw new GatewayError('host_not_allowed');
        },
      },
    );
    expect((await call('GET', '/a', { 'x-bad': '1' })).status).toBe(403);
    expect(asked).toEqual([]);
    expect((await call('GET', '/a')).status).toBe(200);
    expect(asked).toEqual(['/a']);
  });
});

describe('pages of other origins', () => {
  const OPEN = [
    '/v1/things',
    '/v1/credentialsx',
    '/v1/webhooks/secrets',
    '/administer',
    '/x/admin',
  ];
  const CLOSED = [
    '/admin',
    '/admin/v1/keys',
    '/v1/credentials',
    '/v1/credentials/a',
    '/v1/webhooks/secret/rotate',
  ];
  const start = (origins = [PAGE]) =>
    serve(
      [...OPEN, ...CLOSED].map((path) => route(path, { GET: say('a'), POST: say('b') })),
      { cors: createCors(origins) },
    );
  const readers = (answer: { headers: Headers }) =>
    answer.headers.get('access-control-allow-origin');

  it('read answers, but none about secrets and the control of the gateway', async () => {
    const { call } = await start();
    for (const path of OPEN) expect(readers(await call('GET', path, { origin: PAGE }))).toBe(PAGE);
    for (const path of CLOSED) {
      const answer = await call('GET', path, { origin: PAGE });
      expect([answer.status, readers(answer)], path).toEqual([200, null]);
    }
  });

  it('are told which methods they may call', async () => {
    const { call } = await start();
    const headers = { origin: PAGE, 'access-control-request-method': 'POST' };
    for (const path of OPEN) {
      const answer = await call('OPTIONS', path, headers);
      expect(answer.status, path).toBe(204);
      expect(answer.headers.get('access-control-allow-methods')).toBe('GET, HEAD, POST');
    }
    for (const path of CLOSED)
      expect((await call('OPTIONS', path, headers)).status, path).toBe(405);
  });

  it('read nothing where none is configured', async () => {
    const { call } = await start([]);
    const answer = await call('GET', '/v1/things', { origin: PAGE });
    expect([answer.status, readers(answer)]).toEqual([200, null]);
  });
});
