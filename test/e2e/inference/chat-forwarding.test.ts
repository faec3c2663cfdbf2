import { createServer } from 'node:http';
import type { ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verifies } from '../../requirements.ts';
import {
  CHAT_PATH,
  chatBody,
  COMPLETION,
  customProvider,
  openaiClient,
  orderedModel,
} from '../../support/chat.ts';
import { eventually, startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { askRaw } from '../../support/raw-client.ts';
import { sendJson, startUpstream } from '../../support/stage/upstream.ts';
import type { SeenRequest, Upstream } from '../../support/stage/upstream.ts';

const PROVIDER_KEY = 'canary-provider-key-0123456789';
const ECHO_STREAM =
  'data: {"choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":"stop"}], "model" : "up","x":1.0}\n\ndata: [DONE]\n\n';

/** 64 KB that unpack to 2 GiB: blocks that say one byte and how often. */
const ZSTD_BOMB = Buffer.concat([
  Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58]),
  ...Array<Buffer>(16_384).fill(Buffer.from([0x02, 0x00, 0x10, 0x20])),
]);
/** A text of 96 MiB. */
const BROTLI_BOMB = brotliCompressSync(Buffer.alloc(96 * 1024 * 1024, ' '), { params: { 1: 1 } });

let upstream: Upstream;
let gateway: TestGateway;
let play: (response: ServerResponse, request: SeenRequest) => void;

const whole = (response: ServerResponse): void => sendJson(response, 200, COMPLETION);
const last = (): SeenRequest => upstream.seen.at(-1)!;
const ask = (body: string | Buffer, headers: Record<string, string> = {}) =>
  askRaw(gateway.url + CHAT_PATH, { key: gateway.clientKey, body, headers });

/** Of the record, once it is final. */
const attemptsOf = (id: unknown) =>
  eventually(async () => {
    const { body } = await gateway.admin('GET', `/admin/v1/requests/${String(id)}`);
    return body.attempts?.length > 0 && body.attempts;
  });

beforeAll(async () => {
  upstream = await startUpstream((response, request) => play(response, request));
  gateway = await startGateway(
    {
      server: { log: { level: 'debug', format: 'json' } },
      providers: [
        customProvider('keyed', upstream.url, {
          auth: { type: 'bearer' },
          api_key: '${secret:env:PROVIDER_KEY}',
          headers: { 'x-own': 'yes' },
        }),
        customProvider('plain', upstream.url),
        customProvider('quiet', upstream.url, { stream_usage: false }),
      ],
      models: [
        orderedModel('m/a', ['keyed']),
        orderedModel('m/quiet', ['quiet']),
        orderedModel('m/both', ['keyed', 'plain']),
        {
          name: 'm/renamed',
          routes: [{ provider: 'plain', upstream_model: 'up', response_model: 'logical' }],
        },
      ],
    },
    { env: { PROVIDER_KEY } },
  );
});
afterAll(async () => {
  await gateway.stop();
  await upstream.close();
});

