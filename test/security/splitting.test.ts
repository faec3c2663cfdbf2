import { Buffer } from 'node:buffer';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { FAMILY_ROWS, titleOf } from '../e2e/fuzz/families.ts';
import type { SurfaceRow } from '../conformance/surface.ts';
import { startGateway } from '../support/gateway.ts';
import type { TestGateway } from '../support/gateway.ts';
import { askRaw } from '../support/raw-client.ts';
import type { RawAnswer } from '../support/raw-client.ts';
import { speak } from '../support/raw-socket.ts';
import { startWireUpstream } from '../support/stage/wire-upstream.ts';
import type { WireRequest, WireUpstream } from '../support/stage/wire-upstream.ts';
import { verifies } from '../requirements.ts';

const OWN_KEY = 'own-key-of-the-operator';
const API_KEY = 'own-key-of-the-api';
const REFUSED = '{"error":{"message":"no"}}';

/** What a careless server would take for the end of a line, of a segment or of a name. */
const BREAKS: readonly string[] = [
  'a\r\nx-injected: yes\r\n\r\nGET /injected HTTP/1.1\r\nhost: x\r\n\r\n',
  'a\nx-injected: yes',
  'a\rx-injected: yes',
  'a\0b',
  'a HTTP/1.1\r\nx-injected: yes',
  // CR and LF in the low bytes.
  'a\u010d\u010ax-injected: yes',
  'a\u560d\u560ax-injected: yes',
  'a\u2028\u2029\u0085b',
  'a%0d%0ax-injected: yes',
  'a\u{1f600}',
  '../../injected',
  '..%2f..%2finjected',
  '/injected?x=y#z',
  '{method}{model}$&$1',
  '__proto__',
  'a\'"\\b',
];

let upstream: WireUpstream;
let gateway: TestGateway;

beforeAll(async () => {
  upstream = await startWireUpstream();
  const keyed = { api_key: '${secret:env:OWN_KEY}' };
  gateway = await startGateway(
    {
      // A provider that failed is left alone for a while; its connections serve the spare one.
      providers: FAMILY_ROWS.flatMap((row) =>
        [nameOf(row), `${nameOf(row)}-spare`].map((name) => ({
          name,
          type: 'custom',
          base_url: `${upstream.url}/base`,
          ...keyed,
          protocols: { [row.protocol]: { path: row.upstreamPath } },
        })),
      ),
      models: FAMILY_ROWS.flatMap((row) => {
        const of = (name: string, model: string, provider = nameOf(row)): object => ({
          name: `${nameOf(row)}/${name}`,
          type: row.modelType ?? 'llm',
          routes: [{ provider, upstream_model: model }],
        });
        const broken = BREAKS.map((text, index) => of(`b${index}`, text));
        return [of('plain', 'up'), of('spare', 'up', `${nameOf(row)}-spare`), ...broken];
      }),
      apis: [
        { name: 'acme', base_url: `${upstream.url}/base`, api_key: '${secret:env:API_KEY}' },
        {
          name: 'named',
          base_url: `${upstream.url}/base?fixed=1`,
          api_key: '${secret:env:API_KEY}',
          auth: { type: 'query', name: 'token' },
        },
      ],
    },
    { env: { OWN_KEY, API_KEY } },
  );
});
afterAll(async () => {
  await gateway.stop();
  await upstream.close();
});
beforeEach(() => {
  upstream.requests.length = 0;
  upstream.faults.length = 0;
  upstream.answer(refusal(REFUSED));
});

