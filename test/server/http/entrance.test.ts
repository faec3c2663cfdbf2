import { readFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { parse } from 'yaml';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createIdSource } from '../../../src/core/ids.ts';
import { createEntrance } from '../../../src/server/http/entrance.ts';
import { listen } from '../../../src/server/http/listen.ts';
import type { Listener } from '../../../src/server/http/listen.ts';
import type { RouteSpec, RoutesOptions } from '../../../src/server/http/routes.ts';
import { roomyBudget } from '../../support/body-intake.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { verifies } from '../../requirements.ts';
import { eventually, startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { speak } from '../../support/raw-socket.ts';
import { SURFACES } from '../surfaces.ts';

const EXAMPLE = new URL('../../../gateway.yaml.example', import.meta.url);
const ORIGIN = 'https://page.example';
const MAX_BODY_BYTES = 20_000;
/** Key with one request a minute. */
const LIMITED = 'sk-limited-0123456789abcdef0123456789abcdef';
const CHAT = '/v1/chat/completions';
const MODEL = 'mock/echo';
const EXACT = SURFACES.flatMap(({ paths }) => paths).filter((path) => !/[*:]/.test(path));

let gateway: TestGateway;
/** The same application without what answers in front of it. */
let routed: Listener;
/** Requests that were taken in front of the router. */
let direct = 0;
let counted: Listener;

beforeAll(async () => {
  const config = parse(await readFile(EXAMPLE, 'utf8')) as Record<string, object>;
  const server = {
    ...config['server'],
    cors: { origins: [ORIGIN] },
    limits: { body: MAX_BODY_BYTES, url_bytes: 2048 },
  };
  const keys = [{ name: 'limited', value: '${secret:env:LIMITED}', rpm_cap: 1 }];
  gateway = await startGateway({ ...config, server, keys }, { env: { LIMITED } });
  const { app, ids, entrance } = gateway.gateway!;
  const options = {
    host: '127.0.0.1',
    port: 0,
    limits: { headerBytes: 16_384, requestTimeoutMs: 30_000, maxConnections: 100 },
    drainIdleMs: 10,
    ids,
  };
  routed = await listen(app, options);
  counted = await listen(app, {
    ...options,
    entrance(request, response) {
      const isTaken = entrance(request, response);
      if (isTaken) direct++;
      return isTaken;
    },
  });
});

afterAll(async () => {
  for (const listener of [routed, counted]) {
    listener.cut();
    await listener.drain();
  }
  await gateway.stop();
});

interface Sent {
  method?: string;
  target?: string;
  headers?: readonly string[];
  body?: string;
}

const chat = (rest: object = {}): string =>
  JSON.stringify({ model: MODEL, messages: [{ role: 'user', content: 'hi' }], ...rest });

/** The text of a request, with the headers of one that is in order unless it names its own. */
function write({ method = 'POST', target = CHAT, headers = [], body = '' }: Sent): string {
  const own = new Set(headers.map((line) => line.split(':')[0]?.toLowerCase()));
  const usual = [
    'Host: 127.0.0.1',
    `Authorization: Bearer ${gateway.clientKey}`,
    'Content-Type: application/json',
    ...(own.has('transfer-encoding') || (method !== 'POST' && body === '')
      ? []
      : [`Content-Length: ${Buffer.byteLength(body)}`]),
  ].filter((line) => !own.has(line.split(':')[0]?.toLowerCase()));
  const lines = [`${method} ${target} HTTP/1.1`, ...usual, ...headers].filter(
    (line) => !line.endsWith(': none'),
  );
  return `${lines.join('\r\n')}\r\n\r\n${body}`;
}

/** All bytes of an answer but for what no two answers have alike. */
async function tell(url: string, text: string): Promise<string> {
  const { said } = await speak(url, Buffer.from(text), {
    isOver: (answers) => answers.some(({ status }) => status >= 200),
    quietMs: 1500,
  });
  return said
    .replaceAll(/req_[A-Za-z0-9]+/g, 'req_X')
    .replaceAll(/\r\nDate: [^\r]*/gi, '\r\nDate: X')
    .replaceAll(/\r\nretry-after: \d+/gi, '\r\nretry-after: X')
    .replaceAll(/"created(_at)?":\d+/g, '"created":0')
    .replaceAll(/\b(resp|msg|chatcmpl|v1|vid|task|video)_[A-Za-z0-9_-]{8,}/g, '$1_X');
}

async function compare(text: string): Promise<{ said: string; direct: number }> {
  const before = direct;
  const here = await tell(counted.url, text);
  const taken = direct - before;
  expect(here).toBe(await tell(routed.url, text));
  return { said: here, direct: taken };
}

describe('the entrance in front of the router', () => {
  it('takes the exact paths of every family, and no pattern', () => {
    expect(EXACT.length).toBeGreaterThan(8);
  });

  const requests: Record<string, () => Sent> = {
    'an answer': () => ({ body: chat() }),
    'an answer in pieces': () => ({ body: chat({ stream: true }) }),
    'an answer with usage in pieces': () => ({
      body: chat({ stream: true, stream_options: { include_usage: true } }),
    }),
    'a chunked body': () => ({
      headers: ['Transfer-Encoding: chunked'],
      body: `${chat().length.toString(16)}\r\n${chat()}\r\n0\r\n\r\n`,
    }),
    'a body that waits for the word': () => ({ headers: ['Expect: 100-continue'], body: chat() }),
    'a body that waits for the word without a key': () => ({
      headers: ['Expect: 100-continue', 'Authorization: none'],
      body: chat(),
    }),
    'another expectation': () => ({ headers: ['Expect: miracles'], body: chat() }),
    'a connection that is to be closed': () => ({ headers: ['Connection: close'], body: chat() }),
    'a query': () => ({ target: `${CHAT}?a=b&c=%2F`, body: chat() }),
    'an empty query': () => ({ target: `${CHAT}?`, body: chat() }),
    'a long target': () => ({ target: `${CHAT}?${'x'.repeat(3000)}`, body: chat() }),
    'no key': () => ({ headers: ['Authorization: none'], body: chat() }),
    'a wrong key': () => ({ headers: ['Authorization: Bearer sk-none'], body: chat() }),
    'no model': () => ({ body: '{"messages":[]}' }),
    'an unknown model': () => ({ body: chat({ model: 'none/such' }) }),
    'no JSON': () => ({ body: '{"model":' }),
    'no object': () => ({ body: '[]' }),
    'no body': () => ({}),
    'a body that is too large': () => ({ body: chat({ user: 'x'.repeat(MAX_BODY_BYTES) }) }),
    'a body in a content coding': () => ({ headers: ['Content-Encoding: br'], body: chat() }),
    'a foreign host': () => ({ headers: ['Host: attacker.example'], body: chat() }),
    'a host that is none': () => ({ headers: ['Host: a%20b'], body: chat() }),
    'a foreign origin': () => ({ headers: ['Origin: https://other.example'], body: chat() }),
    'a known origin': () => ({ headers: [`Origin: ${ORIGIN}`], body: chat() }),
    'a known origin and an error': () => ({ headers: [`Origin: ${ORIGIN}`], body: '{' }),
    'a preflight': () => ({
      method: 'OPTIONS',
      headers: [`Origin: ${ORIGIN}`, 'Access-Control-Request-Method: POST'],
    }),
    'a name for the call': () => ({ headers: ['Idempotency-Key: one'], body: chat() }),
    'a trace': () => ({
      headers: ['Traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'],
      body: chat(),
    }),
    'a key twice': () => ({ headers: ['Authorization: a', 'Authorization: b'], body: chat() }),
    GET: () => ({ method: 'GET' }),
    HEAD: () => ({ method: 'HEAD' }),
    OPTIONS: () => ({ method: 'OPTIONS' }),
    PUT: () => ({ method: 'PUT', body: chat() }),
    DELETE: () => ({ method: 'DELETE' }),
    PATCH: () => ({ method: 'PATCH', body: chat() }),
    'a slash behind the path': () => ({ target: `${CHAT}/`, body: chat() }),
    'two slashes': () => ({ target: '/v1//chat/completions', body: chat() }),
    'an encoded slash': () => ({ target: '/v1/chat%2Fcompletions', body: chat() }),
    'an encoded letter': () => ({ target: '/v1/ch%61t/completions', body: chat() }),
    'a broken encoding': () => ({ target: `${CHAT}%`, body: chat() }),
    'capital letters': () => ({ target: '/v1/Chat/Completions', body: chat() }),
    'a path with a detour': () => ({ target: '/v1/x/../chat/completions', body: chat() }),
    'a path without its version': () => ({ target: '/chat/completions', body: chat() }),
    'a target with a host': () => ({ target: `http://127.0.0.1${CHAT}`, body: chat() }),
    'a target with another host': () => ({ target: `http://other${CHAT}`, body: chat() }),
  };

  it.each(Object.keys(requests))(
    verifies('routing.fast-path.same', 'gives the same bytes as the router: %s'),
    async (name) => {
      const { said } = await compare(write((requests[name] as () => Sent)()));
      expect(said).toMatch(/^HTTP\/1\.1 \d{3} /);
    },
  );

  it.each(EXACT)(
    verifies('routing.fast-path.same', 'gives the same errors in the shape of the family: %s'),
    async (target) => {
      for (const sent of [
        { target, headers: ['Authorization: none'], body: '{}' },
        { target, headers: ['Authorization: Bearer sk-none', 'X-Api-Key: sk-none'], body: '{}' },
        { target, body: '{}' },
        { target, body: '{"model":"none/such","prompt":"x","input":"x"}' },
        { target, body: 'x'.repeat(MAX_BODY_BYTES + 1) },
        { target, headers: ['Host: attacker.example'], body: '{}' },
      ]) {
        const { said, direct: taken } = await compare(write(sent));
        expect(said).toMatch(/^HTTP\/1\.1 4\d\d /);
        expect(taken).toBe(1);
      }
      expect((await compare(write({ method: 'PUT', target, body: '{}' }))).direct).toBe(0);
    },
  );

  it('takes whole calls and streams, and leaves other spellings to the router', async () => {
    const { said, direct: taken } = await compare(write({ body: chat() }));
    expect([said.slice(0, 15), taken]).toEqual(['HTTP/1.1 200 \r\n', 1]);
    expect((await compare(write({ body: chat({ stream: true }) }))).direct).toBe(1);
    expect((await compare(write({ target: `${CHAT}/`, body: chat() }))).direct).toBe(0);
  });

  it(
    verifies('routing.fast-path.same', 'answers a named call once, whichever way it comes'),
    async () => {
      const target = '/v1/images/generations';
      const body = JSON.stringify({ model: 'mock/image', prompt: 'x' });
      const text = write({ target, headers: ['Idempotency-Key: two'], body });
      const first = await tell(counted.url, text);
      expect(first).toMatch(/^HTTP\/1\.1 200 /);
      expect(first).not.toContain('idempotent-replayed');
      const { said, direct: taken } = await compare(text);
      expect(said).toContain('idempotent-replayed: true');
      expect(taken).toBe(1);
    },
  );

  it(
    verifies('routing.fast-path.same', 'gives the same bytes beyond a limit of the key'),
    async () => {
      const headers = [`Authorization: Bearer ${LIMITED}`];
      expect(await tell(counted.url, write({ headers, body: chat() }))).toMatch(/^HTTP\/1\.1 200 /);
      const { said, direct: taken } = await compare(write({ headers, body: chat() }));
      expect(said).toMatch(/^HTTP\/1\.1 429 /);
      expect(taken).toBe(1);
    },
  );

  it(verifies('routing.fast-path.same', 'leaves the same record of a call'), async () => {
    const rows = [];
    for (const { url } of [counted, routed]) {
      const { said } = await speak(url, write({ body: chat() }), {
        isOver: (answers) => answers.length > 0,
      });
      const id = /x-request-id: (\S+)/.exec(said)?.[1];
      const row = await eventually(async () => {
        const { status, body } = await gateway.admin('GET', `/admin/v1/requests/${id}`);
        return status === 200 && body.status === 200
          ? (body as Record<string, unknown>)
          : undefined;
      });
      rows.push(Object.keys(row).toSorted(), row['result'], row['surface'], row['usage']);
    }
    expect(rows.slice(0, 4)).toEqual(rows.slice(4));
  });
});

describe('routes in front of the router', () => {
  const isTaken = (route: Partial<RouteSpec>, target: string): boolean => {
    const [method, url] = target.split(' ');
    const all = { envelope: 'openai', isDirect: true, methods: {}, ...route } as RouteSpec;
    const clock = createFakeClock();
    const entrance = createEntrance({ routes: [all], clock } as unknown as RoutesOptions);
    const answer = vi.fn();
    const response = { writeHead: answer, end: answer, destroy: answer, once: answer, on: answer };
    return entrance(
      { method, url, headers: {} } as IncomingMessage,
      response as unknown as ServerResponse,
    );
  };
  const POST = async () => ({ status: 200 });

  it.each<[string, Partial<RouteSpec>, string]>([
    ['a path with a part that varies', { path: '/v1/a/:id', methods: { POST } }, 'POST /v1/a/:id'],
    ['a path with an open end', { path: '/v1/a/**', methods: { POST } }, 'POST /v1/a/**'],
    ['a path that is only read', { path: '/v1/a', methods: { GET: POST } }, 'POST /v1/a'],
    [
      'a route that is not direct',
      { path: '/v1/a', isDirect: false, methods: { POST } },
      'POST /v1/a',
    ],
    ['another method', { path: '/v1/a', methods: { POST } }, 'PUT /v1/a'],
    ['a longer path', { path: '/v1/a', methods: { POST } }, 'POST /v1/a/'],
  ])('are not those of %s', (_, route, target) => {
    expect(isTaken(route, target)).toBe(false);
  });

  it.each(['/v1/a', '/v1/a?b=c', '/v1/a?'])('are found with any query, as %s', (url) => {
    expect(isTaken({ path: '/v1/a', methods: { POST } }, `POST ${url}`)).toBe(true);
  });

  it('are begun at once while few are served, and beside many at the end of the turn', async () => {
    const waits: number[] = [];
    let answer!: () => void;
    const answered = new Promise<void>((resolve) => (answer = resolve));
    const route = {
      path: '/v1/a',
      envelope: 'openai',
      isDirect: true,
      methods: {
        POST({ startedAt }: { startedAt: number }) {
          waits.push(clock.monotonic() - startedAt);
          return answered.then(() => ({ status: 200 }));
        },
      },
    };
    const clock = createFakeClock();
    const entrance = createEntrance({
      routes: [route],
      guard: () => undefined,
      clock,
      ids: createIdSource(clock),
      bodies: roomyBudget(clock),
    } as unknown as RoutesOptions);
    const nothing = (): void => undefined;
    const response = { writeHead: nothing, end: nothing } as unknown as ServerResponse;
    const request = { method: 'POST', url: '/v1/a', headers: {} } as IncomingMessage;
    const turn = () => new Promise((resolve) => setImmediate(resolve));
    for (let index = 0; index < 5; index++) entrance(request, response);
    expect(waits).toEqual([0, 0, 0]);
    clock.advance(7);
    await turn();
    // A wait for others is part of the call.
    expect(waits).toEqual([0, 0, 0, 7, 7]);
    answer();
    await turn();
    entrance(request, response);
    expect(waits).toHaveLength(6);
  });
});
