import { once } from 'node:events';
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verifies } from '../../requirements.ts';
import { COMPLETION, customProvider, orderedModel } from '../../support/chat.ts';
import { eventually, startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { sendJson, startUpstream } from '../../support/stage/upstream.ts';
import type { Upstream } from '../../support/stage/upstream.ts';

let gateway: TestGateway;
let upstream: Upstream;

beforeAll(async () => {
  upstream = await startUpstream((response) => sendJson(response, 200, COMPLETION));
  gateway = await startGateway({
    providers: [customProvider('one', upstream.url)],
    models: [orderedModel('acme/one', ['one'])],
    apis: [{ name: 'things', base_url: upstream.url, auth: { type: 'none' } }],
  });
});
afterAll(async () => {
  await gateway.stop();
  await upstream.close();
});

const CODED = 'request bodies with a content coding are not taken; send the body without one';
const CHAT = { message: CODED, type: 'invalid_request_error', param: null, code: 'coded_body' };
const GOOGLE = { code: 415, message: CODED, status: 'INVALID_ARGUMENT' };
const RESOURCE = { type: 'invalid_request', message: CODED };
const FAMILIES: readonly [path: string, error: unknown][] = [
  ['/v1/chat/completions', CHAT],
  ['/v1/responses', CHAT],
  ['/v1/embeddings', CHAT],
  ['/v1/images/generations', CHAT],
  ['/v1/images/edits', CHAT],
  ['/v1/videos', CODED],
  ['/v1/run', CODED],
  ['/v1/assets', CODED],
  ['/v1/messages', { type: 'invalid_request_error', message: CODED }],
  ['/v1/messages/count_tokens', { type: 'invalid_request_error', message: CODED }],
  ['/v1beta/models/one:generateContent', GOOGLE],
  ['/v1beta/interactions', GOOGLE],
  ['/v1/agents', RESOURCE],
  ['/v1/skills', RESOURCE],
  ['/v1/sessions', RESOURCE],
  ['/v1/deployments/depl_1/runs', RESOURCE],
  ['/v1/webhooks/secret/rotate', RESOURCE],
];

describe('a request body in a content coding', () => {
  const post = (path: string, headers: Record<string, string>, key = gateway.clientKey) =>
    fetch(gateway.url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, ...headers },
      body: new Uint8Array(gzipSync('{"model":"acme/one"}')),
    });

  it.each(FAMILIES)(
    verifies('errors.status.415-encoding', 'answers 415 in the shape of %s'),
    async (path, error) => {
      const forms = { 'content-type': 'multipart/form-data; boundary=b' };
      const isForm = path === '/v1/images/edits' || path === '/v1/skills';
      const named = { 'idempotency-key': `of ${path}` };
      for (const extra of [{}, named]) {
        const headers = { 'content-encoding': 'gzip', ...(isForm ? forms : {}), ...extra };
        const answer = await post(path, headers);
        const { error: told } = (await answer.json()) as { error: unknown };
        expect({ status: answer.status, told }).toEqual({ status: 415, told: error });
        expect(answer.headers.get('accept-encoding')).toBe('identity');
      }
      expect(upstream.seen).toEqual([]);
    },
  );

  it(verifies('errors.status.415-encoding', 'answers 415 to administrators, too'), async () => {
    const coded = { 'content-encoding': 'br, identity' };
    const answer = await post('/admin/v1/keys', coded, gateway.adminKey);
    expect(answer.status).toBe(415);
    expect(await answer.json()).toMatchObject({ error: RESOURCE });
  });

  it('is refused behind the key', async () => {
    expect((await post('/v1/agents', { 'content-encoding': 'gzip' }, 'sk-none')).status).toBe(401);
  });

  it('is taken where the coding is none', async () => {
    const body = { messages: [{ role: 'user', content: 'hi' }] };
    for (const coding of ['identity', 'Identity , identity', '']) {
      const headers = { 'content-encoding': coding };
      expect((await gateway.chat('acme/one', { body, headers })).status).toBe(200);
    }
  });

  it('goes through to an API with the name of its coding', async () => {
    const answer = await post('/v1/api/things/upload', { 'content-encoding': 'gzip' });
    expect(answer.status).toBe(200);
    const { headers, body } = upstream.seen.at(-1) ?? {};
    expect(headers?.['content-encoding']).toBe('gzip');
    expect(body).toEqual(gzipSync('{"model":"acme/one"}'));
  });
});

interface Talk {
  /** Everything that was said up to now. */
  said(): string;
  /** Resolves once it was said, or the connection ended. */
  until(text: string): Promise<string>;
  send(text: string): void;
  readonly ended: Promise<unknown>;
}

