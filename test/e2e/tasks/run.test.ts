import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startMockServer } from '../../../src/providers/mock/mock-server.ts';
import type { MockServer } from '../../../src/providers/mock/mock-server.ts';
import { verifies } from '../../requirements.ts';
import { customProvider } from '../../support/chat.ts';
import { eventually, startGateway } from '../../support/gateway.ts';
import type { Answer, TestGateway } from '../../support/gateway.ts';
import { createHastyClock } from '../../support/time/hasty-clock.ts';
import { sendJson, startUpstream } from '../../support/stage/upstream.ts';
import type { Upstream } from '../../support/stage/upstream.ts';

const ALL = { chat: true, embeddings: true, images: true, videos: true };
const HELLO = { messages: [{ role: 'user', content: 'hello' }] };
const RULES = [
  { match: { model: 'slow' }, reply: { delay_ms: 500, text: 'at last' } },
  { match: { model: 'strict' }, reply: { status: 400, error: { message: 'no such tone' } } },
  {
    match: { model: 'doomed' },
    reply: { status: 200, polls: 0, error: { message: 'too dark', code: 'dark' } },
  },
  { match: { model: 'film' }, reply: { polls: 1 } },
  { match: { model: 'chat' }, reply: { text: 'hello yourself' } },
];
const TYPES: Readonly<Record<string, string>> = {
  embed: 'embedding',
  picture: 'image',
  film: 'video',
  doomed: 'video',
  song: 'audio',
};
const SCHEMA = {
  type: 'object',
  properties: { messages: { type: 'array' }, tone: { enum: ['dry', 'warm'] } },
  required: ['messages', 'tone'],
  additionalProperties: false,
};

function config(mock: string, api: string): object {
  const model = (name: string, extra: object = {}): object => ({
    name: `v/${name}`,
    type: TYPES[name] ?? 'llm',
    pricing: { per_call: '0.5', per_second: '0.1' },
    routes: [{ provider: 'studio', upstream_model: name }],
    ...extra,
  });
  return {
    // Of a hasty clock.
    server: { limits: { interaction_wait: '200s' } },
    providers: [
      customProvider('studio', mock, { protocols: ALL }),
      customProvider('claude', mock, { protocols: { messages: true } }),
      customProvider('plain', api, { protocols: { chat: true } }),
      customProvider('gemini', mock, { protocols: { 'generate-content': true } }),
    ],
    models: [
      ...['chat', 'slow', 'strict', 'embed', 'picture', 'film', 'doomed', 'song'].map((name) =>
        model(name),
      ),
      model('toned', { schema: SCHEMA }),
      model('claude', { routes: [{ provider: 'claude' }] }),
      model('plain', { routes: [{ provider: 'plain' }] }),
      model('gemini', { routes: [{ provider: 'gemini' }] }),
    ],
    apis: [
      {
        name: 'weather',
        base_url: `${api}/base`,
        auth: { type: 'none' },
        pricing: { per_call: '0.25' },
      },
    ],
  };
}