describe('the body that the provider gets', () => {
  const json = fc.jsonValue({ noUnicodeString: false, maxDepth: 3 });
  const spaces = fc.constantFrom('', ' ', '\n\t', '  \r\n ');
  const numbers = fc.constantFrom(
    '1.0',
    '1e400',
    '-0',
    '9007199254740993',
    '0.1e-7',
    '12345678901234567890',
  );
  const strings = fc.constantFrom(
    '"\\u00e9"',
    '"\\/"',
    '"é"',
    '"\\ud83d\\ude00"',
    '"\\"model\\":"',
    '"\u2028"',
  );
  const value = fc.oneof(
    json.map((one) => JSON.stringify(one)),
    numbers,
    strings,
  );
  const names = fc
    .uniqueArray(fc.stringMatching(/^[a-z_]{1,8}$/), { maxLength: 6 })
    .map((all) => all.filter((name) => !['model', 'stream', 'n', 'max_tokens'].includes(name)));
  const bodies = fc
    .tuple(names, fc.array(value, { minLength: 6, maxLength: 6 }), spaces, fc.nat(6))
    .map(([keys, values, space, at]) => {
      const members = keys.map((key, i) => `"${key}"${space}:${space}${values[i]}`);
      members.splice(Math.min(at, members.length), 0, `${space}"model"${space}:${space}"m/a"`);
      return `${space}{${members.join(`${space},${space}`)}${space}}${space}`;
    });

  it(
    verifies(
      'routing.body.byte-faithful',
      'routing.model-rewrite-only',
      'is the one that the client sent, byte by byte, but for the name of the model',
    ),
    async () => {
      play = whole;
      await fc.assert(
        fc.asyncProperty(bodies, async (body) => {
          const answer = await ask(body);
          expect(answer.status).toBe(200);
          expect(last().body.toString()).toBe(body.replace('"m/a"', '"up"'));
        }),
        { numRuns: 150 },
      );
    },
  );

  it(
    verifies(
      'routing.body.byte-faithful',
      'asks for the usage of a stream and changes nothing else',
    ),
    async () => {
      play = (response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.end(ECHO_STREAM);
      };
      await ask('{ "stream":true , "model":"m/a", "n" : 1.0 }');
      expect(last().body.toString()).toBe(
        '{ "stream":true , "model":"up", "n" : 1.0,"stream_options":{"include_usage":true} }',
      );
      await ask('{"model":"m/a","stream":true,"stream_options":{ "include_obfuscation":false }}');
      expect(last().body.toString()).toBe(
        '{"model":"up","stream":true,"stream_options":{ "include_obfuscation":false,"include_usage":true }}',
      );
      const asked = '{"model":"m/a","stream":true,"stream_options":{"include_usage":true}}';
      await ask(asked);
      expect(last().body.toString()).toBe(asked.replace('m/a', 'up'));
      await ask('{"model":"m/quiet","stream":true}');
      expect(last().body.toString()).toBe('{"model":"up","stream":true}');
    },
  );

  it(
    verifies('routing.body.byte-faithful', 'is the same after a body of several megabytes'),
    async () => {
      play = whole;
      const image = `data:image/png;base64,${'A'.repeat(6_000_000)}`;
      const body = `{"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"${image}"}}]}],"model":"m/a"}`;
      expect((await ask(body)).status).toBe(200);
      expect(last().body.equals(Buffer.from(body.replace('"m/a"', '"up"')))).toBe(true);
    },
  );
});

