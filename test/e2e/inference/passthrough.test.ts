import { createHash, createHmac } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { StoreError } from '../../../src/store/store.ts';
import type { RequestRecord } from '../../../src/usage/requests/request-record.ts';
import { verifies } from '../../requirements.ts';
import { eventually, startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { askRaw } from '../../support/raw-client.ts';
import type { RawAnswer, RawOptions } from '../../support/raw-client.ts';
import { startUpstream } from '../../support/stage/upstream.ts';
import type { Upstream } from '../../support/stage/upstream.ts';

const SECRET = 'acme-secret-value';
const GZIPPED = gzipSync('{"usage":{"total_tokens":7}}');

/** An API whose path says what it answers. */
const startApi = (): Promise<Upstream> =>
  startUpstream((response, { url, method, body }) => {
    const status = Number(/status\/(\d+)/.exec(url)?.[1] ?? 200);
    if (url.includes('/hang')) return;
    if (url.includes('/break')) {
      response.writeHead(200, { 'content-length': 100 }).write('a part');
      setImmediate(() => response.destroy());
      return;
    }
    if (url.includes('/reset')) {
      response.socket?.destroy();
      return;
    }
    if (url.includes('/gzip') || url.includes('/zstd')) {
      const coding = url.includes('/gzip') ? 'gzip' : 'zstd';
      response.writeHead(200, { 'content-encoding': coding, 'content-type': 'application/json' });
      response.end(GZIPPED);
      return;
    }
    if (status === 204 || status === 304) {
      response.writeHead(status).end();
      return;
    }
    if (url.includes('/text')) {
      response.writeHead(201, {
        'content-type': 'text/csv; charset=latin1',
        'set-cookie': 'session=1',
        'retry-after': '9',
        'x-ratelimit-remaining': '3',
        'x-total-count': '12',
        etag: '"a"',
      });
      response.end(Buffer.from([0x61, 0xe9, 0x0a, 0x00]));
      return;
    }
    const headers = { location: 'https://inner.example/', 'retry-after': '9' };
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    const used = url.includes('/unmetered') ? {} : { usage: { total_tokens: 7 } };
    response.end(JSON.stringify({ method, url, body: body.toString(), ...used }));
  });

describe('an API called by path', () => {
  let upstream: Upstream;
  let gateway: TestGateway;
  beforeAll(async () => {
    upstream = await startApi();
    const closed = createServer().listen(0, '127.0.0.1');
    await once(closed, 'listening');
    const { port } = closed.address() as AddressInfo;
    closed.close();
    const api = (name: string, rest: object = {}): object => ({
      name,
      base_url: `${upstream.url}/base`,
      api_key: '${secret:env:ACME_KEY}',
      ...rest,
    });
    gateway = await startGateway(
      {
        apis: [
          api('acme', { response_headers: ['x-total-count'], headers: { 'x-version': '2' } }),
          api('priced', { pricing: { per_call: '1' } }),
          api('metered', {
            pricing: { per_call: '0.5', input: '2' },
            usage: { input: { field: '$.usage.total_tokens', most: 1_000_000 } },
          }),
          api('reader', { methods: ['GET'], paths: ['/v1/items/*'] }),
          api('query', { auth: { type: 'query', name: 'key' } }),
          api('signed', { auth: { type: 'signature', key_id: 'k1' } }),
          api('switched', { enabled: false }),
          api('hurried', { timeouts: { first_content: '200ms', idle: '200ms' } }),
          { name: 'gone', base_url: `http://127.0.0.1:${port}`, auth: { type: 'none' } },
        ],
      },
      { env: { ACME_KEY: SECRET } },
    );
  });
  afterAll(async () => {
    await gateway.stop();
    await upstream.close();
  });

  const ask = (path: string, options: RawOptions = {}): Promise<RawAnswer> =>
    askRaw(`${gateway.url}/v1/api/${path}`, {
      method: 'GET',
      key: gateway.clientKey,
      ...options,
    });
  const json = ({ body }: RawAnswer): any => JSON.parse(body.toString());
  const recordOf = (answer: RawAnswer): Promise<RequestRecord> =>
    eventually(async () => {
      const id = String(answer.headers['x-request-id']);
      const { body } = await gateway.admin('GET', `/admin/v1/requests/${id}`);
      return body.result === undefined || body.result === 'pending' ? undefined : body;
    });
  const createKey = async (fields: object): Promise<string> => {
    const body = { name: `k${Math.random()}`, ...fields };
    const made = await gateway.admin('POST', '/admin/v1/keys', body);
    expect(made.status, JSON.stringify(made.body)).toBe(201);
    return made.body.value;
  };

  it(
    verifies('passthrough.methods', 'passes GET and POST with their query and body unchanged'),
    async () => {
      const got = await ask('acme/a/b?x=1&x=2&y=%20z');
      expect(json(got)).toMatchObject({ method: 'GET', url: '/base/a/b?x=1&x=2&y=%20z', body: '' });
      const body = '{"a": 1.0,\n "b":18446744073709551615}';
      const type = { 'content-type': 'application/vnd.acme+json' };
      const posted = await ask('acme/a', { method: 'POST', body, headers: type });
      expect(json(posted)).toMatchObject({ method: 'POST', url: '/base/a', body });
      const seen = upstream.seen.at(-1);
      expect(seen?.headers).toMatchObject({
        ...type,
        authorization: `Bearer ${SECRET}`,
        'x-version': '2',
        'content-length': String(body.length),
      });
      const empty = await ask('acme/a', { method: 'POST' });
      expect(json(empty)).toMatchObject({ method: 'POST', body: '' });
    },
  );

  it(
    verifies('passthrough.methods', 'answers 405 for any other method, and 404 for no such API'),
    async () => {
      const before = upstream.seen.length;
      for (const method of ['PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS']) {
        const answer = await ask('acme/a', { method });
        expect([method, answer.status]).toEqual([method, 405]);
        expect(answer.headers.allow).toBe('GET, POST');
      }
      const own = await ask('reader/v1/items/7', { method: 'POST' });
      expect([own.status, own.headers.allow]).toEqual([405, 'GET']);
      for (const path of ['nothing/a', 'switched/a', 'ac%6De2/a', 'reader/v1/other', 'a%2Fb/c']) {
        const answer = await ask(path);
        expect([path, answer.status]).toEqual([path, 404]);
        expect(json(answer)).toEqual({ error: expect.any(String) });
      }
      const key = await createKey({ allowed_models: ['priced', 'acme/*'] });
      expect((await ask('acme/a', { key })).status).toBe(404);
      expect(upstream.seen).toHaveLength(before);
      expect((await ask('priced/a', { key })).status).toBe(200);
    },
  );

  it(
    verifies('passthrough.path', 'never leaves the base path, whatever is asked for'),
    async () => {
      const before = upstream.seen.length;
      const { port } = new URL(gateway.url);
      const paths = [
        'acme/../x',
        'acme/a/../../../x',
        'acme/%2e%2e/x',
        'acme/%2E%2E%2Fx',
        'acme/..%2f..%2fx',
        'acme/..%5c..%5cx',
        'acme/a/..\\..\\x',
        'acme/%252e%252e/x',
        'acme/..;/x',
        'acme//evil.example/x',
        'acme/a%00',
        'x/../acme/../y',
        '../../api/x',
      ];
      for (const path of paths) {
        const socket = connect(Number(port), '127.0.0.1');
        const head = `GET /v1/api/${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close`;
        socket.end(`${head}\r\nauthorization: Bearer ${gateway.clientKey}\r\n\r\n`);
        let answer = '';
        for await (const chunk of socket) answer += String(chunk);
        expect([path, /^HTTP\/1.1 (400|404) /.test(answer)], answer).toEqual([path, true]);
      }
      expect(upstream.seen).toHaveLength(before);
      const url = `${gateway.url}/v1/api/acme/https://evil.example/a?u=http://evil.example`;
      await askRaw(url, { method: 'GET', key: gateway.clientKey });
      const kept = '/base/https://evil.example/a?u=http://evil.example';
      expect(upstream.seen.at(-1)?.url).toBe(kept);
      expect(upstream.seen.at(-1)?.headers.host).toBe(new URL(upstream.url).host);
    },
  );

  it(
    verifies(
      'passthrough.path',
      'auth.upstream.client-credential-not-forwarded',
      'keeps the client’s key, in the query too, and shows nobody the API’s',
    ),
    async () => {
      const headers = {
        cookie: 'a=1',
        'x-api-key': gateway.clientKey,
        'x-forwarded-for': '1.1.1.1',
      };
      const answer = await ask(`query/a?key=${gateway.clientKey}&q=1`, { headers });
      const seen = upstream.seen.at(-1);
      expect(seen?.url).toBe(`/base/a?q=1&key=${SECRET}`);
      expect(JSON.stringify(seen)).not.toContain(gateway.clientKey);
      expect(seen?.headers).not.toHaveProperty('cookie');
      expect(seen?.headers).not.toHaveProperty('x-forwarded-for');
      const record = await recordOf(answer);
      expect(JSON.stringify([record, gateway.log()])).not.toContain(SECRET);
      const { body } = await gateway.admin('GET', '/admin/v1/apis/query');
      expect(body).toMatchObject({ api_key_configured: true, name: 'query' });
      expect(JSON.stringify(body)).not.toContain(SECRET);
    },
  );

  it(
    verifies('passthrough.response', 'relays status, content type and body of 2xx and 4xx'),
    async () => {
      const text = await ask('acme/text');
      expect(text.status).toBe(201);
      expect([...text.body]).toEqual([0x61, 0xe9, 0x0a, 0x00]);
      expect(text.headers).toMatchObject({
        'content-type': 'text/csv; charset=latin1',
        etag: '"a"',
        'x-total-count': '12',
        'x-request-id': expect.stringMatching(/^req_/),
      });
      for (const status of [200, 202, 400, 404, 405, 409, 422, 429]) {
        const answer = await ask(`acme/status/${status}`);
        expect(answer.status).toBe(status);
        expect(json(answer).url).toBe(`/base/status/${status}`);
        for (const name of ['set-cookie', 'retry-after', 'x-ratelimit-remaining', 'location'])
          expect(answer.headers).not.toHaveProperty(name);
      }
      for (const status of [204, 304]) {
        const answer = await ask(`acme/status/${status}`);
        expect([answer.status, answer.body.length, answer.complete]).toEqual([status, 0, true]);
      }
    },
  );

  it(
    verifies(
      'routing.provider-401-not-client-401',
      'routing.retryable-set.407',
      'says what is wrong with the gateway’s account in no status of the gateway’s own checks',
    ),
    async () => {
      for (const status of [401, 402, 403, 407]) {
        const answer = await ask(`acme/status/${status}`);
        expect(answer.status).toBe(503);
        expect(answer.headers['x-should-retry']).toBe('false');
        expect(json(answer).error).toContain('credential');
        expect(await recordOf(answer)).toMatchObject({
          result: 'error',
          cost: '0.00',
          attempts: [{ provider: 'acme', status, outcome: `status_${status}` }],
        });
      }
    },
  );

  it(
    verifies(
      'passthrough.response',
      'routing.upstream-headers.allow-list',
      'answers 502 for what fails or points elsewhere, and 504 for what takes too long',
    ),
    async () => {
      for (const status of [500, 503, 504, 301, 302, 307]) {
        const answer = await ask(`acme/status/${status}`);
        expect([status, answer.status]).toEqual([status, 502]);
        expect(JSON.stringify([answer.headers, json(answer)])).not.toContain('inner.example');
      }
      const gone = await ask('gone/a', { method: 'POST', body: 'x' });
      expect([gone.status, json(gone)]).toEqual([502, { error: expect.any(String) }]);
      // Nothing was sent, so it was tried again, and may be by the client.
      expect(gone.headers).not.toHaveProperty('x-should-retry');
      expect((await recordOf(gone)).attempts.map(({ outcome }) => outcome)).toEqual([
        'connect',
        'connect',
      ]);
      const late = await ask('hurried/hang', { method: 'POST', body: 'x' });
      expect(late.status).toBe(504);
      expect(late.headers['x-should-retry']).toBe('false');
      await eventually(() => upstream.seen.at(-1)?.aborted);
    },
  );

  it('is not called again where something was sent', async () => {
    for (const method of ['GET', 'POST']) {
      const before = upstream.seen.length;
      const answer = await ask('acme/reset', { method, body: method === 'POST' ? 'x' : '' });
      expect(answer.status).toBe(502);
      expect(answer.headers['x-should-retry']).toBe(method === 'POST' ? 'false' : undefined);
      expect(upstream.seen).toHaveLength(before + 1);
    }
  });

  it('breaks the client’s connection where its answer breaks off', async () => {
    const cut = await ask('priced/break');
    expect([cut.status, cut.complete]).toEqual([200, false]);
    expect(await recordOf(cut)).toMatchObject({ result: 'interrupted', cost: '1.00', status: 200 });
  });

  it('leaves compressed answers as they are, unless they are read for their price', async () => {
    const headers = { 'accept-encoding': 'gzip' };
    const raw = await ask('priced/gzip', { headers });
    expect(raw.headers['content-encoding']).toBe('gzip');
    expect(raw.body.equals(GZIPPED)).toBe(true);
    expect(upstream.seen.at(-1)?.headers['accept-encoding']).toBe('gzip');
    const read = await ask('metered/gzip', { headers });
    expect(read.headers).not.toHaveProperty('content-encoding');
    expect(json(read).usage.total_tokens).toBe(7);
    expect(upstream.seen.at(-1)?.headers['accept-encoding']).toMatch(/^identity, gzip;/);
    expect((await recordOf(read)).usage.input_tokens).toBe(7);
  });

  it('refuses an answer that it has to read in a coding that was not asked for', async () => {
    const raw = await ask('priced/zstd');
    expect([raw.status, raw.headers['content-encoding']]).toEqual([200, 'zstd']);
    const refused = await ask('metered/zstd');
    expect(refused.status).toBe(502);
    expect(json(refused).error).toMatch(/content coding that was not asked for/);
    expect((await recordOf(refused)).attempts).toMatchObject([
      { status: 200, outcome: 'encoding_not_offered' },
    ]);
  });

  it(
    verifies(
      'passthrough.response',
      'requests.record',
      'is priced, recorded and written to the history of the organization',
    ),
    async () => {
      const answer = await ask('metered/a?secret=canary', { method: 'POST', body: '{}' });
      const record = await recordOf(answer);
      expect(record).toMatchObject({
        surface: 'api',
        model: 'metered',
        status: 200,
        result: 'ok',
        cost: '0.500014',
        estimated: false,
        usage: { input_tokens: 7 },
        answered_by: { model: 'metered', provider: 'metered', upstream_model: 'POST /a' },
        attempts: [{ provider: 'metered', model: 'POST /a', status: 200, outcome: 'ok' }],
      });
      expect(record.overhead_us).toBeGreaterThan(0);
      expect(JSON.stringify([record, gateway.log()])).not.toContain('canary');
      const unmetered = await recordOf(await ask('metered/unmetered'));
      expect(unmetered).toMatchObject({ cost: '0.50', estimated: true });
      const refused = await recordOf(await ask('metered/status/404'));
      expect(refused).toMatchObject({ cost: '0.00', status: 404, result: 'error' });
      const failed = await recordOf(await ask('metered/status/500'));
      expect(failed).toMatchObject({ cost: '0.00', status: 502, result: 'error' });
      const history = await gateway.call('GET', '/v1/account/executions');
      expect(JSON.stringify(history.body)).toContain(record.id);
    },
  );

  it(
    verifies('passthrough.response', 'is limited: by requests, and by what it may cost'),
    async () => {
      const slow = await createKey({ rpm_cap: 1 });
      expect((await ask('acme/a', { key: slow })).status).toBe(200);
      const limited = await ask('acme/a', { key: slow });
      expect([limited.status, json(limited).error]).toEqual([429, 'API key rate limit exceeded']);
      const before = upstream.seen.length;
      const poor = await createKey({ spending_limit: '0.9' });
      const spent = await ask('priced/a', { key: poor });
      expect([spent.status, json(spent).error]).toEqual([402, 'API key spending limit exceeded']);
      // What an answer may count is reserved, too.
      expect((await ask('metered/a', { key: poor })).status).toBe(402);
      expect(upstream.seen).toHaveLength(before);
      const key = await createKey({ spending_limit: '10' });
      const calls = Array.from({ length: 30 }, () => ask('priced/a', { key }));
      const statuses = (await Promise.all(calls)).map(({ status }) => status);
      expect(statuses.filter((status) => status === 200)).toHaveLength(10);
      expect(new Set(statuses)).toEqual(new Set([200, 402]));
      expect(upstream.seen).toHaveLength(before + 10);
    },
  );

  it('gives back what it reserved when nothing was due', async () => {
    const key = await createKey({ spending_limit: '1' });
    for (const path of ['priced/status/404', 'priced/status/500', 'priced/status/401']) {
      await recordOf(await ask(path, { key }));
    }
    await eventually(async () => (await ask('priced/a', { key })).status === 200);
    expect((await ask('priced/a', { key })).status).toBe(402);
  });

  it(
    verifies('auth.standard.bearer-only', 'takes the key as Bearer and in no other way'),
    async () => {
      const before = upstream.seen.length;
      const key = gateway.clientKey;
      const others = [
        ask('acme/a', { key: '', headers: { 'x-api-key': key } }),
        ask('acme/a', { key: '', headers: { 'x-goog-api-key': key } }),
        ask(`acme/a?key=${key}`, { key: '' }),
      ];
      for (const answer of await Promise.all(others)) {
        expect(answer.status).toBe(401);
        expect(json(answer)).toEqual({ error: 'missing API key in Authorization header' });
      }
      const scoped = await ask('acme/a', { key: await createKey({ scopes: ['models'] }) });
      expect([scoped.status, json(scoped).error]).toEqual([403, 'insufficient_scope']);
      expect(upstream.seen).toHaveLength(before);
    },
  );

  it('is not called when the call cannot be recorded', async () => {
    const store = gateway.gateway?.store;
    if (!store) throw new Error('runs in process');
    const key = await createKey({ spending_limit: '1000' });
    expect((await ask('priced/a', { key })).status).toBe(200);
    const before = upstream.seen.length;
    const broken = vi.spyOn(store, 'commit').mockRejectedValue(new StoreError('unavailable', 'x'));
    try {
      expect((await ask('priced/a', { key })).status).toBe(500);
      expect(upstream.seen).toHaveLength(before);
    } finally {
      broken.mockRestore();
    }
    await eventually(async () => (await ask('priced/a', { key })).status === 200);
  });

  it('gets a signature that holds, in place of a secret', async () => {
    const body = '{"a":1}';
    await ask('signed/a%2Fb?x=1&key=mine', { method: 'POST', body, headers: { signature: 'x' } });
    const { headers, url, ...seen } = upstream.seen.at(-1) ?? expect.fail('nothing was sent');
    expect(JSON.stringify([headers, url])).not.toContain(SECRET);
    expect([url, seen.body.toString()]).toEqual(['/base/a%2Fb?x=1', body]);
    const digest = createHash('sha256').update(body).digest('base64');
    expect(headers['content-digest']).toBe(`sha-256=:${digest}:`);
    const input = String(headers['signature-input']);
    const created = Number(/;created=(\d+);keyid="k1";alg="hmac-sha256"$/.exec(input)?.[1]);
    expect(Math.abs(created * 1000 - Date.now())).toBeLessThan(600_000);
    const base = [
      '"@method": POST',
      `"@authority": ${headers.host}`,
      '"@path": /base/a%2Fb',
      '"@query": ?x=1',
      `"content-digest": sha-256=:${digest}:`,
      `"@signature-params": ${input.replace('sig1=', '')}`,
    ].join('\n');
    const expected = createHmac('sha256', SECRET).update(base).digest('base64');
    expect(headers['signature']).toBe(`sig1=:${expected}:`);
  });

  it('is in the catalog under the type api, and nowhere else', async () => {
    const names = async (query: string): Promise<string[]> =>
      (await gateway.call('GET', `/v1/models${query}`)).body.data.map((one: any) => one.id);
    const all = ['acme', 'gone', 'hurried', 'metered', 'priced', 'query', 'reader', 'signed'];
    expect(await names('?type=api')).toEqual(all);
    expect(await names('')).not.toContain('acme');
    expect(await names('?type=')).toContain('acme');
    expect((await gateway.call('GET', '/v1/models/metered')).body).toMatchObject({
      type: 'api',
      owned_by: 'metered',
      pricing: { per_call: '0.50', input: '2.00' },
      schema: { type: 'object', required: ['path'] },
    });
    const chat = await gateway.chat('acme');
    expect(chat.status).toBe(404);
  });

  it('is what its resource says from one call to the next', async () => {
    const body = { name: 'made', base_url: `${upstream.url}/one`, auth: { type: 'none' } };
    expect((await gateway.admin('POST', '/admin/v1/apis', body)).status).toBe(201);
    await eventually(async () => json(await ask('made/a')).url === '/one/a');
    const change = { base_url: `${upstream.url}/two` };
    expect((await gateway.admin('PATCH', '/admin/v1/apis/made', change)).status).toBe(200);
    await eventually(async () => json(await ask('made/a')).url === '/two/a');
    expect((await gateway.admin('DELETE', '/admin/v1/apis/made')).status).toBe(200);
    await eventually(async () => (await ask('made/a')).status === 404);
    const keyless = { name: 'keyless', base_url: upstream.url };
    expect((await gateway.admin('POST', '/admin/v1/apis', keyless)).status).toBe(201);
    await eventually(() => gateway.log().includes('API left out'));
    expect((await ask('keyless/a')).status).toBe(404);
  });
});
