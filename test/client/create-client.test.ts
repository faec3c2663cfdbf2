import { afterEach, describe, expect, it } from 'vitest';
import { createClient } from '../../src/client/create-client.ts';
import { collect } from '../../src/client/http/pages.ts';
import { verifies } from '../requirements.ts';
import { startFakeServer, type FakeServer, type Handler } from './fake-server.ts';
import { instantClock } from './instant-clock.ts';

let server: FakeServer | undefined;
afterEach(() => server?.close());

async function open(handler: Handler, options = {}) {
  server = await startFakeServer(handler);
  const clock = instantClock();
  const client = createClient({
    baseUrl: server.url,
    apiKey: 'sk-test',
    clock,
    random: () => 0,
    ...options,
  });
  return { client, clock, calls: server.calls };
}

const resource = (n: number) => ({ id: `model_${n}`, type: 'model', name: `m${n}`, version: 1 });

describe('client', () => {
  it('sends the key as a bearer token and JSON bodies', async () => {
    const { client, calls } = await open(() => ({ status: 201, body: resource(1) }));
    await client.admin('models').create({ name: 'm1' });
    expect(calls[0]).toMatchObject({
      method: 'POST',
      path: '/admin/v1/models',
      body: { name: 'm1' },
    });
    expect(calls[0]?.headers).toMatchObject({
      authorization: 'Bearer sk-test',
      'content-type': 'application/json',
    });
  });

  it('escapes names with slashes in a path', async () => {
    const { client, calls } = await open(() => ({ body: resource(1) }));
    await client.admin('models').get('acme/fast');
    expect(calls[0]?.url).toBe('/admin/v1/models/acme%2Ffast');
  });

  it('follows every next_page, 250 objects at 100 a page', async () => {
    const all = Array.from({ length: 250 }, (_, n) => resource(n));
    const { client, calls } = await open(({ query }) => {
      const from = Number(query.get('page') ?? 0);
      const next = from + 100;
      return {
        body: { data: all.slice(from, next), next_page: next < 250 ? String(next) : null },
      };
    });
    const items = await collect(client.admin('models').list());
    expect(items.map((item) => item.id)).toEqual(all.map((item) => item.id));
    expect(calls).toHaveLength(3);
  });

  it('treats a repeated cursor as an error', async () => {
    const { client } = await open(() => ({ body: { data: [resource(1)], next_page: 'again' } }));
    await expect(collect(client.admin('models').list())).rejects.toMatchObject({
      code: 'invalid_response',
      message: expect.stringContaining('repeated'),
    });
  });

  it(
    verifies('cli.http.retry-rules', 'repeats a GET after 503 and 429 until it succeeds'),
    async () => {
      const answers = [503, 429, 200];
      const { client, clock, calls } = await open(() => {
        const status = answers.shift() ?? 200;
        return {
          status,
          body: status === 200 ? { data: [] } : { error: 'busy' },
          headers: { 'retry-after': '2' },
        };
      });
      expect(await client.models.list()).toEqual([]);
      expect(calls).toHaveLength(3);
      expect(clock.pauses).toEqual([2000, 2000]);
    },
  );

  it(verifies('cli.http.retry-rules', 'sends a failed call with side effects once'), async () => {
    const { client, calls } = await open(() => ({ status: 503, body: { error: 'busy' } }));
    await expect(client.admin('keys').create({ name: 'a' })).rejects.toMatchObject({ status: 503 });
    expect(calls).toHaveLength(1);
  });

  it('takes the 404 of a repeated delete for success', async () => {
    const answers = [502, 404];
    const { client, calls } = await open(() => ({
      status: answers.shift() ?? 500,
      body: { error: 'x' },
    }));
    await client.admin('models').delete('m1');
    expect(calls).toHaveLength(2);
  });

  it.each([
    [{ error: 'invalid API key' }, 401, 'invalid_api_key', 'invalid API key'],
    [
      { error: { type: 'invalid_request', message: 'name is required' } },
      400,
      'invalid_request',
      'name is required',
    ],
    [
      { error: { message: 'no', type: 't', code: 'model_not_found', param: null } },
      404,
      'model_not_found',
      'no',
    ],
    [{ error: { code: 404, message: 'gone', status: 'NOT_FOUND' } }, 404, 'NOT_FOUND', 'gone'],
    ['<html>', 400, 'http_400', 'the server answered with status 400'],
  ])('reads the error shape %j', async (...row) => {
    const [body, status, code, message] = row;
    const { client } = await open(() => ({ status, body }));
    await expect(client.models.get('m')).rejects.toMatchObject({
      status,
      code,
      message,
      requestId: 'req_1',
    });
  });

  it('says when nobody listens', async () => {
    const { client } = await open(() => undefined);
    await server?.close();
    await expect(client.models.list()).rejects.toMatchObject({ code: 'unreachable' });
  });

  it('gives a call up when its time is over', async () => {
    const { client } = await open(() => undefined, { timeoutMs: 20 });
    await expect(client.models.list()).rejects.toMatchObject({ code: 'timeout' });
  });

  it('stops when the caller aborts', async () => {
    const { client } = await open(() => undefined);
    await expect(
      client.raw({ method: 'GET', path: '/x', signal: AbortSignal.abort() }),
    ).rejects.toMatchObject({
      code: 'aborted',
    });
  });

  it('refuses an answer that is no gateway answer', async () => {
    const { client } = await open(() => ({ body: { hello: 'world' } }));
    await expect(client.models.list()).rejects.toMatchObject({ code: 'invalid_response' });
  });

  it('follows no redirect, since it would carry the key elsewhere', async () => {
    const { client, calls } = await open(() => ({
      status: 302,
      headers: { location: '/elsewhere' },
    }));
    await expect(client.models.list()).rejects.toMatchObject({ status: 302 });
    expect(calls).toHaveLength(1);
  });
});