async function talk(): Promise<Talk> {
  const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1');
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  const ended = once(socket, 'close');
  let said = '';
  socket.on('data', (bytes: Buffer) => (said += bytes.toString('latin1')));
  return {
    said: () => said,
    until: async (text) => {
      await eventually(() => said.includes(text) || socket.destroyed);
      return said;
    },
    send: (text) => void socket.write(text),
    ended,
  };
}

const head = (
  path: string,
  key: string,
  { type = 'application/json', length = 2, more = '' } = {},
) =>
  `POST ${path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${key}\r\n` +
  `content-type: ${type}\r\ncontent-length: ${length}\r\nexpect: 100-continue\r\n${more}\r\n`;

const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n';
const PATHS = [
  '/v1/chat/completions',
  '/v1/messages',
  '/v1beta/models/one:generateContent',
  '/v1/embeddings',
  '/v1/run',
  '/v1/assets',
  '/v1/agents',
  '/v1/sessions',
  '/v1/deployments/depl_1/runs',
  '/v1/webhooks/secret/rotate',
];

describe('a client that expects 100 Continue', () => {
  it.each([...PATHS, '/v1/images/edits', '/v1/api/things/upload', '/v1/endpoints/ep_1/mcp'])(
    verifies('auth.expect-continue', 'is refused without it for a bad key: %s'),
    async (path) => {
      const { send, ended, said } = await talk();
      send(head(path, 'sk-none'));
      // The connection ends: who sent no body must not have its next request taken for one.
      await ended;
      expect(said()).toMatch(/^HTTP\/1\.1 401 /);
      expect(said()).toMatch(/\r\nconnection: close\r\n/i);
      expect(said()).toContain('invalid API key');
    },
  );

  it.each(PATHS)(
    verifies('auth.expect-continue', 'gets it once the key is checked: %s'),
    async (path) => {
      const { send, until, said } = await talk();
      send(head(path, gateway.clientKey));
      await until(CONTINUE);
      expect(said()).toBe(CONTINUE);
      send('{}');
      const answer = (await until('x-request-id')).slice(CONTINUE.length);
      expect(answer).toMatch(/^HTTP\/1\.1 [245]\d\d /);
      expect(answer).not.toContain('100 Continue');
      expect(answer).not.toMatch(/\r\nconnection: close\r\n/i);
    },
  );

  it(verifies('auth.expect-continue', 'gets it once for a call with a name'), async () => {
    const { send, until, said } = await talk();
    const more = 'idempotency-key: once\r\n';
    send(head('/v1/agents', gateway.clientKey, { more }));
    expect(await until(CONTINUE)).toBe(CONTINUE);
    send('{}');
    await until('x-request-id');
    expect(said().match(/100 Continue/g)).toHaveLength(1);
  });

  it(verifies('auth.expect-continue', 'gets it for a form'), async () => {
    const { send, until, said } = await talk();
    const type = 'multipart/form-data; boundary=b';
    send(head('/v1/images/edits', gateway.clientKey, { type, length: 5 }));
    expect(await until(CONTINUE)).toBe(CONTINUE);
    send('--b--');
    await until('x-request-id');
    expect(said()).toMatch(/HTTP\/1\.1 400 /);
  });

  it(verifies('auth.expect-continue', 'gets it when an API takes the body'), async () => {
    const { send, until } = await talk();
    send(head('/v1/api/things/upload', gateway.clientKey));
    expect(await until(CONTINUE)).toBe(CONTINUE);
    send('{}');
    expect(await until('chatcmpl-1')).toContain('HTTP/1.1 200 ');
    expect(upstream.seen.at(-1)?.headers).not.toHaveProperty('expect');
    expect(upstream.seen.at(-1)?.body.toString()).toBe('{}');
  });

  it('is told of a body that is refused without sending it', async () => {
    for (const given of [
      { length: 1e9, status: 413 },
      { length: 40_000_000, status: 413 },
      { more: 'content-encoding: gzip\r\n', status: 415 },
    ]) {
      const { send, ended, said } = await talk();
      send(head('/v1/chat/completions', gateway.clientKey, given));
      await ended;
      expect(said()).toMatch(new RegExp(`^HTTP/1.1 ${given.status} `));
    }
  });

  it('may expect something else, which is passed over', async () => {
    const { send, until } = await talk();
    send(head('/v1/agents', gateway.clientKey).replace('100-continue', 'something') + '{}');
    expect(await until('x-request-id')).toMatch(/^HTTP\/1\.1 400 /);
  });
});