describe('the answer that the client gets', () => {
  const odd =
    '{ "object":"chat.completion","choices":[{"index":0,"message":{"content":"\\u00e9"}}],\n"model" : "up-2024", "x":1.0,"big":9007199254740993 }';

  it(
    verifies(
      'routing.response-model-logical',
      'keeps the bytes of the provider, or its model alone is renamed',
    ),
    async () => {
      play = (response) => sendJson(response, 200, odd);
      expect((await ask(chatBody('m/a'))).body.toString()).toBe(odd);
      expect((await ask(chatBody('m/renamed'))).body.toString()).toBe(
        odd.replace('"up-2024"', '"m/renamed"'),
      );
      play = (response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.end(ECHO_STREAM);
      };
      expect((await ask(chatBody('m/a', { stream: true }))).body.toString()).toBe(ECHO_STREAM);
      expect((await ask(chatBody('m/renamed', { stream: true }))).body.toString()).toBe(
        ECHO_STREAM.replace('"up"', '"m/renamed"'),
      );
    },
  );

  it(
    verifies(
      'routing.upstream-headers.allow-list',
      'has no header of the provider but those of its body',
    ),
    async () => {
      const private_ = {
        'set-cookie': 'session=1',
        'openai-organization': 'org-secret',
        'openai-processing-ms': '12',
        'x-ratelimit-remaining-requests': '5',
        'x-request-id': 'theirs',
        'request-id': 'theirs',
        'retry-after': '5',
        'www-authenticate': 'Bearer',
        server: 'nginx',
        via: 'inner.example',
        'x-own': 'private',
      };
      for (const [status, type] of [
        [200, 'application/json; charset=utf-8'],
        [400, 'application/json'],
        [200, 'text/event-stream'],
      ] as const) {
        play = (response) => {
          response.writeHead(status, { 'content-type': type, ...private_ });
          response.end(type.includes('event') ? ECHO_STREAM : JSON.stringify(COMPLETION));
        };
        const answer = await ask(chatBody('m/a', { stream: type.includes('event') }));
        expect(answer.status).toBe(status);
        const names = Object.keys(answer.headers).toSorted();
        const allowed = [
          'cache-control',
          'connection',
          'content-length',
          'content-type',
          'date',
          'keep-alive',
          'request-id',
          'transfer-encoding',
          'x-accel-buffering',
          'x-gateway-attempts',
          'x-gateway-cost',
          'x-gateway-model',
          'x-gateway-provider',
          'x-request-id',
        ];
        expect(names.filter((name) => !allowed.includes(name))).toEqual([]);
        expect(answer.headers['x-request-id']).toMatch(/^req_/);
        if (status === 200) expect(answer.headers['content-type']).toContain(type.split(';')[0]);
      }
    },
  );

  it(
    verifies('routing.upstream-headers.allow-list', 'never is a redirect, and nobody follows it'),
    async () => {
      const other = createServer((_request, response) => response.end('{}'));
      let visits = 0;
      other.on('request', () => visits++);
      other.listen(0, '127.0.0.1');
      await once(other, 'listening');
      const { port } = other.address() as AddressInfo;
      for (const status of [301, 302, 307, 308]) {
        play = (response) =>
          response.writeHead(status, { location: `http://127.0.0.1:${port}/` }).end();
        const answer = await ask(chatBody('m/a'));
        expect(answer.status).toBe(503);
        expect(answer.headers['location']).toBeUndefined();
        expect(answer.body.toString()).not.toContain(String(port));
      }
      expect(visits).toBe(0);
      other.close();
    },
  );

  it('is called JSON, as official clients need it, when the provider calls it nothing or text', async () => {
    for (const headers of [{}, { 'content-type': 'text/plain' }]) {
      play = (response) => response.writeHead(200, headers).end(JSON.stringify(COMPLETION));
      const client = openaiClient(gateway);
      const answer = await client.chat.completions.create({ model: 'm/a', messages: [] });
      expect(answer.choices[0]?.message.content).toBe('fine');
    }
  });

  it.each([
    ['gzip', gzipSync],
    ['br', brotliCompressSync],
  ] as const)(
    verifies(
      'routing.content-encoding',
      'is readable when the provider sends %s, whole, refused and streamed',
    ),
    async (encoding, encode) => {
      const respond =
        (status: number, type: string, text: string) => (response: ServerResponse) => {
          const bytes = encode(Buffer.from(text));
          response.writeHead(status, {
            'content-type': type,
            'content-encoding': encoding,
            'content-length': bytes.length,
          });
          response.end(bytes);
        };
      play = respond(200, 'application/json', odd);
      const plain = await ask(chatBody('m/a'), { 'accept-encoding': 'gzip, br, zstd' });
      expect(plain.body.toString()).toBe(odd);
      play = respond(404, 'application/json', '{"error":{"message":"no such file"}}');
      const refused = await ask(chatBody('m/a'));
      expect(refused.status).toBe(404);
      expect(refused.body.toString()).toContain('no such file');
      play = respond(200, 'text/event-stream', ECHO_STREAM);
      const streamed = await ask(chatBody('m/a', { stream: true }));
      expect(streamed.body.toString()).toBe(ECHO_STREAM);
      for (const { headers, body } of [plain, refused, streamed]) {
        expect(headers['content-encoding']).toBeUndefined();
        const length = headers['content-length'];
        if (length !== undefined) expect(Number(length)).toBe(body.length);
      }
    },
  );

  it.each([200, 429, 400])(
    verifies(
      'upstream.encoding.not-offered',
      'is not decoded in a coding that was not offered: the next provider is asked (%i)',
    ),
    async (status) => {
      const coded = (response: ServerResponse): void => {
        const headers = { 'content-type': 'application/json', 'content-encoding': 'zstd' };
        response.writeHead(status, headers).end(ZSTD_BOMB);
      };
      play = (response, request) => (request.headers['x-own'] ? coded : whole)(response);
      const answered = await ask(chatBody('m/both'));
      expect(answered.status).toBe(200);
      expect(last().headers['accept-encoding']).not.toContain('zstd');
      play = coded;
      for (const stream of [false, true]) {
        const { status: told, headers, body } = await ask(chatBody('m/quiet', { stream }));
        expect(told).toBe(502);
        expect(headers).not.toHaveProperty('content-encoding');
        expect(JSON.parse(body.toString())).toMatchObject({
          error: { code: 'invalid_upstream_response' },
        });
        const id = headers['x-request-id'];
        expect(await attemptsOf(id)).toMatchObject([{ status, outcome: 'encoding_not_offered' }]);
      }
    },
  );

  it(
    verifies(
      'upstream.encoding.bounded',
      'of a few bytes that unpack to more than an answer may have is a failed attempt',
    ),
    async () => {
      play = (response) =>
        response
          .writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'br' })
          .end(BROTLI_BOMB);
      expect(BROTLI_BOMB.length).toBeLessThan(64 * 1024);
      const { status, headers } = await ask(chatBody('m/quiet'));
      expect(status).toBe(502);
      expect(await attemptsOf(headers['x-request-id'])).toMatchObject([
        { status: 200, outcome: 'too_large' },
      ]);
    },
  );
});

