import { Buffer } from 'node:buffer';
import { constants, createBrotliCompress, deflateRawSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FAMILY_ROWS, titleOf } from '../e2e/fuzz/families.ts';
import { startGateway } from '../support/gateway.ts';
import type { TestGateway } from '../support/gateway.ts';
import { askRaw } from '../support/raw-client.ts';
import type { RawAnswer } from '../support/raw-client.ts';
import { startWireUpstream } from '../support/stage/wire-upstream.ts';
import type { WireUpstream } from '../support/stage/wire-upstream.ts';
import { verifies } from '../requirements.ts';
import { inTurn } from '../runs.ts';

const MB = 1024 * 1024;
const JSON_TYPE = 'application/json';

let upstream: WireUpstream;
let gateway: TestGateway;

beforeAll(async () => {
  upstream = await startWireUpstream();
  upstream.answer('HTTP/1.1 400 Bad Request\r\ncontent-length: 2\r\n\r\n{}');
  gateway = await startGateway({
    providers: FAMILY_ROWS.map((row, index) => ({
      name: `p${index}`,
      type: 'custom',
      base_url: upstream.url,
      auth: { type: 'none' },
      protocols: { [row.protocol]: { path: row.upstreamPath } },
    })),
    models: FAMILY_ROWS.map((row, index) => ({
      name: `m/${index}`,
      type: row.modelType ?? 'llm',
      routes: [{ provider: `p${index}`, upstream_model: 'up' }],
    })),
  });
});
afterAll(async () => {
  await gateway.stop();
  await upstream.close();
});

function send(path: string, body: string | Buffer, headers: Record<string, string> = {}) {
  const key = gateway.clientKey;
  return askRaw(gateway.url + path, {
    key,
    body,
    headers: { 'content-type': JSON_TYPE, ...headers },
  });
}

/** Refused as the client's fault, in words. */
function expectRefused({ status, body }: RawAnswer, words: RegExp = /./): void {
  expect(body.toString()).toMatch(words);
  expect([400, 413, 415, 422]).toContain(status);
}

/** How much more memory the process has at most while something goes on, in bytes. */
async function growthOf(work: () => Promise<unknown>): Promise<number> {
  const before = process.memoryUsage.rss();
  let most = before;
  const timer = setInterval(() => (most = Math.max(most, process.memoryUsage.rss())), 5);
  await work();
  clearInterval(timer);
  return Math.max(most, process.memoryUsage.rss()) - before;
}

/** Zstandard: blocks that say one byte and how often. Node.js 20 has no encoder. */
function zstdBomb(bytes: number): Buffer {
  const block = Buffer.from([0x02, 0x00, 0x10, 0x20]);
  const head = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58]);
  return Buffer.concat([head, ...Array<Buffer>(Math.ceil(bytes / (128 * 1024))).fill(block)]);
}

const BLANKS = Buffer.alloc(4 * MB, ' ');
/** Times that they are repeated: packed once, for what is packed and flushed can follow itself. */
const TIMES = 128;
const repeated = (packed: Buffer, times = TIMES): Buffer[] => Array<Buffer>(times).fill(packed);

function deflateBomb(): Buffer {
  const block = deflateRawSync(BLANKS, { finishFlush: constants.Z_FULL_FLUSH });
  // Adler-32 of that many bytes of one kind.
  const count = BigInt(TIMES * BLANKS.length);
  const low = (1n + count * 32n) % 65_521n;
  const high = (count + 16n * count * (count + 1n)) % 65_521n;
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(Number(high * 65_536n + low));
  return Buffer.concat([Buffer.from([0x78, 0x9c]), ...repeated(block), Buffer.from([3, 0]), sum]);
}

