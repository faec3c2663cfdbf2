import { describe, expect, it } from 'vitest';
import { ActiveExchanges } from '../../src/inference/active-exchanges.ts';
import { createExchange } from '../../src/inference/exchange.ts';
import type { AttemptResult } from '../../src/inference/exchange-options.ts';
import type { Call, ClientConnection } from '../../src/inference/types.ts';
import { chat } from '../../src/protocols/chat/chat.ts';
import type { WireProtocol } from '../../src/protocols/protocol.ts';
import type { Health } from '../../src/routing/health.ts';
import { createHealth } from '../../src/routing/health.ts';
import { UpstreamError } from '../../src/upstream/transport.ts';
import { verifies } from '../requirements.ts';
import { fakeCatalog, fakeModel, fakeRoute } from '../support/catalog.ts';
import { chatBody, chunk } from '../support/chat.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { principal } from '../usage/usage-fixtures.ts';

const EVENTS = { 'content-type': 'text/event-stream' };
const ROLE = chunk({ role: 'assistant' });
const HI = chunk({ content: 'hi' });

interface Setup {
  stream?: boolean;
  protocol?: Partial<WireProtocol>;
  responseModel?: 'logical';
  /** For the whole call, in ms. */
  total?: number;
  /** Age of the call when the candidate's turn comes, in ms. */
  late?: number;
  maxAnswerBytes?: number;
}

