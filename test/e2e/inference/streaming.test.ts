import type { ServerResponse } from 'node:http';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { APIError } from 'openai';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { RequestRecord } from '../../../src/usage/requests/request-record.ts';
import { verifies } from '../../requirements.ts';
import {
  CHAT_PATH,
  chatBody,
  chunk,
  customProvider,
  openaiClient,
  orderedModel,
  payloads,
  streamedText,
} from '../../support/chat.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { eventually, startGateway } from '../../support/gateway.ts';
import type { StartGatewayOptions, TestGateway } from '../../support/gateway.ts';
import { askRaw, openRaw, sendRaw } from '../../support/raw-client.ts';
import { beginEvents, sendJson, startUpstream } from '../../support/stage/upstream.ts';
import type { SeenRequest, Upstream } from '../../support/stage/upstream.ts';

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

interface Site {
  gateway: TestGateway;
  upstream: Upstream;
}

/** A gateway whose model `m/a` is served by a provider that does as told. */
async function siteOf(
  play: (response: ServerResponse, request: SeenRequest) => void | Promise<void>,
  { model = {}, ...options }: StartGatewayOptions & { model?: object } = {},
): Promise<Site> {
  const upstream = await startUpstream(play);
  cleanups.push(() => upstream.close());
  const config = {
    providers: [customProvider('a', upstream.url)],
    models: [orderedModel('m/a', ['a'], model)],
  };
  const gateway = await startGateway(config, options);
  cleanups.push(() => gateway.stop());
  return { gateway, upstream };
}

const request = (gateway: TestGateway, extra: object = {}) => ({
  key: gateway.clientKey,
  body: chatBody('m/a', { stream: true, ...extra }),
});

const recordOf = (gateway: TestGateway, id: unknown) =>
  eventually(async () => {
    const { body } = await gateway.admin('GET', `/admin/v1/requests/${String(id)}`);
    const record = body as RequestRecord;
    return record.result === 'pending' ? undefined : record;
  });