async function brotliBomb(): Promise<Buffer> {
  const { BROTLI_PARAM_LGWIN, BROTLI_PARAM_QUALITY } = constants;
  const params = { [BROTLI_PARAM_LGWIN]: 16, [BROTLI_PARAM_QUALITY]: 5 };
  const stream = createBrotliCompress({ params });
  const pack = async (): Promise<Buffer> => {
    stream.write(BLANKS);
    await new Promise<void>((resolve) => stream.flush(() => resolve()));
    return stream.read();
  };
  const [first, next] = [await pack(), await pack()];
  stream.destroy();
  return Buffer.concat([first, ...repeated(next, TIMES - 1), Buffer.from([3])]);
}

/** Half a gigabyte of blanks each, in a few hundred kilobytes. */
const PACKED: readonly (readonly [string, Buffer])[] = [
  ['gzip', Buffer.concat(repeated(gzipSync(BLANKS)))],
  ['deflate', deflateBomb()],
  ['br', await brotliBomb()],
  ['zstd', zstdBomb(512 * MB)],
];

const DEEP = 200_000;

describe.each(FAMILY_ROWS.map((row, index) => [titleOf(row), row, `m/${index}`] as const))(
  'a call of %s',
  (title, row, model) => {
    const ask = (body: string | Buffer, headers: Record<string, string> = {}) =>
      send(row.path(model, false), body, {
        'content-type': row.contentType ?? JSON_TYPE,
        ...headers,
      });

    it.each(inTurn(`bombs in a call of ${title}`, PACKED))(
      'is never unpacked: %s',
      async (encoding, bytes) => {
        const growth = await growthOf(async () =>
          expectRefused(await ask(bytes, { 'content-encoding': encoding })),
        );
        expect(growth).toBeLessThan(100 * MB);
      },
    );

    it('may not be nested without end', async () => {
      for (const [open, close] of [
        ['[', ']'],
        ['{"a":', '}'],
      ] as const) {
        const nested = `${open.repeat(DEEP)}1${close.repeat(DEEP)}`;
        expectRefused(await ask(`{"model":"${model}","a":${nested}}`));
        expectRefused(await ask(`{"model":"${model}","a":${open.repeat(DEEP)}`));
      }
    });
  },
);

const RESOURCES = ['agents', 'endpoints', 'deployments', 'sessions', 'credentials', 'skills'];
const list = (unit: string, count: number): string => `[${Array(count).fill(unit).join(',')}]`;

describe('a resource', () => {
  it.each(RESOURCES)('may not be nested without end: %s', async (path) => {
    const nested = '['.repeat(DEEP) + ']'.repeat(DEEP);
    expectRefused(await send(`/v1/${path}`, `{"name":${nested}}`), /nested too deeply/);
  });

  it.each([
    ['endpoints', `{"name":"a","agent_id":"b","protocols":${list('1', 300_000)}}`],
    ['agents', `{"name":"a","model":"m","tools":${list('[]', 300_000)}}`],
    ['agents', `{"name":"a","model":"m","metadata":{${manyMembers(300_000)}}}`],
    ['sessions', `{"agent":"a","metadata":{${manyMembers(300_000)}}}`],
    ['sessions', `{"agent":"a","initial_events":${list('{"type":"x"}', 100_000)}}`],
    [
      'deployments',
      `{"name":"a","agent_id":"b","initial_events":[{"type":"user.message","content":${list('{}', 300_000)}}]}`,
    ],
    ['skills', `{"files":{${manyMembers(300_000)}}}`],
  ])('of more values than can be judged is refused: %s %#', async (path, body) => {
    const growth = await growthOf(async () => expectRefused(await send(`/v1/${path}`, body)));
    expect(growth).toBeLessThan(200 * MB);
  });

  const yaml = (text: string) =>
    send('/v1/deployments', text, { 'content-type': 'application/yaml' });
  const laughs = Array.from(
    { length: 30 },
    (_, n) => `a${n + 1}: &a${n + 1} [${Array(9).fill(`*a${n}`).join(',')}]`,
  );

  it.each([
    ['aliases of aliases', `a0: &a0 [x,x,x]\n${laughs.join('\n')}\n`],
    ['an anchor in itself', 'a: &a [*a, *a]\n'],
    ['signs without end', `[${','.repeat(MB)}]`],
    ['lists in lists', '['.repeat(MB)],
    ['lines without end', 'a: |\n'.concat(' b\n'.repeat(MB))],
    ['lines that are nothing', '\n'.repeat(MB)],
    ['tags without end', '! '.repeat(MB)],
    ['escapes that are none', `"${'\\x'.repeat(MB)}"`],
    ['members without end', Array.from({ length: 200_000 }, (_, n) => `k${n}: 1`).join('\n')],
    ['a blank where a text is', `a: ${' '.repeat(MB)}*x${' '.repeat(MB)}y`],
    ['merges of merges', `a: &a {b: 1}\n${'<<: *a\n'.repeat(200_000)}`],
  ])('in YAML is refused with its place: %s', async (_what, text) => {
    const growth = await growthOf(async () => expectRefused(await yaml(text), /line 1|line \d+/));
    expect(growth).toBeLessThan(200 * MB);
  });
});