describe('secrets', () => {
  it(
    verifies(
      'auth.upstream.client-credential-not-forwarded',
      'of the client stay here: the provider sees its own credential once',
    ),
    async () => {
      play = whole;
      const answer = await askRaw(`${gateway.url}${CHAT_PATH}?key=canary-query&beta=true`, {
        key: gateway.clientKey,
        body: chatBody('m/a'),
        headers: {
          'x-api-key': 'canary-x-api-key',
          'x-native-api-key': 'canary-native',
          'x-goog-api-key': 'canary-goog',
          'api-key': 'canary-azure',
          'proxy-authorization': 'Basic canary-proxy',
          cookie: 'session=canary-cookie',
          'openai-organization': 'canary-organization',
          'x-forwarded-for': '203.0.113.9',
          'x-stainless-lang': 'js',
        },
      });
      expect(answer.status).toBe(200);
      const { url, headers } = last();
      expect(url).toBe(CHAT_PATH);
      expect(headers.authorization).toBe(`Bearer ${PROVIDER_KEY}`);
      expect(Object.keys(headers).toSorted()).toEqual([
        'accept',
        'accept-encoding',
        'authorization',
        'connection',
        'content-length',
        'content-type',
        'host',
        'x-own',
      ]);
      const seen = JSON.stringify(last());
      expect(seen.replace(PROVIDER_KEY, '')).not.toContain('canary');
      expect(seen).not.toContain(gateway.clientKey);
    },
  );

  const INSIDES = [
    `Incorrect API key provided: ${PROVIDER_KEY}. Contact ops@inner.example.com`,
    `cannot reach http://10.1.2.3:8080/internal from node-7.cluster.local`,
    `boom\n    at handler (/srv/app/server.js:10:5)\n    at /srv/app/lib/run.js:7:1`,
    `Traceback (most recent call last):\n  File "/opt/model/serve.py", line 3, in <module>`,
    `Bearer ${PROVIDER_KEY} for org-AbCdEf0123456789`,
  ];
  it.each([400, 401, 404, 422, 429, 500, 503])(
    verifies(
      'errors.no-internals',
      'chat.status.400-provider',
      'and insides of the provider are in no error body: %i',
    ),
    async (status) => {
      for (const message of INSIDES) {
        for (const body of [
          JSON.stringify({ error: { message } }),
          message,
          `<html>${message}</html>`,
        ]) {
          play = (response) => sendJson(response, status, body);
          for (const stream of [false, true]) {
            const answer = await ask(chatBody('m/a', { stream }));
            const text = answer.body.toString();
            expect(answer.status).toBeGreaterThanOrEqual(400);
            expect(text).not.toMatch(
              /canary|10\.1\.2\.3|cluster\.local|inner\.example|\/srv|\/opt|serve\.py|server\.js|Traceback|org-AbC|keyed|127\.0\.0\.1/,
            );
            expect(JSON.parse(text)).toHaveProperty('error.message');
          }
        }
      }
    },
  );

  it(verifies('errors.no-internals', 'nor in the error that ends a stream'), async () => {
    play = (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: {"choices":[{"index":0,"delta":{"content":"Hi"}}]}\n\n');
      response.end(`data: ${JSON.stringify({ error: { message: INSIDES.join(' ') } })}\n\n`);
    };
    const answer = await ask(chatBody('m/a', { stream: true }));
    expect(answer.body.toString()).toContain('upstream_interrupted');
    expect(answer.body.toString()).not.toMatch(/canary|10\.1|srv|Traceback/);
  });

  it(
    verifies(
      'ops.log.no-secrets',
      'and prompts and answers are in no log line, even at the level debug',
    ),
    async () => {
      play = (response) =>
        sendJson(response, 200, JSON.stringify(COMPLETION).replace('fine', 'canary-answer'));
      await askRaw(`${gateway.url}${CHAT_PATH}?key=canary-query`, {
        key: gateway.clientKey,
        body: chatBody('m/a', { user: 'canary-prompt' }),
      });
      play = (response) => sendJson(response, 401, { error: { message: INSIDES[0] } });
      await ask(chatBody('m/a'));
      await gateway.chat('m/a', { key: 'sk-canary-unknown' });
      const log = gateway.log();
      expect(log).toContain('"request_id":"req_');
      expect(log).not.toContain('canary');
      expect(log).not.toContain(gateway.clientKey);
      expect(log).not.toContain(gateway.adminKey);
      expect(log).not.toMatch(/bearer/i);
    },
  );
});
