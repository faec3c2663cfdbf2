import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { verifies } from '../../requirements.ts';
import { rawCall, toEvents } from './raw-call.ts';
import type { RawAnswer } from './raw-call.ts';
import { useMockServer } from './use-mock-server.ts';

type Reply = NonNullable<Parameters<typeof useMockServer>[0]>;

async function ask(reply: Reply, { stream = true } = {}): Promise<RawAnswer> {
  const { url } = await useMockServer(reply);
  return rawCall(`${url}/v1/chat/completions`, {
    body: { model: 'm', stream, messages: [{ role: 'user', content: 'hello' }] },
  });
}

const contents = (events: any[]): string[] =>
  events.map((event) => event.choices?.[0]?.delta.content).filter(Boolean);

describe('mock faults on a real socket: cuts', () => {
  it(verifies('mock.offline', 'cuts a stream in the middle of the text'), async () => {
    const { text, complete, status } = await ask({ text: 'one two three', cut_after: 2 });
    expect([status, complete]).toEqual([200, false]);
    expect(contents(toEvents(text))).toEqual(['one ', 'two ']);
    expect(text).not.toContain('[DONE]');
  });

  it(
    verifies('mock.offline', 'cuts a stream in the middle of the tool call arguments'),
    async () => {
      const { text, complete } = await ask({
        tool_calls: [{ name: 'f', arguments: { city: 'Oslo' } }],
        chunks: 4,
        cut_after: 3,
      });
      expect(complete).toBe(false);
      const calls = toEvents(text).flatMap((event) => event.choices[0].delta.tool_calls ?? []);
      expect(calls[0].function.name).toBe('f');
      const args = calls.map((call) => call.function.arguments).join('');
      expect('{"city":"Oslo"}'.startsWith(args)).toBe(true);
      expect(args).toHaveLength(7);
    },
  );

  it('cuts before the head', async () => {
    const { status, complete } = await ask({ cut_before: 'head' });
    expect([status, complete]).toEqual([undefined, false]);
  });

  it('cuts after the head and the lifecycle events, before any content', async () => {
    const { status, text, complete } = await ask({ cut_before: 'first_content' });
    expect([status, complete]).toEqual([200, false]);
    expect(toEvents(text)).toHaveLength(1);
    expect(contents(toEvents(text))).toEqual([]);
  });

  it('cuts after a number of bytes, within an event', async () => {
    const { chunks, complete } = await ask({ cut_after_bytes: 100 });
    expect([Buffer.concat(chunks).length, complete]).toEqual([100, false]);
  });

  it('cuts a body that is not a stream halfway', async () => {
    const { headers, text, complete } = await ask({ cut_after: 1 }, { stream: false });
    expect(complete).toBe(false);
    expect(text.length).toBe(Math.ceil(Number(headers['content-length']) / 2));
  });

  it('cuts a JSON array before it is closed', async () => {
    const { url } = await useMockServer({ text: 'one two', cut_after: 1 });
    const { text, complete } = await rawCall(`${url}/v1beta/models/m:streamGenerateContent`, {
      body: { contents: [] },
    });
    expect(complete).toBe(false);
    expect(JSON.parse(`${text}]`)).toHaveLength(1);
  });

  it('keeps what it cut and what the caller gave up apart', async () => {
    const server = await useMockServer({ cut_after: 0 });
    await rawCall(`${server.url}/v1/chat/completions`, { body: { model: 'm', messages: [] } });
    expect(server.engine.calls().map(({ outcome }) => outcome)).toEqual(['cut']);
  });
});

describe('mock faults on a real socket: time', () => {
  it(
    verifies('mock.offline', 'waits before the head and drips the pieces of the body'),
    async () => {
      const started = performance.now();
      const { chunks, complete } = await ask({
        chunks: ['a', 'b', 'c'],
        delay_ms: 40,
        chunk_delay_ms: 20,
      });
      // Role, three pieces, finish and [DONE] wait 20 ms each; timers may fire a little early.
      expect(performance.now() - started).toBeGreaterThan(140);
      expect(complete).toBe(true);
      expect(chunks.length).toBeGreaterThan(1);
    },
  );

  it('notices that the caller went away, and stops', async () => {
    const server = await useMockServer({ chunk_delay_ms: 600_000 });
    const controller = new AbortController();
    const answer = await fetch(`${server.url}/v1/chat/completions`, {
      method: 'POST',
      body: JSON.stringify({ model: 'm', stream: true, messages: [] }),
      signal: controller.signal,
    });
    expect(answer.status).toBe(200);
    controller.abort();
    await expect.poll(() => server.engine.calls()[0]?.outcome).toBe('aborted');
  });
});

