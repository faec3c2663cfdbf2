import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { startMockServer } from '../../../src/providers/mock/mock-server.ts';
import type { MockServer } from '../../../src/providers/mock/mock-server.ts';
import { verifies } from '../../requirements.ts';
import { startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';

const BODY_LIMIT = 64 * 1024;
/** Pieces of a slow request, each after 50 ms: all of them take far longer than the server waits. */
const PIECES = 100;
const ORIGIN = 'https://app.example.com';

let upstream: MockServer;
let gateway: TestGateway;

beforeAll(async () => {
  upstream = await startMockServer();
  gateway = await startGateway({
    server: {
      limits: {
        body: BODY_LIMIT,
        header_bytes: 8192,
        url_bytes: 2048,
        request_timeout: '400ms',
      },
      cors: { origins: [ORIGIN] },
    },
    providers: [
      {
        name: 'upstream',
        type: 'custom',
        base_url: `${upstream.url}/v1`,
        auth: { type: 'none' },
        protocols: { chat: true },
      },
    ],
    models: [{ name: 'acme/fast', routes: [{ provider: 'upstream' }] }],
  });
});

afterAll(async () => {
  await gateway.stop();
  await upstream.close();
});

/** A client that sends bytes as it pleases. */
class RawClient {
  received = '';
  readonly socket: Socket;
  readonly closed: Promise<unknown>;

  constructor() {
    const { hostname, port } = new URL(gateway.url);
    this.socket = connect(Number(port), hostname);
    this.socket.setEncoding('utf8').on('data', (text: string) => (this.received += text));
    this.socket.on('error', () => undefined);
    this.closed = once(this.socket, 'close');
    onTestFinished(() => void this.socket.destroy());
  }

  head(lines: readonly string[]): this {
    const fixed = ['host: localhost', `authorization: Bearer ${gateway.clientKey}`];
    this.socket.write([...lines.slice(0, 1), ...fixed, ...lines.slice(1), '', ''].join('\r\n'));
    return this;
  }

  /** The complete answers so far, once there are `count` of them. */
  async answers(count: number): Promise<RawAnswer[]> {
    for (;;) {
      const found = parseAnswers(this.received);
      if (found.length >= count) return found;
      await once(this.socket, 'data', { signal: AbortSignal.timeout(5_000) });
    }
  }
}

interface RawAnswer {
  status: number;
  head: string;
  body: string;
}

function parseAnswers(text: string): RawAnswer[] {
  const found: RawAnswer[] = [];
  for (let rest = text; ;) {
    const end = rest.indexOf('\r\n\r\n');
    if (end < 0) return found;
    const head = rest.slice(0, end).toLowerCase();
    const length = Number(/content-length: (\d+)/.exec(head)?.[1] ?? 0);
    const body = rest.slice(end + 4, end + 4 + length);
    if (body.length < length) return found;
    found.push({ status: Number(head.slice(9, 12)), head, body });
    rest = rest.slice(end + 4 + length);
  }
}

const POST = 'POST /v1/chat/completions HTTP/1.1';
const JSON_TYPE = 'content-type: application/json';
const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;
const tooLarge = {
  status: 413,
  body: expect.stringMatching(/^\{"error":\{"message":"request body is larger than the limit/),
};

describe('paths and methods', () => {
  it(
    verifies(
      'errors.route.unknown',
      'errors.request-id.header',
      'answers 404 and 405 itself, and no provider hears of it',
    ),
    async () => {
      const before = upstream.engine.calls().length;
      for (const path of ['/', '/v1', '/v1/chat', '/v2/models', '/v1/embeddings/x', '/%ff']) {
        const answer = await gateway.call('GET', path);
        const body = { error: expect.stringMatching(/^no such path; /) };
        expect([path, answer.status, answer.body]).toEqual([path, 404, body]);
        expect(answer.headers.get('request-id')).toBe(answer.headers.get('x-request-id'));
        expect(answer.headers.get('x-request-id')).toMatch(/^req_/);
      }
      const wrong: [string, string, string][] = [
        ['GET', '/v1/chat/completions', 'POST'],
        ['DELETE', '/v1/models', 'GET, HEAD'],
        ['PUT', '/v1/models/acme/fast', 'GET, HEAD, POST'],
        ['PATCH', '/healthz', 'GET, HEAD'],
        ['PUT', '/admin/v1/models', 'GET, HEAD, POST'],
        ['DELETE', '/admin/v1/keys/key_x', 'GET, HEAD, PATCH, POST'],
      ];
      for (const [method, path, allow] of wrong) {
        const answer = await gateway.call(method, path, { key: gateway.adminKey });
        expect([path, answer.status, answer.headers.get('allow')]).toEqual([path, 405, allow]);
      }
      expect(upstream.engine.calls()).toHaveLength(before);
    },
  );

  it('tells a wrong method in the shape of the family that has the path', async () => {
    const message = 'method not allowed';
    const resource = { type: 'error', error: { type: 'method_not_allowed', message } };
    const chat = { error: { type: 'invalid_request_error', code: 'method_not_allowed', message } };
    const wrong: [string, string, object][] = [
      ['PUT', '/v1/account/balance', resource],
      ['PUT', '/v1/deployments/depl_x/runs', resource],
      ['PUT', '/v1/deployment_runs', resource],
      ['PUT', '/v1/endpoints/ep_x/run', resource],
      ['PUT', '/v1/sessions/sess_x/events', resource],
      ['GET', '/v1/embeddings', chat],
      ['GET', '/v1/messages', { type: 'error', error: { type: 'invalid_request_error', message } }],
      ['PUT', '/v1beta/models', { error: { code: 405, message } }],
      ['PUT', '/v1/models', { error: message }],
    ];
    for (const [method, path, body] of wrong) {
      const answer = await gateway.call(method, path);
      expect([path, answer.status]).toEqual([path, 405]);
      expect(answer.body, path).toMatchObject(body);
    }
  });

  it(verifies('errors.invalid-json', 'refuses bodies that are not a JSON object'), async () => {
    for (const body of ['', '{', '[]', '"x"', 'null', '{"model":"acme/fast"} trailing', '\u0000']) {
      const chat = await gateway.call('POST', '/v1/chat/completions', { body });
      expect([body, chat.status]).toEqual([body, 400]);
      expect(chat.body.error).toMatchObject({ type: 'invalid_request_error' });
      const key = gateway.adminKey;
      const admin = await gateway.call('POST', '/admin/v1/models', { body, key });
      expect([body, admin.status, admin.body.error.type]).toEqual([body, 400, 'invalid_request']);
    }
  });
});

describe('requests beyond the limits', () => {
  it(
    verifies(
      'errors.status.413-body-limit',
      'refuses a declared body before it comes, and the connection goes on',
    ),
    async () => {
      const client = new RawClient().head([POST, JSON_TYPE, `content-length: ${BODY_LIMIT + 1}`]);
      expect(await client.answers(1)).toMatchObject([tooLarge]);
      client.socket.write('x'.repeat(BODY_LIMIT + 1));
      client.head(['GET /v1/models HTTP/1.1']);
      expect((await client.answers(2))[1]).toMatchObject({ status: 200 });
    },
  );

  it(
    verifies('errors.status.413-body-limit', 'refuses a chunked body as soon as it is too large'),
    async () => {
      const client = new RawClient().head([POST, JSON_TYPE, 'transfer-encoding: chunked']);
      client.socket.write(chunk('x'.repeat(BODY_LIMIT)));
      client.socket.write(chunk('xx'));
      expect(await client.answers(1)).toMatchObject([tooLarge]);
      client.socket.write('0\r\n\r\n');
      client.head(['GET /v1/models HTTP/1.1']);
      expect((await client.answers(2))[1]).toMatchObject({ status: 200 });
    },
  );

  it(
    verifies('errors.status.413-body-limit', 'lets an ordinary client read the refusal'),
    async () => {
      const body = JSON.stringify({ model: 'acme/fast', filler: 'x'.repeat(8 * BODY_LIMIT) });
      for (let again = 0; again < 5; again++)
        expect((await gateway.call('POST', '/v1/chat/completions', { body })).status).toBe(413);
      const fits = { filler: 'x'.repeat(BODY_LIMIT / 2) };
      expect((await gateway.chat('acme/fast', { body: fits })).status).toBe(200);
    },
  );

  it(verifies('ops.slow-client', 'bounds headers and the URL'), async () => {
    const client = new RawClient().head([
      'GET /v1/models HTTP/1.1',
      `x-filler: ${'x'.repeat(9000)}`,
    ]);
    await client.closed;
    expect(client.received).toMatch(/^HTTP\/1\.1 431 /);
    const long = await gateway.call('GET', `/v1/models?q=${'x'.repeat(3000)}`);
    expect(long).toMatchObject({ status: 414, body: { error: 'request URL is too long' } });
    expect((await gateway.call('GET', `/v1/models?q=${'x'.repeat(1000)}`)).status).toBe(200);
  });

  it('says what is no HTTP in HTTP, and closes', async () => {
    const client = new RawClient();
    client.socket.write('nonsense\r\n\r\n');
    await client.closed;
    expect(client.received).toMatch(/^HTTP\/1\.1 400 /);
  });
});

describe('slow clients', () => {
  it(
    verifies('ops.slow-client', 'closes a connection whose head or body trickles, others go on'),
    async () => {
      const head = new RawClient();
      head.socket.write('GET /v1/models HTTP/1.1\r\nhost: loc');
      const body = new RawClient().head([POST, JSON_TYPE, `content-length: ${PIECES}`]);
      let sent = 0;
      const drip = setInterval(() => {
        body.socket.write('x');
        head.socket.write(++sent < PIECES ? 'x' : '\r\n\r\n');
      }, 50);
      onTestFinished(() => clearInterval(drip));
      const quick = await Promise.all(Array.from({ length: 20 }, () => gateway.chat('acme/fast')));
      expect(quick.every(({ status }) => status === 200)).toBe(true);
      await Promise.all([head.closed, body.closed]);
      for (const { received } of [head, body]) expect(received).toMatch(/^HTTP\/1\.1 408 /);
      expect((await gateway.chat('acme/fast')).status).toBe(200);
    },
  );
});

describe('bugs', () => {
  it(verifies('ops.unhandled', 'fail the one request that met them with 500'), async () => {
    const { gateway: parts } = gateway;
    const list = parts?.repository.list;
    parts!.repository.list = () => {
      throw new TypeError('a bug at /some/secret/path');
    };
    const others = Array.from({ length: 5 }, () => gateway.chat('acme/fast'));
    const broken = await gateway.admin('GET', '/admin/v1/keys');
    parts!.repository.list = list!;
    expect(broken.status).toBe(500);
    expect(JSON.stringify(broken.body)).not.toMatch(/bug|secret|TypeError| at /);
    expect((await Promise.all(others)).map(({ status }) => status)).toEqual(Array(5).fill(200));
    expect((await gateway.admin('GET', '/admin/v1/keys')).status).toBe(200);
    expect(gateway.log()).toContain('a bug at');
  });
});

describe('browsers', () => {
  const preflight = (path: string, origin: string) =>
    gateway.call('OPTIONS', path, {
      key: '',
      headers: {
        origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization,content-type',
      },
    });
  const corsHeaders = (headers: Headers) =>
    [...headers.keys()].filter((name) => name.startsWith('access-control-'));

  it(
    verifies('ops.cors-and-host', 'of a configured origin may call, and read errors too'),
    async () => {
      const asked = await preflight('/v1/chat/completions', ORIGIN);
      expect(asked.status).toBe(204);
      expect(Object.fromEntries(asked.headers)).toMatchObject({
        'access-control-allow-origin': ORIGIN,
        'access-control-allow-methods': 'POST',
        'access-control-allow-headers': 'authorization,content-type',
        vary: 'origin',
      });
      const headers = { origin: ORIGIN };
      const answers = [
        await gateway.chat('acme/fast', { headers }),
        await gateway.chat('acme/fast', { headers, body: { stream: true } }),
        await gateway.call('GET', '/v1/models', { headers, key: '' }),
      ];
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 401]);
      for (const answer of answers)
        expect(answer.headers.get('access-control-allow-origin')).toBe(ORIGIN);
    },
  );

  it(
    verifies('ops.cors-and-host', 'of other origins, and on admin paths all of them, get nothing'),
    async () => {
      for (const path of [
        '/admin/v1/keys',
        '/admin/v1/models/x',
        '/v1/models/../../admin/v1/keys',
      ]) {
        const { status, headers } = await preflight(path, ORIGIN);
        expect([path, status, corsHeaders(headers)]).toEqual([path, 405, []]);
        const key = gateway.adminKey;
        const read = await gateway.call('GET', path, { key, headers: { origin: ORIGIN } });
        expect([path, corsHeaders(read.headers)]).toEqual([path, []]);
      }
      for (const origin of ['https://evil.example.com', `${ORIGIN}.evil.com`, 'null']) {
        expect(corsHeaders((await preflight('/v1/models', origin)).headers)).toEqual([]);
        const read = await gateway.call('GET', '/v1/models', { headers: { origin } });
        expect([read.status, corsHeaders(read.headers)]).toEqual([403, []]);
      }
    },
  );

  it(
    verifies('ops.cors-and-host', 'get no CORS header at all unless origins are configured'),
    async () => {
      const plain = await startGateway({});
      onTestFinished(async () => void (await plain.stop()));
      const headers = { origin: 'http://localhost:3000', 'access-control-request-method': 'GET' };
      for (const method of ['GET', 'OPTIONS']) {
        const answer = await plain.call(method, '/v1/models', { headers });
        expect(answer.status).toBe(method === 'GET' ? 200 : 405);
        expect(corsHeaders(answer.headers)).toEqual([]);
      }
    },
  );

  it(
    verifies('ops.cors-and-host', 'cannot come through a name of their own (DNS rebinding)'),
    async () => {
      const client = new RawClient();
      const ask = (host: string) =>
        `GET /v1/models HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer ${gateway.clientKey}\r\n\r\n`;
      client.socket.write(ask('rebind.example.com') + ask('127.0.0.1:1') + ask('localhost'));
      const answers = await client.answers(3);
      expect(answers.map(({ status }) => status)).toEqual([403, 200, 200]);
      expect(answers[0]?.body).toBe('{"error":"host not allowed"}');
    },
  );
});