function refusal(body: string): string {
  return `HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
}

function nameOf(row: SurfaceRow): string {
  return `p${FAMILY_ROWS.indexOf(row)}`;
}

interface Told {
  model?: string;
  headers?: Record<string, string>;
  search?: string;
  edit?: (body: string) => string;
}

function ask(row: SurfaceRow, { model = 'plain', headers = {}, search = '', edit }: Told) {
  const name = `${nameOf(row)}/${model}`;
  const body = row.body(name, false).toString('latin1');
  const path = row.path(name, false);
  return askRaw(gateway.url + path + (search && `${path.includes('?') ? '&' : '?'}${search}`), {
    key: gateway.clientKey,
    headers: { 'content-type': row.contentType ?? 'application/json', ...headers },
    body: Buffer.from(edit ? edit(body) : body, edit ? 'utf8' : 'latin1'),
  });
}

/** Nothing but one request went out, to the place that the operator named. */
function expectOneRequest(): WireRequest {
  expect(upstream.faults).toEqual([]);
  expect(upstream.requests).toHaveLength(1);
  const [request] = upstream.requests as [WireRequest];
  expect(request.line).toMatch(/^POST \/base\/[^?#]* HTTP\/1\.1$/);
  expect(request.line).not.toMatch(/\/\.\.?(?:\/| )/);
  expect(request.headers.map(([name]) => name)).not.toContain('x-injected');
  return request;
}

/** Of all that a client could say about the connection, itself or a credential. */
const OVERREACH: Record<string, string> = {
  connection: 'keep-alive, x-private, content-type, authorization',
  'x-private': 'canary-private',
  'keep-alive': 'timeout=1',
  te: 'trailers',
  upgrade: 'h2c',
  'proxy-connection': 'keep-alive',
  'proxy-authorization': 'Basic canary-proxy',
  cookie: 'canary=1',
  'x-api-key': 'canary-x-api-key',
  'api-key': 'canary-api-key',
  'x-goog-api-key': 'canary-goog',
  'x-forwarded-for': '10.9.8.7',
  'x-forwarded-host': 'canary.test',
  'x-forwarded-proto': 'https',
  'x-real-ip': '10.9.8.7',
  forwarded: 'for=10.9.8.7;host=canary.test',
  via: '1.1 canary',
  origin: 'http://localhost',
  referer: 'http://localhost/canary',
  'x-http-method-override': 'DELETE',
  'openai-organization': 'canary-organization',
  'content-encoding': 'identity',
};

const BY_PROVIDER = new Set(['accept', 'accept-encoding', 'authorization', 'connection']);
const BY_BODY = new Set(['content-length', 'content-type', 'host']);
const BY_CONTRACT = new Set([
  'anthropic-version',
  'anthropic-beta',
  'native-version',
  'native-beta',
]);

describe.each(FAMILY_ROWS.map((row) => [titleOf(row), row] as const))(
  'towards a provider, %s',
  (_title, row) => {
    it.each(BREAKS.map((text, index) => [JSON.stringify(text), `b${index}`]))(
      'a model that the provider calls %s is one request',
      async (_text, model) => {
        const { status } = await ask(row, { model });
        expect(status).toBe(400);
        // The name may be no segment of a path; then nothing is asked.
        if (upstream.requests.length > 0) expectOneRequest();
        expect(upstream.faults).toEqual([]);
      },
    );

    it('whatever texts a body holds, it is one request', async () => {
      for (const text of BREAKS) {
        upstream.requests.length = 0;
        const spelled = JSON.stringify(text).slice(1, -1);
        await ask(row, { edit: (body) => body.replace('hello', () => spelled) });
        expectOneRequest();
      }
    });

    it(
      verifies(
        'auth.upstream.client-credential-not-forwarded',
        'of the client nothing goes out but what the contract names',
      ),
      async () => {
        const [carry] = row.carriers;
        const own = carry?.(gateway.clientKey).headers ?? {};
        const search = 'key=canary-query&x=%0d%0ax-injected:%20yes';
        const versions = { 'native-version': '2023-06-01', 'native-beta': 'one , two' };
        await ask(row, { headers: { ...OVERREACH, ...versions, ...own }, search });
        const { headers, line, body } = expectOneRequest();
        const names = headers.map(([name]) => name);
        expect(new Set(names).size).toBe(names.length);
        const allowed = [BY_PROVIDER, BY_BODY, BY_CONTRACT];
        expect(names.filter((name) => !allowed.some((set) => set.has(name)))).toEqual([]);
        expect(Object.fromEntries(headers)).toMatchObject({
          authorization: `Bearer ${OWN_KEY}`,
          connection: 'keep-alive',
          host: new URL(upstream.url).host,
        });
        const sent = JSON.stringify([line, headers]) + body.toString();
        expect(sent).not.toMatch(/canary|10\.9\.8\.7/);
        expect(sent).not.toContain(gateway.clientKey);
      },
    );
  },
);

describe('towards an API that is called by path', () => {
  const call = (path: string, head = ''): ReturnType<typeof speak> => {
    const own = `host: localhost\r\nauthorization: Bearer ${gateway.clientKey}\r\n`;
    const text = `GET /v1/api/${path} HTTP/1.1\r\n${own}${head}\r\n`;
    return speak(gateway.url, text, { isOver: (answers) => answers.length > 0 });
  };

  it.each([
    'acme/a%0d%0ax-injected:%20yes',
    'acme/a%0aGET%20/injected%20HTTP/1.1',
    'acme/a%00b',
    'acme/%2e%2e/injected',
    'acme/..%2finjected',
    'acme/..%5cinjected',
    'acme/%252e%252e/injected',
    'acme//evil.test/injected',
    'acme/%',
    'acme/http://evil.test/%2e%2e/',
    'ac%0d%0ame/a',
    '..%2fadmin/v1/keys',
  ])('does not ask for %s', async (path) => {
    const { answers } = await call(path);
    expect(answers.map(({ status }) => status)).toEqual([expect.toSatisfy((s) => s < 500)]);
    expect([400, 404]).toContain(answers[0]?.status);
    expect(upstream.requests).toEqual([]);
    expect(upstream.faults).toEqual([]);
  });

  it.each([
    ['acme/a?b=%0d%0ax-injected:%20yes', '/base/a?b=%0d%0ax-injected:%20yes'],
    ['acme/a?b=c|d{}^`"<>', '/base/a?b=c|d%7B%7D%5E%60%22%3C%3E'],
    ['acme/@evil.test/', '/base/@evil.test/'],
    ['acme/http://evil.test/', '/base/http://evil.test/'],
    ['acme/:80@evil.test', '/base/:80@evil.test'],
    ['acme?key=canary&KEY=1', '/base?KEY=1'],
    ['named?token=canary&%74oken=canary&fixed=2&a=1', `/base?fixed=1&a=1&token=${API_KEY}`],
    ['named?__proto__=1&constructor=2', `/base?fixed=1&__proto__=1&constructor=2&token=${API_KEY}`],
  ])('asks for %s below the base alone', async (path, target) => {
    await call(path);
    expect(upstream.faults).toEqual([]);
    expect(upstream.requests.map(({ line }) => line)).toEqual([`GET ${target} HTTP/1.1`]);
  });

  it('sends the operator’s credential once and nothing about the connection', async () => {
    const head = Object.entries(OVERREACH).map(([name, value]) => `${name}: ${value}\r\n`);
    await call('acme/a', `${head.join('')}trailer: x-private\r\n`);
    expect(upstream.faults).toEqual([]);
    expect(upstream.requests).toHaveLength(1);
    const { headers, line } = upstream.requests[0] as WireRequest;
    const values = JSON.stringify([line, headers]);
    // An account to bill is the API's business, and the client's to name.
    expect(values.replace('canary-organization', '')).not.toMatch(/canary|10\.9\.8\.7/);
    expect(headers.filter(([name]) => name === 'authorization')).toEqual([
      ['authorization', `Bearer ${API_KEY}`],
    ]);
    expect(headers.filter(([name]) => /upgrade|^te$|trailer|cookie|proxy/.test(name))).toEqual([]);
  });
});