function fakeClient(): ClientConnection & { leave(): void; listeners: Set<() => void> } {
  const listeners = new Set<() => void>();
  return {
    listeners,
    gone: false,
    onGone(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    leave() {
      for (const listener of listeners) listener();
    },
  };
}

function setup(options: Setup = {}) {
  const { stream = true, protocol = {}, responseModel, total, late = 0 } = options;
  const { maxAnswerBytes = 10_000 } = options;
  const clock = createFakeClock();
  const client = fakeClient();
  const usual = fakeRoute('a', responseModel ? { responseModel } : {});
  const route = total ? { ...usual, timeouts: { ...usual.timeouts, total } } : usual;
  const health: Health = createHealth({ clock, threshold: 1 });
  const wire = { ...chat, ...protocol };
  const body = Buffer.from(chatBody('acme/fast', { stream }));
  const model = fakeModel('acme/fast', [route]);
  const call: Call = {
    request: {
      id: 'req_1',
      at: 0,
      startedAt: clock.monotonic() - late,
      surface: 'chat',
      protocol: wire,
      principal: principal(),
      catalog: fakeCatalog(model),
      body,
      headers: {},
      address: {},
      client,
      repeatable: true,
    },
    peek: chat.peek(body),
    inputBytes: 100,
    model,
    bound: 0,
    entry: {
      admitted: undefined,
      durable: Promise.resolve(),
      isDurable: true,
      settled: undefined,
      follow: () => undefined,
      settle: () => undefined,
    },
    content: undefined,
    record: {
      attempts: [],
      losses: [],
      sentAt: undefined,
      firstContentAt: undefined,
      answeredBy: undefined,
      cost: undefined,
      skipped: [],
    },
  };
  const active = new ActiveExchanges();
  const results: AttemptResult[] = [];
  const bugs: unknown[] = [];
  const exchange = createExchange({
    clock,
    call,
    candidate: { protocol: 'chat', model: call.model, route },
    wire,
    onBegun: () => health.begin(route),
    maxAnswerBytes,
    maxAnswerValues: 1_000,
    active,
    onSent: () => undefined,
    onBug: (thrown) => void bugs.push(thrown),
    resolve: (result) => void results.push(result),
  });
  const upstream = { aborted: 0, paused: false };
  const handle = {
    abort: () => void upstream.aborted++,
    pause: () => void (upstream.paused = true),
    resume: () => void (upstream.paused = false),
  };
  const feed = (...parts: string[]) => exchange.onData(Buffer.from(parts.join('')));
  return { clock, client, exchange, handle, upstream, results, active, feed, health, route, bugs };
}

/** Sends the client the last bytes of a stream that has ended, as the pipeline does once it is settled. */
async function finish(result: AttemptResult | undefined): Promise<void> {
  if (result?.type !== 'stream') throw new Error(`no stream: ${result?.type}`);
  (await result.ended).finish();
}

/** What was written to a client that takes everything. */
function drink(result: AttemptResult | undefined): () => string {
  if (result?.type !== 'stream') throw new Error(`no stream: ${result?.type}`);
  let text = '';
  const response = {
    on: () => response,
    write: (bytes: Buffer) => ((text += bytes.toString()), true),
    end: () => undefined,
  };
  result.relay.body.pipe(response as never);
  return () => text;
}

describe('Exchange', () => {
  it('lets go of client, timer and list however it ends', () => {
    type Ending = (parts: ReturnType<typeof setup>) => void;
    const endings: Ending[] = [
      ({ exchange }) => exchange.onError(new UpstreamError('reset', 'gone')),
      ({ exchange }) => exchange.onEnd(),
      ({ exchange }) => exchange.shutDown(),
      ({ client }) => client.leave(),
      ({ clock }) => clock.advance(600_001),
      ({ exchange, feed }) => (feed(HI), exchange.onEnd()),
      ({ client, feed }) => (feed(HI), client.leave()),
      ({ feed }) => feed(HI, 'data: [DONE]\n\n'),
      ({ feed }) => feed('data: {"error":{"message":"no"}}\n\n'),
    ];
    for (const end of endings) {
      const parts = setup();
      parts.exchange.attach(parts.handle);
      parts.exchange.onHead(200, EVENTS);
      end(parts);
      expect(parts.results).toHaveLength(1);
      expect(parts.client.listeners.size).toBe(0);
      expect(parts.active.size).toBe(0);
      expect(parts.clock.pending).toBe(0);
      expect(parts.health.look(parts.route).state).not.toBe('probing');
    }
  });

  it.each([
    ['had all of the time of the call', 0, 'server'],
    ['came late in it', 30_000, undefined],
  ] as const)('a candidate that %s when it ended: fault %s', (_, late, fault) => {
    const { clock, exchange, handle, results } = setup({ total: 60_000, late });
    exchange.attach(handle);
    clock.advance(60_000 - late);
    expect(results).toMatchObject([{ action: 'fatal', reason: 'timeout_total', fault }]);
  });

  describe('that waits for a connection', () => {
    /** The handle of a call without a place, until `place` gives it one. */
    function waiting(options: Setup = {}) {
      const parts = setup(options);
      const handle = { ...parts.handle, isWaiting: true };
      parts.exchange.attach(handle);
      const place = (): void => {
        handle.isWaiting = false;
        parts.exchange.onPlace();
      };
      const look = () => parts.health.look(parts.route);
      return { ...parts, place, look };
    }
    const UNTOUCHED = { state: 'available', consecutiveFaults: 0, latencyMs: undefined };

    it('gives up after the time of a first content, and blames nobody', () => {
      for (const stream of [true, false]) {
        const { clock, results, upstream, look } = waiting({ stream });
        clock.advance(119_999);
        expect(results).toEqual([]);
        clock.advance(1);
        const error = expect.objectContaining({ status: 503, retry: undefined });
        expect(results).toMatchObject([
          { action: 'next-candidate', reason: 'waiting_for_connection', fault: undefined, error },
        ]);
        expect(upstream.aborted).toBe(1);
        expect(look()).toMatchObject(UNTOUCHED);
      }
    });

    it('blames nobody either when the whole call takes too long, and tries no other', () => {
      const { clock, results, look } = waiting({ total: 60_000 });
      clock.advance(60_000);
      expect(results).toMatchObject([
        { action: 'fatal', reason: 'waiting_for_connection', fault: undefined },
      ]);
      expect(look()).toMatchObject(UNTOUCHED);
    });

    it('says so when its client leaves or too many wait', () => {
      const [left, refused] = [waiting(), waiting()];
      left.client.leave();
      refused.exchange.onError(new UpstreamError('waiting', 'too many'));
      expect(left.results).toMatchObject([{ action: 'fatal', reason: 'waiting_for_connection' }]);
      expect(refused.results).toMatchObject([
        { action: 'next-candidate', reason: 'waiting_for_connection', upstreamStatus: null },
      ]);
      for (const { look } of [left, refused]) expect(look()).toMatchObject(UNTOUCHED);
    });

    it('gives the provider its whole time, and counts only that as its latency', () => {
      const { clock, exchange, feed, results, place, look } = waiting();
      clock.advance(100_000);
      expect(look().state).toBe('available');
      place();
      clock.advance(119_000);
      expect(results).toEqual([]);
      exchange.onHead(200, EVENTS);
      feed(HI);
      expect(look().latencyMs).toBe(119_000);
    });

    it('blames the provider that is late once it was asked', () => {
      const { clock, results, place, look } = waiting();
      clock.advance(100_000);
      place();
      clock.advance(120_000);
      expect(results).toMatchObject([{ reason: 'timeout_first_content', fault: 'server' }]);
      expect(look().state).toBe('cooled');
    });
  });

  it('closes the upstream call that is handed over after the end', () => {
    const { client, exchange, handle, upstream, results } = setup();
    client.leave();
    exchange.attach(handle);
    expect(upstream.aborted).toBe(1);
    expect(results).toMatchObject([{ type: 'failed', reason: 'client_gone' }]);
  });

  it(
    verifies(
      'routing.commit-gate',
      'moves on when a failure follows however many lifecycle events',
    ),
    () => {
      const { exchange, handle, results, feed } = setup();
      exchange.attach(handle);
      exchange.onHead(200, EVENTS);
      feed(ROLE.repeat(65), 'data: {"error":{"message":"overloaded"}}\n\n');
      expect(results).toMatchObject([{ type: 'failed', reason: 'stream_error' }]);
    },
  );

  it(
    verifies('chat.stream.error-in-band', 'tells of a failure in the same chunk as the content'),
    async () => {
      const { exchange, handle, results, feed, upstream } = setup();
      exchange.attach(handle);
      exchange.onHead(200, EVENTS);
      feed(ROLE, HI, 'data: {"error":{"message":"broken"}}\n\n');
      await finish(results[0]);
      const text = drink(results[0])();
      expect(text).toContain('"content":"hi"');
      expect(text).toContain('"error"');
      expect(text).not.toContain('[DONE]');
      expect(upstream.aborted).toBe(1);
      const [result] = results;
      if (result?.type !== 'stream') throw new Error('no stream');
      expect(await result.ended).toMatchObject({ clientGone: false, failure: { type: 'failed' } });
    },
  );

  it('sets no timer for a client that drains after the end', async () => {
    const { clock, exchange, handle, results, feed } = setup();
    exchange.attach(handle);
    exchange.onHead(200, EVENTS);
    feed(HI);
    const [result] = results;
    if (result?.type !== 'stream') throw new Error('no stream');
    let drain = (): void => undefined;
    const response = {
      on: (_event: string, listener: () => void) => ((drain = listener), response),
      write: () => false,
      end: () => undefined,
    };
    result.relay.body.pipe(response as never);
    feed(HI, 'data: [DONE]\n\n');
    await finish(result);
    drain();
    expect(clock.pending).toBe(0);
  });
});

describe('a large answer', () => {
  const text = JSON.stringify({
    id: 'c1',
    object: 'chat.completion',
    choices: [{ index: 0, message: { role: 'assistant', content: 'äx'.repeat(1 << 20) } }],
  });

  function arrived(): ReturnType<typeof setup> {
    const parts = setup({ stream: false, maxAnswerBytes: 8 << 20 });
    parts.exchange.attach(parts.handle);
    parts.exchange.onHead(200, { 'content-type': 'application/json' });
    const bytes = Buffer.from(text);
    for (let at = 0; at < bytes.length; at += 65_521)
      parts.exchange.onData(bytes.subarray(at, at + 65_521));
    parts.exchange.onEnd();
    return parts;
  }

  it('is put together in turns of the event loop', async () => {
    const { results } = arrived();
    expect(results).toEqual([]);
    await expect.poll(() => results.length).toBe(1);
    const [result] = results;
    if (result?.type !== 'answer') throw new Error(`no answer: ${result?.type}`);
    expect(result.answer.body.toString()).toBe(text);
  });

  it('is given up when its client leaves meanwhile', async () => {
    const [left, stayed] = [arrived(), arrived()];
    left.client.leave();
    await expect.poll(() => stayed.results.length).toBe(1);
    expect(left.results).toMatchObject([{ type: 'failed', reason: 'client_gone' }]);
    expect(left.active.size + left.client.listeners.size + left.clock.pending).toBe(0);
  });
});

describe('a bug in a codec', () => {
  const bug = (): never => {
    throw new TypeError('a bug');
  };

  it(verifies('ops.unhandled', 'is the failure of its one call, wherever it is met'), () => {
    type Play = (parts: ReturnType<typeof setup>) => void;
    const cases: [Setup, Play][] = [
      [{ protocol: { createStream: bug } }, ({ exchange }) => exchange.onHead(200, EVENTS)],
      [
        { stream: false, protocol: { readAnswer: bug } },
        ({ exchange, feed }) => (exchange.onHead(200, {}), feed('{}'), exchange.onEnd()),
      ],
      [
        {
          protocol: {
            createStream: (options) => Object.assign(chat.createStream(options), { push: bug }),
          },
        },
        ({ exchange, feed }) => (exchange.onHead(200, EVENTS), feed(HI)),
      ],
    ];
    for (const [options, play] of cases) {
      const parts = setup(options);
      parts.exchange.attach(parts.handle);
      play(parts);
      expect(parts.results).toMatchObject([
        { type: 'failed', action: 'fatal', error: { code: 'internal_error' } },
      ]);
      expect(parts.active.size).toBe(0);
      expect(parts.clock.pending).toBe(0);
    }
  });

  it(verifies('ops.unhandled', 'ends a stream that has begun in-band'), async () => {
    let broken = false;
    const { exchange, handle, results, feed, bugs } = setup({
      protocol: {
        createStream(options) {
          const reader = chat.createStream(options);
          const push = reader.push.bind(reader);
          return Object.assign(reader, { push: (bytes: Buffer) => (broken ? bug() : push(bytes)) });
        },
      },
    });
    exchange.attach(handle);
    exchange.onHead(200, EVENTS);
    feed(HI);
    broken = true;
    feed(HI);
    await finish(results[0]);
    const text = drink(results[0])();
    expect(text).toContain('"error"');
    expect(text).not.toContain('a bug');
    expect(bugs).toHaveLength(1);
    const [result] = results;
    if (result?.type !== 'stream') throw new Error('no stream');
    expect(await result.ended).toMatchObject({ failure: { reason: 'bug' } });
  });
});
