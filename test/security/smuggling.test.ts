import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startGateway } from '../support/gateway.ts';
import type { TestGateway } from '../support/gateway.ts';
import { speak } from '../support/raw-socket.ts';
import { sendJson, startUpstream } from '../support/stage/upstream.ts';
import type { Upstream } from '../support/stage/upstream.ts';
import { verifies } from '../requirements.ts';

const CHAT = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'first' }] });
const LENGTH = `content-length: ${CHAT.length}\r\n`;
const CHUNKED = 'transfer-encoding: chunked\r\n';
const SIZE = CHAT.length.toString(16);
const CHUNKS = `${SIZE}\r\n${CHAT}\r\n0\r\n\r\n`;
const END = '0\r\n\r\n';

let upstream: Upstream;
let gateway: TestGateway;
let head = '';

beforeAll(async () => {
  upstream = await startUpstream((response) =>
    sendJson(response, 200, { id: 'c', choices: [{ index: 0, message: { content: 'ok' } }] }),
  );
  gateway = await startGateway({
    providers: [
      {
        name: 'one',
        type: 'custom',
        base_url: `${upstream.url}/v1`,
        auth: { type: 'none' },
        protocols: { chat: { path: '/chat/completions' } },
      },
    ],
    models: [{ name: 'm', routes: [{ provider: 'one', upstream_model: 'up' }] }],
  });
  head = `host: localhost\r\nauthorization: Bearer ${gateway.clientKey}\r\n`;
});
afterAll(async () => {
  await gateway.stop();
  await upstream.close();
});
beforeEach(() => void (upstream.seen.length = 0));

/** A second request that nobody but the attacker has sent, as it stands in a body. */
const hidden = (): string => {
  const body = CHAT.replace('first', 'smuggled');
  return `POST /v1/chat/completions HTTP/1.1\r\n${head}content-length: ${body.length}\r\n\r\n${body}`;
};

const chat = (headers: string, body: string, version = 'HTTP/1.1'): string =>
  `POST /v1/chat/completions ${version}\r\n${head}${headers}\r\n${body}`;
const get = (target: string, headers = head, version = ' HTTP/1.1'): string =>
  `GET ${target}${version}\r\n${headers}\r\n`;

type Build = () => string;

/** Two servers may disagree about where these requests end. */
const ENDS: readonly (readonly [string, Build])[] = [
  ['a length and chunks', () => chat(LENGTH + CHUNKED, END)],
  ['chunks and a length', () => chat(CHUNKED + LENGTH, END)],
  ['two lengths', () => chat(`${LENGTH}content-length: 5\r\n`, CHAT)],
  ['the same length twice', () => chat(LENGTH + LENGTH, CHAT)],
  ['a list of lengths', () => chat('content-length: 5, 5\r\n', CHAT)],
  ['a length with a sign', () => chat(`content-length: +${CHAT.length}\r\n`, CHAT)],
  ['a hexadecimal length', () => chat('content-length: 0x10\r\n', CHAT)],
  ['a negative length', () => chat('content-length: -1\r\n', CHAT)],
  ['a length beyond all numbers', () => chat(`content-length: ${'9'.repeat(30)}\r\n`, CHAT)],
  ['an empty length', () => chat('content-length:\r\n', CHAT)],
  ['a blank before the colon of chunks', () => chat('transfer-encoding : chunked\r\n', CHUNKS)],
  ['a blank before the colon of a length', () => chat('content-length : 5\r\n', CHAT)],
  ['a folded coding', () => chat('transfer-encoding:\r\n chunked\r\n', CHUNKS)],
  ['a coding behind a control', () => chat('transfer-encoding: \x0bchunked\r\n', CHUNKS)],
  ['an unknown coding', () => chat('transfer-encoding: xchunked\r\n', CHUNKS)],
  ['chunks that are not the last coding', () => chat('transfer-encoding: chunked, x\r\n', CHUNKS)],
  ['chunks of another coding', () => chat('transfer-encoding: gzip, chunked\r\n', CHUNKS)],
  ['chunks twice', () => chat(CHUNKED + CHUNKED, CHUNKS)],
  ['the coding identity', () => chat('transfer-encoding: identity\r\n', CHAT)],
  ['two codings', () => chat(`${CHUNKED}transfer-encoding: identity\r\n`, CHUNKS)],
  ['chunks in HTTP/1.0', () => chat(`connection: keep-alive\r\n${CHUNKED}`, CHUNKS, 'HTTP/1.0')],
  ['a chunk that is too large for a number', () => chat(CHUNKED, `${'f'.repeat(17)}\r\n${CHAT}`)],
  ['a negative chunk', () => chat(CHUNKED, `-5\r\n${CHAT}\r\n${END}`)],
  ['a chunk size with a prefix', () => chat(CHUNKED, `0x5\r\n${CHAT}\r\n${END}`)],
  ['a chunk longer than its size', () => chat(CHUNKED, `${SIZE}\r\n${CHAT}xx${END}`)],
  ['a chunk that ends with LF alone', () => chat(CHUNKED, `${SIZE}\n${CHAT}\n0\n\n`)],
  ['LF in a chunk extension', () => chat(CHUNKED, `${SIZE};a\n${CHAT}\r\n${END}`)],
  ['a chunk extension without an end', () => chat(CHUNKED, `${SIZE};${'a'.repeat(40_000)}`)],
  ['a body that begins with lines', () => chat(CHUNKED, `\r\n\r\n${CHUNKS}`)],
];