describe('runs', () => {
  let mock: MockServer;
  let upstream: Upstream;
  let gateway: TestGateway;
  /** What the API answers, byte by byte. */
  let answerOf: (() => string) | undefined;

  beforeAll(async () => {
    mock = await startMockServer({ cassette: { rules: RULES } });
    upstream = await startUpstream((response, request) => {
      if (request.url.includes('missing'))
        return sendJson(response, 404, { error: 'no such city' });
      if (!answerOf) return sendJson(response, 200, { url: request.url, sky: 'blue' });
      response.writeHead(200, { 'content-type': 'application/json' }).end(answerOf());
    });
    gateway = await startGateway(config(mock.url, upstream.url), { clock: createHastyClock() });
  });
  afterAll(async () => {
    await gateway.stop();
    await upstream.close();
    await mock.close();
  });

  const run = (body: unknown, headers: Record<string, string> = {}): Promise<Answer> =>
    gateway.call('POST', '/v1/run', { body, headers });
  const get = (id: string, key?: string): Promise<Answer> =>
    gateway.call('GET', `/v1/run/${id}`, key === undefined ? {} : { key });
  const task = (id: string): Promise<Answer> => gateway.call('GET', `/v1/tasks/${id}`);
  const ended = (id: string): Promise<Answer> =>
    eventually(async () => {
      const answer = await get(id);
      return ['succeeded', 'failed'].includes(answer.body.status) && answer;
    });

  it(
    verifies(
      'run.create.accepts',
      'run.create.sync-200',
      'answer with the whole run when it ends within the wait',
    ),
    async () => {
      const answer = await run({ model: 'v/chat', input: HELLO });
      expect(answer.status, JSON.stringify(answer.body)).toBe(200);
      expect(answer.body).toEqual({
        id: expect.stringMatching(/^run_/),
        object: 'run',
        model: 'v/chat',
        status: 'succeeded',
        output: expect.objectContaining({ object: 'chat.completion' }),
        error: null,
        usage: expect.objectContaining({ output_tokens: expect.any(Number) }),
        created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
        completed_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
      });
      expect(answer.body.output.choices[0].message.content).toBe('hello yourself');
      expect((await get(answer.body.id)).body).toEqual(answer.body);
      const failed = await run({ model: 'v/strict', input: HELLO });
      expect(failed.status).toBe(200);
      expect(failed.body).toMatchObject({
        status: 'failed',
        output: null,
        error: { code: 'upstream_rejected', message: expect.stringContaining('no such tone') },
      });
      expect((await get(failed.body.id)).body).toEqual(failed.body);
    },
  );

  it(
    verifies(
      'run.create.async-202',
      'run.get.result',
      'answer 202 at once, or when the wait is over',
    ),
    async () => {
      const ways: [object, Record<string, string>][] = [
        [{ async: true }, {}],
        [{}, { prefer: 'respond-async' }],
        [{}, { prefer: 'respond-async, wait=0' }],
        [{}, { prefer: 'wait=1' }],
      ];
      const follow = async ([extra, headers]: (typeof ways)[number]): Promise<void> => {
        const answer = await run({ model: 'v/slow', input: HELLO, ...extra }, headers);
        expect(answer.status, JSON.stringify(answer.body)).toBe(202);
        const { id, status } = answer.body;
        expect(['queued', 'running']).toContain(status);
        expect(answer.headers.get('location')).toBe(`/v1/run/${id}`);
        expect(answer.body).toMatchObject({ object: 'run', output: null, completed_at: null });
        const last = await ended(id);
        expect(last.body).toMatchObject({ id, status: 'succeeded', model: 'v/slow' });
        expect(last.body.output.choices[0].message.content).toBe('at last');
      };
      await Promise.all(ways.map(follow));
    },
  );

  it(
    verifies(
      'run.create.accepts',
      'run.get.result',
      'run models of every type and APIs by one shape',
    ),
    async () => {
      const cases: [string, object, object][] = [
        ['v/claude', { ...HELLO, max_tokens: 50 }, { type: 'message' }],
        [
          'v/gemini',
          { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] },
          { candidates: expect.any(Array) },
        ],
        ['v/embed', { input: 'a text' }, { object: 'list' }],
        ['v/picture', { prompt: 'a fox' }, { data: expect.any(Array) }],
        [
          'v/film',
          { prompt: 'a fox', seconds: '4' },
          {
            object: 'video',
            status: 'completed',
            content_url: expect.stringMatching(/^\/v1\/videos\/video_\w+\/content$/),
          },
        ],
        [
          'v/film',
          { content: [{ type: 'text', text: 'a fox' }] },
          { object: 'video', status: 'completed' },
        ],
        [
          'weather',
          { path: '/now', query: 'city=Oslo' },
          { status: 200, body: { url: '/base/now?city=Oslo', sky: 'blue' } },
        ],
        ['weather', { path: 'now', body: { a: 1 } }, { status: 200, body: { sky: 'blue' } }],
      ];
      const follow = async ([model, input, output]: (typeof cases)[number]): Promise<void> => {
        const made = await run({ model, input, async: true });
        expect(made.status, JSON.stringify(made.body)).toBe(202);
        const last = await ended(made.body.id);
        expect(last.body, JSON.stringify(last.body)).toMatchObject({ status: 'succeeded', output });
      };
      await Promise.all(cases.map(follow));
      expect(upstream.seen.map(({ body }) => body.toString())).toContain('{"a":1}');
      const refused = await run({ model: 'weather', input: { path: 'missing' } });
      expect(refused.body).toMatchObject({
        status: 'failed',
        output: { status: 404, body: { error: 'no such city' } },
        error: { code: 'upstream_rejected' },
      });
    },
  );

  it(
    verifies('run.create.sync-200', 'pass the bytes of numbers on in both directions'),
    async () => {
      const numbers = '{ "n": 1.0, "id": 12345678901234567890 }';
      answerOf = (): string => `{"echo":${numbers}}`;
      const answer = await fetch(`${gateway.url}/v1/run`, {
        method: 'POST',
        headers: { authorization: `Bearer ${gateway.clientKey}` },
        body: `{"model":"weather","input":{"body":${numbers},"path":"x"}}`,
      });
      answerOf = undefined;
      expect(upstream.seen.at(-1)?.body.toString()).toBe(numbers);
      expect(await answer.text()).toContain(`"body":{"echo":${numbers}}`);
      const input = `{"messages":[{"role":"user","content":"hi"}],"seed":12345678901234567890}`;
      await run(`{"input":${input},"model":"v/plain"}`);
      expect(upstream.seen.at(-1)?.body.toString()).toContain('"seed":12345678901234567890');
    },
  );

  it(verifies('run.create.body', 'refuse what is no run, before anything is sent'), async () => {
    const input = HELLO;
    const before = upstream.seen.length;
    const refused: [unknown, string][] = [
      [{ input }, 'model'],
      [{ model: 7, input }, 'model'],
      [{ model: 'v/chat' }, 'input'],
      [{ model: 'v/chat', input: 'hello' }, 'input'],
      [{ model: 'v/chat', input: [] }, 'input'],
      [{ model: 'v/chat', input, stream: true }, 'stream'],
      [{ model: 'v/chat', input, async: 'yes' }, 'async'],
      [{ model: 'v/chat', input, webhook_url: 7 }, 'webhook_url'],
      [{ model: 'v/chat', input: { ...input, model: 'v/slow' } }, 'input.model'],
      [{ model: 'v/chat', input: { ...input, stream: true } }, 'input.stream'],
      [{ model: 'v/film', input: {} }, 'prompt'],
      [{ model: 'v/toned', input }, 'tone'],
      [{ model: 'v/toned', input: { ...input, tone: 'loud' } }, 'input.tone'],
      [{ model: 'v/toned', input: { ...input, tone: 'dry', extra: 1 } }, 'extra'],
      [{ model: 'weather', input: { path: 'x', city: 'Oslo' } }, 'city'],
      [{ model: 'weather', input: { path: 'x', method: 'DELETE' } }, 'input.method'],
      ['{"model":"v/chat","model":"v/slow","input":{}}', 'model'],
      ['{', 'JSON'],
    ];
    for (const [body, named] of refused) {
      const answer = await run(body);
      expect(answer.status, JSON.stringify([body, answer.body])).toBe(400);
      expect(answer.body).toEqual({ error: expect.stringContaining(named) });
    }
    expect((await run({ model: 'v/none', input })).status).toBe(404);
    expect((await run({ model: 'v/song', input })).status).toBe(404);
    expect((await run({ model: 'v/toned', input: { ...input, tone: 'dry' } })).status).toBe(200);
    expect(upstream.seen.length).toBe(before);
  });

  it(
    verifies(
      'run.get.result',
      'tasks.lookup',
      'show runs and tasks to their own organization alone',
    ),
    async () => {
      const made = await run({ model: 'v/chat', input: HELLO });
      const organization = await gateway.admin('POST', '/admin/v1/organizations', {
        name: 'other',
      });
      const other = await gateway.admin('POST', '/admin/v1/keys', {
        name: 'other',
        organization: organization.body.id,
      });
      const key = other.body.value;
      const { id } = made.body;
      expect((await get(id, key)).status).toBe(404);
      expect((await get('run_none')).status).toBe(404);
      expect((await gateway.call('GET', '/v1/run/x/y')).status).toBe(404);
      expect((await gateway.call('GET', `/v1/tasks/${id}`, { key })).status).toBe(404);
      expect((await gateway.call('GET', '/v1/tasks/req_none')).status).toBe(404);
      expect((await gateway.call('GET', '/v1/tasks/nothing')).status).toBe(404);
      expect((await get(id)).status).toBe(200);
      const limited = await gateway.admin('POST', '/admin/v1/keys', {
        name: 'chatter',
        scopes: ['inference'],
      });
      expect((await get(id, limited.body.value)).body).toEqual({ error: 'insufficient_scope' });
    },
  );

  it(
    verifies(
      'tasks.lookup',
      'tell what became of the money of a run, a video task and a prediction',
    ),
    async () => {
      const [chat, failed, film, dark, weather] = await Promise.all([
        run({ model: 'v/chat', input: HELLO }),
        run({ model: 'v/strict', input: HELLO }),
        run({ model: 'v/film', input: { prompt: 'a fox', seconds: '4' } }),
        run({ model: 'v/doomed', input: { prompt: 'a cave' } }),
        run({ model: 'weather', input: { path: '/now' } }),
      ]);
      expect((await task(chat.body.id)).body).toEqual({
        id: chat.body.id,
        object: 'task',
        type: 'run',
        model: 'v/chat',
        status: 'succeeded',
        settlement: 'settled',
        usage: chat.body.usage,
        cost: '0.50',
        currency: 'USD',
        created_at: chat.body.created_at,
      });
      expect((await task(failed.body.id)).body).toMatchObject({
        status: 'failed',
        settlement: 'released',
        cost: '0.00',
      });
      const open = await run({ model: 'v/slow', input: HELLO, async: true });
      expect((await task(open.body.id)).body).toMatchObject({ settlement: 'reserved' });
      expect(film.body.status).toBe('succeeded');
      const paid = { settlement: 'settled', cost: '0.90', usage: { seconds: 4 } };
      expect((await task(film.body.id)).body).toMatchObject({ type: 'run', ...paid });
      expect((await task(film.body.output.id)).body).toMatchObject({ type: 'video', ...paid });
      expect(dark.body).toMatchObject({ status: 'failed', error: { code: 'dark' } });
      expect((await task(dark.body.id)).body).toMatchObject({ settlement: 'released' });
      const called = await gateway.chat('v/chat');
      const request = called.headers.get('x-request-id') ?? '';
      const prediction = await eventually(async () => {
        const { status, body } = await task(request);
        return status === 200 && body.settlement === 'settled' && body;
      });
      expect(prediction).toMatchObject({ type: 'prediction', model: 'v/chat', cost: '0.50' });
      expect((await task(weather.body.id)).body).toMatchObject({ cost: '0.25' });
    },
  );

  it('hold a run to the limits of its key, and charge it once', async () => {
    const made = await gateway.admin('POST', '/admin/v1/keys', {
      name: 'poor',
      spending_limit: '0.7',
      concurrency_cap: 1,
    });
    const key = made.body.value;
    const ask = (extra: object = {}): Promise<Answer> =>
      gateway.call('POST', '/v1/run', {
        key,
        body: { model: 'v/chat', input: { ...HELLO, max_tokens: 1 }, ...extra },
      });
    expect((await ask()).body).toMatchObject({ status: 'succeeded' });
    // The second call does not fit into what is left.
    const second = await ask();
    expect(second.body).toMatchObject({ error: { code: 'key_spending_limit' } });
  });
});