/** What a provider must not have said to a client, in the words of its head. */
const PRIVATE =
  'set-cookie: canary=1\r\nx-private: canary\r\nconnection: x-private\r\nproxy-authenticate: canary\r\nserver: canary\r\nalt-svc: canary\r\nlink: <canary>\r\n';
const JSON_TYPE = 'content-type: application/json\r\n';
const DONE = JSON.stringify({
  id: 'c',
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', content: 'fine' }, finish_reason: 'stop' }],
});
const EVENTS =
  'data: {"id":"c","choices":[{"index":0,"delta":{"content":"fine"}}]}\n\ndata: [DONE]\n\n';
const OK = 'HTTP/1.1 200 OK\r\n';
const sized = (text: string): string => `content-length: ${text.length}\r\n\r\n${text}`;
const chunked = (text: string, trailers = ''): string =>
  `transfer-encoding: chunked\r\n\r\n${text.length.toString(16)}\r\n${text}\r\n0\r\n${trailers}\r\n`;
const SECOND = `${OK}x-injected: yes\r\n${JSON_TYPE}${sized('{"injected":true}')}`;

/** Whole answers of a provider, and whether a client may get the body. */
const ANSWERS: readonly (readonly [string, string, 'passes' | 'fails'])[] = [
  ['headers that are its own business', `${OK}${PRIVATE}${JSON_TYPE}${sized(DONE)}`, 'passes'],
  ['trailers', `${OK}${JSON_TYPE}${chunked(DONE, PRIVATE)}`, 'passes'],
  ['early hints', `HTTP/1.1 103 Hints\r\n${PRIVATE}\r\n${OK}${JSON_TYPE}${sized(DONE)}`, 'passes'],
  ['two answers', `${OK}${JSON_TYPE}${sized(DONE)}${SECOND}`, 'passes'],
  ['two types', `${OK}${JSON_TYPE}content-type: text/html\r\n${sized(DONE)}`, 'passes'],
  [
    'a type with high bytes',
    `${OK}content-type: application/json;\xe9\xff\r\n${sized(DONE)}`,
    'passes',
  ],
  ['a type with a lone CR', `${OK}content-type: a\rx-injected: yes\r\n${sized(DONE)}`, 'fails'],
  ['a type with a lone LF', `${OK}content-type: a\nx-injected: yes\r\n${sized(DONE)}`, 'fails'],
  ['a type with a zero byte', `${OK}content-type: a\0b\r\n${sized(DONE)}`, 'fails'],
  ['a folded type', `${OK}content-type: a\r\n x-injected: yes\r\n${sized(DONE)}`, 'fails'],
  ['a blank before a colon', `${OK}content-length : 3\r\n${JSON_TYPE}${sized(DONE)}`, 'fails'],
  ['a length and chunks', `${OK}${JSON_TYPE}content-length: 5\r\n${chunked(DONE)}`, 'fails'],
  ['two lengths', `${OK}${JSON_TYPE}content-length: 5\r\n${sized(DONE)}`, 'fails'],
  ['a length with a sign', `${OK}${JSON_TYPE}content-length: +5\r\n\r\n${DONE}`, 'fails'],
  ['an unknown coding', `${OK}${JSON_TYPE}transfer-encoding: x\r\n\r\n${DONE}`, 'fails'],
  [
    'chunks of a coding',
    `${OK}${JSON_TYPE}transfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n`,
    'fails',
  ],
  ['a bad chunk', `${OK}${JSON_TYPE}transfer-encoding: chunked\r\n\r\n-1\r\n${DONE}`, 'fails'],
  ['a switch of protocols', `HTTP/1.1 101 Go\r\nupgrade: x\r\n\r\n${SECOND}`, 'fails'],
  ['a flood of heads', `${'HTTP/1.1 100 Continue\r\n\r\n'.repeat(4_000)}${SECOND}`, 'fails'],
  ['a head without an end', `${OK}${'x-a: b\r\n'.repeat(20_000)}`, 'fails'],
  ['too many headers', `${OK}${'x-a: b\r\n'.repeat(300)}${sized(DONE)}`, 'fails'],
  ['one header without an end', `${OK}x-a: ${'b'.repeat(100_000)}`, 'fails'],
  ['no body but one', `HTTP/1.1 204 No\r\n${JSON_TYPE}${sized(DONE)}${SECOND}`, 'fails'],
  ['nothing new but a body', `HTTP/1.1 304 No\r\n${JSON_TYPE}${sized(DONE)}${SECOND}`, 'fails'],
  ['another version', `HTTP/2 200 OK\r\n${sized(DONE)}`, 'fails'],
  ['a status of four digits', `HTTP/1.1 2000 OK\r\n${sized(DONE)}`, 'fails'],
  ['what is no HTTP', '220 smtp.test ESMTP\r\n', 'fails'],
  ['a place to go', `HTTP/1.1 302 Found\r\nlocation: http://canary.test/\r\n${sized('')}`, 'fails'],
];

