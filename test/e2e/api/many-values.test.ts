import { Buffer } from 'node:buffer';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verifies } from '../../requirements.ts';
import { IS_ALL } from '../../runs.ts';
import { COMPLETION, customProvider } from '../../support/chat.ts';
import { startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { startUpstream } from '../../support/stage/upstream.ts';
import type { Upstream } from '../../support/stage/upstream.ts';

const MINUTES = 60_000;
/** Bounds and what they let pass are an eighth of the defaults in a usual run. */
const PART = IS_ALL ? 1 : 8;
const LIMITS = IS_ALL ? {} : { body_values: 250_000 / PART, answer_values: 2_000_000 / PART };
const VECTORS = 2048 / PART;
const LENGTH = 3072;
const TOKENS = 16_000 / PART;
const USAGE = '"usage":{"prompt_tokens":4,"completion_tokens":2,"total_tokens":6}';

const manyOf = (text: string, count: number): string => `${`${text},`.repeat(count - 1)}${text}`;

function vectors(): Buffer {
  const vector = `[${manyOf('0.5', LENGTH)}]`;
  const data = Array.from(
    { length: VECTORS },
    (_, index) => `{"object":"embedding","index":${index},"embedding":${vector}}`,
  );
  return Buffer.from(`{"object":"list","model":"up","data":[${data.join(',')}],${USAGE}}`);
}

function logprobs(): Buffer {
  const top = '{"token":"a","logprob":-0.5,"bytes":[97]}';
  const token = `{"token":"a","logprob":-0.5,"bytes":[97],"top_logprobs":[${manyOf(top, 20)}]}`;
  const message = '{"role":"assistant","content":"a"}';
  const content = `[${manyOf(token, TOKENS)}]`;
  const choice = `{"index":0,"finish_reason":"stop","message":${message},"logprobs":{"content":${content}}}`;
  return Buffer.from(`{"id":"c","object":"chat.completion","choices":[${choice}],${USAGE}}`);
}

/** An answer that is right but for `count` values that nobody asked for. */
const swollen = (count: number): Buffer =>
  Buffer.from(JSON.stringify(COMPLETION).replace(/^\{/, `{"x":[${manyOf('{}', count)}],`));

let gateway: TestGateway;
let upstream: Upstream;
let answers: Record<string, Buffer>;

beforeAll(async () => {
  answers = {
    vectors: vectors(),
    logprobs: logprobs(),
    swollen: swollen(2_000_000 / PART),
    right: swollen(1),
  };
  upstream = await startUpstream((response, { body }) => {
    const name = /"model":"(\w+)"/.exec(body.subarray(0, 200).toString())?.[1] ?? '';
    const bytes = answers[name] ?? answers['right']!;
    response.writeHead(200, { 'content-type': 'application/json' }).end(bytes);
  });
  const protocols = { chat: true, embeddings: true };
  const provider = (name: string) => customProvider(name, upstream.url, { protocols });
  const route = (name: string, upstream_model: string, priority = 0) => ({
    provider: name,
    upstream_model,
    priority,
  });
  gateway = await startGateway({
    server: { limits: { body: '64MiB', ...LIMITS } },
    providers: [provider('one'), provider('two')],
    models: [
      { name: 'm/vectors', type: 'embedding', routes: [route('one', 'vectors')] },
      { name: 'm/logprobs', routes: [route('one', 'logprobs')] },
      { name: 'm/swollen', routes: [route('one', 'swollen')] },
      { name: 'm/either', routes: [route('one', 'swollen'), route('two', 'right', 1)] },
    ],
  });
}, MINUTES);

afterAll(async () => {
  await gateway.stop();
  await upstream.close();
}, MINUTES);

async function post(path: string, body: string): Promise<{ status: number; bytes: Buffer }> {
  const headers = {
    authorization: `Bearer ${gateway.clientKey}`,
    'content-type': 'application/json',
  };
  const response = await fetch(gateway.url + path, { method: 'POST', headers, body });
  return { status: response.status, bytes: Buffer.from(await response.arrayBuffer()) };
}

const say = '"messages":[{"role":"user","content":"hi"}],"max_tokens":64';

describe('many values', () => {
  it(
    verifies(
      'limits.values.number-arrays',
      'of vectors, tokens and log probabilities pass in requests and in answers',
    ),
    async () => {
      const tokens = `[${manyOf(`[${manyOf('7', LENGTH)}]`, VECTORS)}]`;
      const made = await post('/v1/embeddings', `{"model":"m/vectors","input":${tokens}}`);
      expect(made.status).toBe(200);
      expect(made.bytes.equals(answers['vectors']!)).toBe(true);
      const sent = upstream.seen.at(-1)?.body;
      expect(sent?.length).toBeGreaterThan(tokens.length);

      const spoken = await post('/v1/chat/completions', `{"model":"m/logprobs",${say}}`);
      expect(spoken.status).toBe(200);
      expect(spoken.bytes.equals(answers['logprobs']!)).toBe(true);
      const translated = await post('/v1/messages', `{"model":"m/logprobs",${say}}`);
      expect(translated.status).toBe(200);
      expect(JSON.parse(translated.bytes.toString()).content).toEqual([
        { type: 'text', text: 'a' },
      ]);
    },
    2 * MINUTES,
  );

  it(
    verifies(
      'limits.values.provider-answer',
      'of an answer that is translated or rebuilt lead to the next route, then to 502',
    ),
    async () => {
      const input = '"input":"hi"';
      for (const [path, body] of [
        ['/v1/messages', say],
        ['/v1/responses', input],
      ] as const) {
        const before = upstream.seen.length;
        const either = await post(path, `{"model":"m/either",${body}}`);
        expect([path, either.status, upstream.seen.length - before]).toEqual([path, 200, 2]);
        const alone = await post(path, `{"model":"m/swollen",${body}}`);
        const { error } = JSON.parse(alone.bytes.toString());
        expect([path, alone.status, error.type]).toEqual([path, 502, 'api_error']);
      }
      const forwarded = await post('/v1/chat/completions', `{"model":"m/swollen",${say}}`);
      expect(forwarded.status).toBe(200);
      expect(forwarded.bytes.equals(answers['swollen']!)).toBe(true);
    },
    2 * MINUTES,
  );
});