/** Two servers may disagree about what these ask for, or of whom. */
const HEADS: readonly (readonly [string, Build])[] = [
  ['no host', () => get('/v1/models', head.replace('host: localhost\r\n', ''))],
  ['two hosts', () => get('/v1/models', `${head}host: evil.test\r\n`)],
  ['the same host twice', () => get('/v1/models', `${head}host: localhost\r\n`)],
  ['a host with a path', () => get('/v1/models', head.replace('localhost', 'localhost/x?y'))],
  ['a host with a user', () => get('/v1/models', head.replace('localhost', 'a@localhost'))],
  ['two credentials', () => get('/v1/models', `${head}authorization: Bearer other\r\n`)],
  ['a folded header', () => get('/v1/models', `x: a\r\n b\r\n${head}`)],
  ['lines that end with LF', () => get('/v1/models', head).replaceAll('\r\n', '\n')],
  ['one line that ends with LF', () => get('/v1/models', `x: y\n${head}`)],
  ['a lone CR in a header', () => get('/v1/models', `x: a\rhost: evil.test\r\n${head}`)],
  ['a zero byte in a header', () => get('/v1/models', `x: a\0b\r\n${head}`)],
  ['a header without a name', () => get('/v1/models', `: b\r\n${head}`)],
  ['a name with a blank in it', () => get('/v1/models', `x y: b\r\n${head}`)],
  ['HTTP/0.9', () => get('/v1/models', head, '')],
  ['HTTP/2.0 in plain words', () => get('/v1/models', head, ' HTTP/2.0')],
  ['the preface of HTTP/2', () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ['a method in lower case', () => get('/v1/models').replace('GET', 'get')],
  ['an unknown method', () => get('/v1/models').replace('GET', 'SMUGGLE')],
  ['a target of another host', () => get('http://evil.test/admin/v1/keys')],
  ['a target with a user', () => get('http://a@localhost/v1/models')],
  ['a target of another scheme', () => get('ftp://localhost/v1/models')],
  ['a target without a slash', () => get('v1/models')],
  ['a target with a fragment', () => get('/v1/models#/x')],
  ['a step up', () => get('/v1/../admin/v1/keys')],
  ['an encoded step up', () => get('/v1/%2e%2E/admin/v1/keys')],
  ['a step on the spot', () => get('/v1/./models')],
  ['backslashes', () => get('/v1\\models')],
  ['a raw byte beyond ASCII', () => get('/v1/mod\xe9ls')],
  ['a raw tab', () => get('/v1/mod\tels')],
];

describe.each([
  ['whose end is in doubt', ENDS],
  ['whose meaning is in doubt', HEADS],
])('a request %s', (_what, rows) => {
  it.each(rows)(
    verifies('errors.request-id.header', 'is refused, with the connection it came on: %s'),
    async (_name, build) => {
      const { answers, closed } = await speak(gateway.url, build() + hidden());
      expect(answers.map(({ status }) => status)).toEqual([400]);
      expect(closed).toBe(true);
      expect(answers[0]?.headers.join('\n')).toMatch(
        /^x-request-id: req_\w+\nrequest-id: req_\w+$/m,
      );
      expect(upstream.seen).toEqual([]);
    },
  );
});

it('closes a tunnel without a word', async () => {
  const { said } = await speak(gateway.url, `CONNECT evil.test:443 HTTP/1.1\r\n${head}\r\n`);
  expect(said).toBe('');
});

it.each([
  ['TRACE', `TRACE /v1/models HTTP/1.1\r\nx-secret: shown\r\n`, 405],
  ['a look at the whole server', 'OPTIONS * HTTP/1.1\r\n', 404],
])('tells nothing back of %s', async (_what, text, status) => {
  const { answers, said } = await speak(gateway.url, `${text}${head}\r\n`, {
    isOver: isAnswered(1),
  });
  expect(answers.map((one) => one.status)).toEqual([status]);
  expect(said).not.toContain('shown');
});

it.each([
  ['h2c', 200, 'http2-settings: AAMAAABkAARAAAAAAAIAAAAA\r\n'],
  ['websocket', 426, 'sec-websocket-version: 13\r\nsec-websocket-key: AAAA\r\n'],
])('does not switch to %s', async (protocol, status, more) => {
  const headers = `${head}connection: upgrade, http2-settings\r\nupgrade: ${protocol}\r\n${more}`;
  const { answers } = await speak(gateway.url, get('/v1/models', headers), {
    isOver: isAnswered(1),
  });
  expect(answers.map((one) => one.status)).toEqual([status]);
});

it('passes over an expectation that it does not know', async () => {
  const text = chat(`${LENGTH}expect: a-pony\r\n`, CHAT);
  const { answers } = await speak(gateway.url, text, { isOver: isAnswered(1) });
  expect(answers.map(({ status }) => status)).toEqual([200]);
});

it('takes nothing from extensions and trailers of chunks', async () => {
  const trailers = 'authorization: Bearer other\r\nhost: evil.test\r\nx-api-key: other\r\n';
  const text = chat(CHUNKED, `${SIZE};model=other;x="y"\r\n${CHAT}\r\n0\r\n${trailers}\r\n`);
  const { answers } = await speak(gateway.url, text, { isOver: isAnswered(1) });
  expect(answers.map(({ status }) => status)).toEqual([200]);
  expect(upstream.seen.map(({ body }) => JSON.parse(String(body)))).toEqual([
    { ...JSON.parse(CHAT), model: 'up' },
  ]);
  expect(JSON.stringify(upstream.seen[0]?.headers)).not.toMatch(/other|evil/);
});

it('refuses trailers without an end', async () => {
  const text = chat(CHUNKED, `${SIZE}\r\n${CHAT}\r\n0\r\n${'x: y\r\n'.repeat(20_000)}`);
  const { answers, closed } = await speak(gateway.url, text);
  expect(answers.map(({ status }) => status)).toEqual([431]);
  expect(closed).toBe(true);
  expect(upstream.seen).toEqual([]);
});

it('sees every header of a head that it takes, however many there are', async () => {
  const headers = `${'a:\r\n'.repeat(3_000)}${head}`;
  const { answers } = await speak(gateway.url, get('/v1/models', headers), {
    isOver: isAnswered(1),
  });
  expect(answers.map(({ status }) => status)).toEqual([200]);
});

describe('requests in a row', () => {
  it('are answered one by one in their order', async () => {
    const { answers } = await speak(
      gateway.url,
      get('/v1/models', 'host: localhost\r\n') + get('/v1/models') + chat(LENGTH, CHAT),
      { isOver: isAnswered(3) },
    );
    expect(answers.map(({ status }) => status)).toEqual([401, 200, 200]);
  });

  it('do not get the refusal of a later one for their own answer', async () => {
    for (const first of [get('/v1/models'), chat(LENGTH, CHAT), chat(CHUNKED, CHUNKS)]) {
      const { said, closed } = await speak(gateway.url, `${first}nonsense\r\n\r\n`);
      expect(said).not.toContain(' 400 ');
      expect(closed).toBe(true);
    }
  });

  it('are not found in the body of a request that has no use for one', async () => {
    const body = hidden();
    const headers = `${head}content-length: ${body.length}\r\n`;
    const { answers } = await speak(gateway.url, get('/v1/models', headers) + body + get('/v1/x'), {
      isOver: isAnswered(2),
    });
    expect(answers.map(({ status }) => status)).toEqual([200, 404]);
    expect(upstream.seen).toEqual([]);
  });

  it('are not found in a body that was refused', async () => {
    const body = hidden();
    const text = `POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-length: ${body.length}\r\n\r\n${body}${get('/v1/x')}`;
    const { answers } = await speak(gateway.url, text, { isOver: isAnswered(2) });
    expect(answers.map(({ status }) => status)).toEqual([401, 404]);
    expect(upstream.seen).toEqual([]);
  });
});

function isAnswered(count: number) {
  return (answers: readonly unknown[]): boolean => answers.length >= count;
}