/** Beside those, an answer has what the gateway says itself. */
const CLIENT_HEADERS =
  /^(?:cache-control|connection|content-(?:type|length)|date|keep-alive|(?:x-)?request-id|transfer-encoding|x-accel-buffering|x-gateway-(?:model|provider|attempts|cost)|x-should-retry)$/;

describe('from a provider', () => {
  const chat = FAMILY_ROWS.find(({ name }) => name === 'chat') as SurfaceRow;

  const expectTidy = ({ headers, body, complete }: RawAnswer): void => {
    expect(complete).toBe(true);
    expect(Object.keys(headers).filter((name) => !CLIENT_HEADERS.test(name))).toEqual([]);
    expect(JSON.stringify(headers) + body.toString()).not.toMatch(/canary|injected/);
  };

  it.each(ANSWERS)(
    verifies('routing.upstream-headers.allow-list', '%s: the client gets one answer of its own'),
    async (_what, answer, outcome) => {
      upstream.answer(answer, 'close');
      const got = await ask(chat, {});
      expectTidy(got);
      if (outcome === 'passes') expect(got.body.toString()).toBe(DONE);
      expect(got.status === 200 ? 'passes' : 'fails').toBe(outcome);
      if (outcome === 'fails') expect([502, 503]).toContain(got.status);
      // What was left over is nobody's answer.
      upstream.answer(`${OK}${JSON_TYPE}${sized(DONE.replace('fine', 'again'))}`);
      const next = await ask(chat, { model: 'spare' });
      expect(next.body.toString()).toContain('again');
    },
  );

  it('events with headers of their own are a stream of the gateway', async () => {
    upstream.answer(
      `${OK}${PRIVATE}content-type: text/event-stream\r\n${chunked(EVENTS, PRIVATE)}`,
    );
    const edit = (body: string): string => body.replace('{', '{"stream":true,');
    const got = await ask(chat, { edit });
    expectTidy(got);
    expect(got.status).toBe(200);
  });
});