const END = `${chunk({}, 'stop')}data: [DONE]\n\n`;

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe('events', () => {
  const EVENTS = [
    {
      id: 'c',
      object: 'chat.completion.chunk',
      choices: [{ index: 0, delta: { role: 'assistant' } }],
    },
    {
      id: 'c',
      object: 'chat.completion.chunk',
      choices: [{ index: 0, delta: { content: 'ä€😀' } }],
    },
    { id: 'c', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
  ].map((event) => JSON.stringify(event));
  const fixture = (events: readonly string[], end = '\n', blank = ' '): Buffer =>
    Buffer.from([...events, '[DONE]'].map((data) => `data:${blank}${data}${end}${end}`).join(''));

  /** Plays what the request's `play` member asks for: the framing, and where the bytes are cut. */
  const byRequest = async (response: ServerResponse, { body }: SeenRequest): Promise<void> => {
    const { play } = JSON.parse(body.toString()) as {
      play: { end: string; blank: string; at: number; every: number; large: boolean };
    };
    const events = play.large ? withLarge() : EVENTS;
    const bytes = fixture(events, play.end, play.blank);
    beginEvents(response);
    response.socket?.setNoDelay(true);
    const step = play.every || bytes.length;
    const cuts = [
      play.at,
      ...Array.from({ length: Math.ceil(bytes.length / step) }, (_, i) => (i + 1) * step),
    ];
    let from = 0;
    for (const to of cuts) {
      response.write(bytes.subarray(from, to));
      from = Math.max(from, to);
      await new Promise(setImmediate);
    }
    response.end();
  };
  /** The same with an event of 100 KB in the middle. */
  const withLarge = (): string[] => EVENTS.map((event, i) => (i === 1 ? LARGE : event));
  const LARGE = JSON.stringify({
    choices: [{ index: 0, delta: { content: 'ü'.repeat(50_000) } }],
  });

  it(
    verifies(
      'stream.sse.chunk-boundaries',
      'come out the same however their bytes are cut and whatever their line ends are',
    ),
    async () => {
      const { gateway } = await siteOf(byRequest);
      const play = async (how: object): Promise<string> => {
        const whole = { end: '\n', blank: ' ', at: 0, every: 0, large: false, ...how };
        return (
          await askRaw(gateway.url + CHAT_PATH, request(gateway, { play: whole }))
        ).body.toString();
      };
      const expected = fixture(EVENTS).toString();
      expect(await play({})).toBe(expected);
      // The unit of the frames is cut at each byte; here the ends of events and what is around them.
      const cuts = [...expected.matchAll(/\n\n/g)].flatMap(({ index }) => {
        const end = Buffer.byteLength(expected.slice(0, index + 2));
        return [-2, -1, 0, 1].map((shift) => ({ at: end + shift }));
      });
      const framings = ['\n', '\r\n', '\r'].flatMap((end) =>
        ['', ' '].flatMap((blank) => [1, 2, 7, 64].map((every) => ({ end, blank, every }))),
      );
      const waiting: { end?: string; blank?: string; at?: number }[] = [...cuts, ...framings];
      const worker = async (): Promise<void> => {
        for (let how = waiting.pop(); how; how = waiting.pop()) {
          // What is forwarded keeps the line ends and blanks that came.
          const framed = fixture(EVENTS, how.end, how.blank).toString();
          expect([how, await play(how)]).toEqual([how, framed]);
        }
      };
      await Promise.all(Array.from({ length: 8 }, worker));
      for (const end of ['\n', '\r\n', '\r']) {
        const large = fixture(withLarge(), end).toString();
        expect((await play({ large: true, end, every: 1_000 })) === large).toBe(true);
      }
    },
  );

  it(
    verifies(
      'stream.sse.no-buffering',
      'reach the client as they are sent, marked as not to be held',
    ),
    async () => {
      let client: Awaited<ReturnType<typeof openRaw>> | undefined;
      const seen: number[] = [];
      const { gateway } = await siteOf(async (response) => {
        beginEvents(response);
        for (const i of [0, 1, 2, 3, 4, 5]) {
          response.write(chunk({ content: `${i}` }));
          const arrives = eventually(() => client?.text().includes(`"content":"${i}"`));
          if (!(await arrives.catch(() => false))) break;
          seen.push(i);
        }
        response.end(END);
      });
      client = await openRaw(gateway.url + CHAT_PATH, request(gateway));
      expect(client.headers).toMatchObject({
        'cache-control': 'no-cache',
        'x-accel-buffering': 'no',
      });
      await client.ended;
      expect(seen).toEqual([0, 1, 2, 3, 4, 5]);
    },
  );

  it(
    verifies(
      'stream.sse.no-buffering',
      'are followed by a comment every fifteen seconds of silence',
    ),
    async () => {
      const clock = createFakeClock();
      const { gateway } = await siteOf(
        (response) => {
          beginEvents(response);
          response.write(chunk({ content: 'thinking' }));
        },
        { clock },
      );
      const stream = await openRaw(gateway.url + CHAT_PATH, request(gateway));
      await eventually(() => stream.text().includes('thinking'));
      const comments = (): number => stream.text().split(': keep-alive\n\n').length - 1;
      for (const count of [1, 2, 3]) {
        clock.advance(15_000);
        await eventually(() => comments() === count);
      }
      stream.destroy();
      await stream.ended;
    },
  );
});

describe('a client that reads slowly', () => {
  const PIECE = chunk({ content: 'x'.repeat(60_000) });
  const PIECES = 500;
  const STREAMS = 8;

  it(
    verifies('stream.backpressure', 'stops the provider, costs little memory and loses nothing'),
    async () => {
      let sent = 0;
      const { gateway } = await siteOf(async (response) => {
        beginEvents(response);
        for (let i = 0; i < PIECES && !response.destroyed; i++) {
          sent += PIECE.length;
          if (!response.write(PIECE)) await room(response);
        }
        response.end(END);
      });
      const before = await memory();
      const streams = await Promise.all(
        Array.from({ length: STREAMS }, async () => {
          const stream = await openRaw(gateway.url + CHAT_PATH, request(gateway));
          stream.response.pause();
          return stream;
        }),
      );
      let last = -1;
      await eventually(async () => {
        await pause(100);
        const isStill = last === sent;
        last = sent;
        return isStill;
      });
      expect(sent).toBeLessThan(STREAMS * PIECES * PIECE.length * 0.7);
      // The provider and the clients live in this process too, so this is more than the gateway holds;
      // and the engine gives back the buffers of dead objects when it gets to it.
      await eventually(async () => ((await memory()) - before) / STREAMS < 1024 * 1024);
      const [slow, ...others] = streams;
      for (const other of others) other.destroy();
      slow?.response.resume();
      await slow?.ended;
      expect(slow?.text() === PIECE.repeat(PIECES) + END).toBe(true);
    },
  );

  function room(response: ServerResponse): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        response.off('drain', done).off('close', done);
        resolve();
      };
      response.on('drain', done).on('close', done);
    });
  }

  async function memory(): Promise<number> {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    collect();
    await pause(100);
    collect();
    return process.memoryUsage().arrayBuffers;
  }
});