function manyMembers(count: number): string {
  return Array.from({ length: count }, (_, n) => `"k${n}":1`).join(',');
}

describe('a form', () => {
  const boundary = 'b0undary';
  const form = (part: string, count: number): Buffer =>
    Buffer.from(`${`--${boundary}\r\n${part}\r\n`.repeat(count)}--${boundary}--\r\n`);
  const post = (path: string, body: Buffer) =>
    send(path, body, { 'content-type': `multipart/form-data; boundary=${boundary}` });
  const text = 'content-disposition: form-data; name="a"\r\n\r\nb';
  const file =
    'content-disposition: form-data; name="files[]"; filename="a/SKILL.md"\r\ncontent-type: text/plain\r\n\r\nb';

  it.each(['/v1/files', '/v1/skills', '/v1/images/edits'])(
    'of twenty thousand parts is refused: %s',
    async (path) => {
      for (const part of [text, file]) {
        const body = form(part, 20_000);
        const growth = await growthOf(async () =>
          expectRefused(await post(path, body), /256 parts|top folder|twice|image/),
        );
        expect(growth).toBeLessThan(200 * MB);
      }
    },
  );

  it.each([
    ['a head without end', `content-disposition: form-data; name="${'a'.repeat(MB)}"\r\n\r\nb`],
    ['headers without end', `${'x: y\r\n'.repeat(100_000)}\r\nb`],
    ['a text without end', `content-disposition: form-data; name="a"\r\n\r\n${'b'.repeat(3 * MB)}`],
  ])('with %s is refused', async (_what, part) => {
    expectRefused(await post('/v1/files', form(part, 1)));
  });

  it('whose boundary is all there is is refused', async () => {
    expectRefused(await post('/v1/files', Buffer.from(`--${boundary}\r\n`.repeat(20_000))));
  });
});

describe('an answer of a provider', () => {
  const ROW = FAMILY_ROWS.findIndex(({ name }) => name === 'chat');
  const row = FAMILY_ROWS[ROW] as (typeof FAMILY_ROWS)[number];

  it.each(inTurn('bombs in an answer', PACKED))(
    verifies('routing.content-encoding', 'that unpacks to half a gigabyte is given up: %s'),
    async (encoding, bytes) => {
      const head = `HTTP/1.1 200 OK\r\ncontent-type: ${JSON_TYPE}\r\ncontent-encoding: ${encoding}\r\n`;
      const length = `content-length: ${bytes.length}\r\nconnection: close\r\n\r\n`;
      upstream.answer(Buffer.concat([Buffer.from(head + length), bytes]), 'close');
      const growth = await growthOf(async () => {
        const answer = await send(row.path('', false), row.body(`m/${ROW}`, false));
        expect([502, 503]).toContain(answer.status);
      });
      expect(growth).toBeLessThan(400 * MB);
    },
  );
});