describe('chat', () => {
  const stream =
    (parts: string[]): Handler =>
    (_call, res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream', 'x-request-id': 'req_s' });
      for (const part of parts) res.write(part);
      res.end();
      return undefined;
    };
  const ask = { model: 'm', messages: [{ role: 'user' as const, content: 'hi' }] };
  const delta = (content: string) =>
    `data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`;

  async function read(handler: Handler): Promise<string> {
    const { client } = await open(handler);
    let text = '';
    for await (const event of await client.chat.stream(ask)) text += event.text;
    return text;
  }

  it('yields the text of every event until [DONE]', async () => {
    const parts = [
      ': ping\n\n',
      delta('he'),
      delta('llo').replaceAll('\n', '\r\n'),
      'data: [DONE]\n\n',
      delta('no'),
    ];
    expect(await read(stream(parts))).toBe('hello');
  });

  it('gives the same text wherever the stream is split', async () => {
    const whole = Buffer.from(
      `${delta('grüße ')}${delta('🌍').replaceAll('\n', '\r\n')}data: [DONE]\n\n`,
    );
    for (let at = 1; at < whole.length; at += 3) {
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          controller.enqueue(whole.subarray(0, at));
          controller.enqueue(whole.subarray(at));
          controller.close();
        },
      });
      const fetch = () => Promise.resolve(new Response(body));
      const client = createClient({ baseUrl: 'http://fake', clock: instantClock(), fetch });
      let text = '';
      for await (const event of await client.chat.stream(ask)) text += event.text;
      expect(text).toBe('grüße 🌍');
    }
  });

  it('throws the error that the server tells inside the stream', async () => {
    const error = { message: 'lost', type: 'server_error', code: 'upstream_interrupted' };
    await expect(
      read(stream([delta('he'), `data: ${JSON.stringify({ error })}\n\n`])),
    ).rejects.toMatchObject({
      code: 'upstream_interrupted',
      message: 'lost',
      requestId: 'req_s',
    });
  });

  it('takes an end without [DONE] for a cut answer', async () => {
    await expect(read(stream([delta('he')]))).rejects.toMatchObject({ code: 'connection_lost' });
  });

  it('answers in one piece without streaming', async () => {
    const body = { choices: [{ message: { content: 'hello' } }] };
    const { client, calls } = await open(() => ({ body }));
    expect(await client.chat.create(ask)).toMatchObject({ text: 'hello', requestId: 'req_1' });
    expect(calls[0]?.body).toEqual(ask);
  });
});

describe('a Session that is tailed', () => {
  const event = (id: string, type: string) => ({ id, type, processed_at: '2026-11-21T10:00:00Z' });

  it('is asked for what comes behind the last event, when the stream breaks off', async () => {
    const { client, calls } = await open((call, res) => {
      if (!call.path.endsWith('/stream')) return { body: { data: [], next_page: null } };
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      const isFirst = call.headers['last-event-id'] === undefined;
      const told = isFirst
        ? event('sevt_1', 'user.message')
        : event('sevt_2', 'session.status_idle');
      res.write(`id: ${told.id}\nevent: ${told.type}\ndata: ${JSON.stringify(told)}\n\n`);
      res.end();
      return undefined;
    });
    const seen: string[] = [];
    for await (const { id } of client.sessions.tail('sess_1', { untilRest: true })) seen.push(id);
    expect(seen).toEqual(['sevt_1', 'sevt_2']);
    const streams = calls.filter(({ path }) => path.endsWith('/stream'));
    expect(streams.map(({ headers }) => headers['last-event-id'])).toEqual([undefined, 'sevt_1']);
  });
});