describe('a provider that dies', () => {
  const TOOL = {
    tool_calls: [
      { index: 0, id: 'call_1', type: 'function', function: { name: 'f', arguments: '' } },
    ],
  };
  const more = (text: string) => ({ tool_calls: [{ index: 0, function: { arguments: text } }] });
  const deaths: [string, string[]][] = [
    [
      'in the middle of a text',
      [chunk({ role: 'assistant', content: '' }), chunk({ content: 'Once' })],
    ],
    ['in the middle of a tool call', [chunk(TOOL), chunk(more('{"city":')), chunk(more('"Os'))]],
    [
      'in the middle of an event',
      [chunk({ content: 'Once' }), 'data: {"choices":[{"index":0,"del'],
    ],
  ];

  it.each(deaths)(
    verifies(
      'stream.upstream-death',
      'chat.stream.error-in-band',
      'errors.stream-failure.in-band',
      '%s ends the stream with an error and without its end mark',
    ),
    async (_name, events) => {
      const { gateway } = await siteOf(async (response) => {
        beginEvents(response);
        for (const event of events) {
          response.write(event);
          await pause(5);
        }
        response.socket?.destroy();
      });
      const answer = await askRaw(gateway.url + CHAT_PATH, request(gateway));
      expect([answer.status, answer.complete]).toEqual([200, true]);
      const text = answer.body.toString();
      const error =
        '{"error":{"message":"the provider failed during the stream","type":"api_error","param":null,"code":"upstream_interrupted"}}';
      expect(payloads(text).at(-1)).toBe(error);
      expect(text.endsWith(`data: ${error}\n\n`)).toBe(true);
      expect(text).not.toContain('[DONE]');
      expect(text).not.toContain('"finish_reason":"');

      const client = openaiClient(gateway);
      const seen: string[] = [];
      const failed = await (async () => {
        const stream = await client.chat.completions.create({
          model: 'm/a',
          stream: true,
          messages: [{ role: 'user', content: 'hello' }],
        });
        for await (const part of stream) seen.push(part.id);
      })().catch((thrown: unknown) => thrown);
      expect(failed).toBeInstanceOf(APIError);
      expect((failed as APIError).code).toBe('upstream_interrupted');
      expect(seen.length).toBeGreaterThan(0);
    },
  );

  it(
    verifies(
      'stream.upstream-death',
      'errors.x-should-retry',
      'before its first event gives a plain error',
    ),
    async () => {
      const { gateway } = await siteOf((response) => {
        beginEvents(response);
        setImmediate(() => response.socket?.destroy());
      });
      const answer = await askRaw(gateway.url + CHAT_PATH, request(gateway));
      expect(answer.status).toBe(503);
      expect(answer.headers['content-type']).toBe('application/json');
      expect(answer.headers['x-should-retry']).toBe('false');
    },
  );

  it('leaves a record of what was delivered, as interrupted', async () => {
    const { gateway } = await siteOf((response) => {
      beginEvents(response);
      response.write(chunk({ content: 'Once upon a time' }), () => response.socket?.destroy());
    });
    const answer = await askRaw(gateway.url + CHAT_PATH, request(gateway));
    const record = await recordOf(gateway, answer.headers['x-request-id']);
    expect(record).toMatchObject({ status: 200, result: 'interrupted', estimated: true });
    expect(record.usage.output_tokens).toBeGreaterThan(0);
  });
});