describe('mock faults on a real socket: bytes', () => {
  it(verifies('mock.offline', 'frames events with LF, CRLF or CR'), async () => {
    const plain = await ask({ text: 'one two' });
    for (const [framing, end] of [
      ['crlf', '\r\n'],
      ['cr', '\r'],
    ] as const) {
      const framed = await ask({ text: 'one two', framing });
      expect(framed.text).toBe(plain.text.replaceAll('\n', end));
      expect(toEvents(framed.text)).toEqual(toEvents(plain.text));
    }
  });

  it('delivers pieces of n bytes, however they fall', async () => {
    const reply = { text: 'grüße 🌍', chunks: 3 } satisfies Reply;
    const whole = await ask(reply);
    const split = await ask({ ...reply, split_bytes: 7, chunk_delay_ms: 1 });
    expect(split.text).toBe(whole.text);
    expect(split.chunks.length).toBeGreaterThan(whole.chunks.length);
  });

  it('breaks the JSON of a body and of one event', async () => {
    const body = await ask({ malformed: true }, { stream: false });
    expect([body.status, body.complete]).toEqual([200, true]);
    expect(() => JSON.parse(body.text)).toThrow(SyntaxError);
    const stream = await ask({ malformed: true });
    expect(stream.complete).toBe(true);
    expect(() => toEvents(stream.text)).toThrow(SyntaxError);
  });

  it('compresses with gzip and br, event by event', async () => {
    const plain = await ask({ text: 'one two' });
    for (const [encoding, decode] of [
      ['gzip', gunzipSync],
      ['br', brotliDecompressSync],
    ] as const) {
      const coded = await ask({ text: 'one two', encoding, chunk_delay_ms: 5 });
      expect(coded.headers['content-encoding']).toBe(encoding);
      expect(decode(Buffer.concat(coded.chunks)).toString()).toBe(plain.text);
      expect(coded.chunks.length).toBeGreaterThan(1);
      const whole = await ask({ encoding }, { stream: false });
      expect(whole.headers).not.toHaveProperty('content-length');
      expect(JSON.parse(decode(Buffer.concat(whole.chunks)).toString()).object).toBe(
        'chat.completion',
      );
    }
  });

  it('cuts a compressed stream after what was sent', async () => {
    const { chunks, complete } = await ask({ text: 'one two', encoding: 'gzip', cut_after: 1 });
    expect(complete).toBe(false);
    const text = gunzipSync(Buffer.concat(chunks), { finishFlush: 2 }).toString();
    expect(contents(toEvents(text))).toEqual(['one ']);
  });

  it('leaves out the last event, and sends raw bytes as they are', async () => {
    const stream = await ask({ text: 'x', no_done: true });
    expect(stream.complete).toBe(true);
    expect(stream.text).not.toContain('[DONE]');
    const raw = await ask({
      raw: { body: ['data: {"a":1.0}\n\n', ': hi\n\n'], content_type: 'text/event-stream' },
    });
    expect(raw.text).toBe('data: {"a":1.0}\n\n: hi\n\n');
    const bytes = await ask({
      raw: { body: '/wA=', base64: true, content_type: 'a/b' },
      status: 418,
    });
    expect([bytes.status, bytes.headers['content-type']]).toEqual([418, 'a/b']);
    expect(Buffer.concat(bytes.chunks)).toEqual(Buffer.from([255, 0]));
  });
});

describe('mock faults on a real socket: head and members', () => {
  it(verifies('mock.offline', 'answers error statuses with and without Retry-After'), async () => {
    const without = await ask({ status: 429 });
    expect(without.status).toBe(429);
    expect(without.headers).not.toHaveProperty('retry-after');
    const dated = await ask({ status: 503, retry_after: 'Wed, 21 Oct 2026 07:28:00 GMT' });
    expect(dated.headers['retry-after']).toBe('Wed, 21 Oct 2026 07:28:00 GMT');
    expect(JSON.parse(dated.text).error).toMatchObject({ type: 'server_error' });
    expect((await ask({ error: { message: 'x' } })).status).toBe(500);
  });

  it('adds response headers, and private members to bodies and events', async () => {
    const reply = {
      headers: { 'Set-Cookie': ['a=1', 'b=2'], 'x-ratelimit-remaining': '3' },
      private_fields: { x_account: 'acct', cost: 1 },
    } satisfies Reply;
    const { headers, text } = await ask(reply);
    expect(headers['set-cookie']).toEqual(['a=1', 'b=2']);
    expect(headers['x-ratelimit-remaining']).toBe('3');
    for (const event of toEvents(text).slice(0, -1))
      expect(event).toMatchObject(reply.private_fields);
    expect(JSON.parse((await ask(reply, { stream: false })).text)).toMatchObject(
      reply.private_fields,
    );
  });

  it('adds private members to the response object inside an event', async () => {
    const { url } = await useMockServer({ private_fields: { x_account: 'acct' } });
    const { text } = await rawCall(`${url}/v1/responses`, {
      body: { model: 'm', input: 'x', stream: true },
    });
    expect(toEvents(text).at(-1)).toMatchObject({
      x_account: 'acct',
      response: { x_account: 'acct', status: 'completed' },
    });
  });

  it('leaves usage out, or reports what was scripted', async () => {
    const none = await ask({ usage: null }, { stream: false });
    expect(JSON.parse(none.text)).not.toHaveProperty('usage');
    const usage = {
      input_tokens: 100,
      cache_read_tokens: 20,
      output_tokens: 7,
      reasoning_tokens: 5,
    };
    const scripted = await ask({ usage }, { stream: false });
    expect(JSON.parse(scripted.text).usage).toMatchObject({
      prompt_tokens: 120,
      completion_tokens: 7,
      prompt_tokens_details: { cached_tokens: 20 },
      completion_tokens_details: { reasoning_tokens: 5 },
    });
  });
});