describe('a client that leaves', () => {
  const PRICED = { pricing: { input: '1', output: '2' } };

  it(
    verifies(
      'stream.client-abort.cancels-upstream',
      'store.ledger.abort',
      'in the middle of a stream ends it upstream and is charged for what it got, once',
    ),
    async () => {
      const { gateway, upstream } = await siteOf(
        (response) => {
          beginEvents(response);
          let sent = 0;
          const timer = setInterval(() => {
            if (sent++ < 5) response.write(chunk({ content: 'twelve chars' }));
          }, 5);
          response.on('close', () => clearInterval(timer));
        },
        { model: PRICED },
      );
      const stream = await openRaw(gateway.url + CHAT_PATH, request(gateway));
      await eventually(() => streamedText(stream.text()).length === 60);
      const left = performance.now();
      stream.destroy();
      const abortedAt = await eventually(() => upstream.seen[0]?.abortedAt);
      expect(abortedAt - left).toBeLessThan(500);
      const record = await recordOf(gateway, stream.headers['x-request-id']);
      expect(record).toMatchObject({ status: 499, result: 'aborted', estimated: true });
      expect(record.usage.input_tokens).toBeGreaterThan(0);
      expect(record.usage.output_tokens).toBeGreaterThanOrEqual(15);
      expect(Number(record.cost)).toBeGreaterThan(0);
      const all = await gateway.admin('GET', '/admin/v1/requests');
      expect(all.body.data).toHaveLength(1);
    },
  );

  it(
    verifies(
      'stream.client-abort.cancels-upstream',
      'before an answer ends the call upstream and pays nothing',
    ),
    async () => {
      for (const stream of [false, true]) {
        const { gateway, upstream } = await siteOf(() => undefined, { model: PRICED });
        const sent = sendRaw(gateway.url + CHAT_PATH, request(gateway, { stream }));
        await eventually(() => upstream.seen[0]);
        const left = performance.now();
        sent.destroy();
        const abortedAt = await eventually(() => upstream.seen[0]?.abortedAt);
        expect(abortedAt - left).toBeLessThan(500);
        const record = await eventually(async () => {
          const { body } = await gateway.admin('GET', '/admin/v1/requests?status=aborted');
          return (body.data as RequestRecord[])[0];
        });
        expect(record).toMatchObject({ status: 499, cost: '0.00', stream });
        expect(gateway.log()).not.toMatch(/ error |unhandled/i);
      }
    },
  );

  it(
    verifies(
      'stream.client-abort.cancels-upstream',
      'while it waits to be admitted asks no provider',
    ),
    async () => {
      const { gateway, upstream } = await siteOf(() => undefined, { model: PRICED });
      const store = gateway.gateway!.store;
      const limited = await gateway.admin('POST', '/admin/v1/keys', {
        name: 'limited',
        spending_limit: { day: '5' },
      });
      let open = (): void => undefined;
      const opened = new Promise<void>((resolve) => (open = resolve));
      let waiting = 0;
      const commit = store.commit.bind(store);
      vi.spyOn(store, 'commit').mockImplementation(async (ops) => {
        waiting++;
        await opened;
        return commit(ops);
      });
      const sent = sendRaw(gateway.url + CHAT_PATH, {
        ...request(gateway, { max_tokens: 5 }),
        key: limited.body.value,
      });
      await eventually(() => waiting > 0);
      sent.destroy();
      await pause(50);
      open();
      const record = await eventually(async () => {
        const { body } = await gateway.admin('GET', '/admin/v1/requests?status=aborted');
        return (body.data as RequestRecord[])[0];
      });
      expect(record).toMatchObject({ status: 499, cost: '0.00' });
      expect(upstream.seen).toHaveLength(0);
    },
  );

  it('does not disturb the next call of the same provider', async () => {
    let calls = 0;
    const { gateway, upstream } = await siteOf((response) => {
      const choices = [{ index: 0, message: { role: 'assistant', content: 'Hi' } }];
      if (calls++ > 0) sendJson(response, 200, { object: 'chat.completion', choices });
    });
    const sent = sendRaw(gateway.url + CHAT_PATH, request(gateway, { stream: false }));
    await eventually(() => upstream.seen[0]);
    sent.destroy();
    expect((await gateway.chat('m/a')).status).toBe(200);
  });
});

describe('usage of a stream', () => {
  const usage = { prompt_tokens: 11, completion_tokens: 3, total_tokens: 14 };
  const play = (response: ServerResponse, { body }: SeenRequest): void => {
    const { stream, stream_options: options } = JSON.parse(body.toString()) as {
      stream?: boolean;
      stream_options?: { include_usage?: boolean };
    };
    if (!stream) {
      const message = { role: 'assistant', content: 'Hi' };
      const choices = [{ index: 0, message, finish_reason: 'stop' }];
      return sendJson(response, 200, { object: 'chat.completion', choices, usage });
    }
    beginEvents(response);
    const extra = options?.include_usage
      ? `data: {"choices":[],"usage":${JSON.stringify(usage)}}\n\n`
      : '';
    response.end(`${chunk({ content: 'Hi' })}${chunk({}, 'stop')}${extra}data: [DONE]\n\n`);
  };

  it(
    verifies(
      'chat.stream.include-usage',
      'is asked for always, shown only on request, and equals that of a whole answer',
    ),
    async () => {
      const { gateway, upstream } = await siteOf(play);
      const plain = await askRaw(gateway.url + CHAT_PATH, request(gateway));
      expect(plain.body.toString()).not.toContain('usage');
      const asked = await askRaw(
        gateway.url + CHAT_PATH,
        request(gateway, { stream_options: { include_usage: true } }),
      );
      expect(payloads(asked.body.toString()).at(-2)).toBe(
        `{"choices":[],"usage":${JSON.stringify(usage)}}`,
      );
      const whole = await gateway.chat('m/a');
      expect(upstream.seen.map(({ body }) => body.includes('"include_usage":true'))).toEqual([
        true,
        true,
        false,
      ]);
      for (const id of [plain, asked].map(({ headers }) => headers['x-request-id'])) {
        const streamed = await recordOf(gateway, id);
        const record = await recordOf(gateway, whole.headers.get('x-request-id'));
        expect(streamed.usage).toEqual(record.usage);
        expect(streamed).toMatchObject({
          estimated: false,
          usage: { input_tokens: 11, output_tokens: 3 },
        });
      }
    },
  );

  it(
    verifies('store.ledger.missing-usage', 'is estimated and marked when the provider sends none'),
    async () => {
      const { gateway } = await siteOf(
        (response) => {
          beginEvents(response);
          response.end(
            `${chunk({ content: 'forty characters of text, more or less..' })}${chunk({}, 'stop')}data: [DONE]\n\n`,
          );
        },
        { model: { pricing: { input: '1', output: '2' } } },
      );
      const answer = await askRaw(gateway.url + CHAT_PATH, request(gateway));
      const record = await recordOf(gateway, answer.headers['x-request-id']);
      expect(record).toMatchObject({ result: 'ok', estimated: true });
      expect(record.usage.output_tokens).toBeGreaterThanOrEqual(10);
      expect(Number(record.cost)).toBeGreaterThan(0);
    },
  );
});
