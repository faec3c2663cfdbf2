import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { getHeapStatistics } from 'node:v8';
import { describe, expect, it, onTestFinished } from 'vitest';
import { metricsText } from '../../../src/server/process/metrics.ts';
import { verifies } from '../../requirements.ts';
import { COMPLETION, customProvider, orderedModel } from '../../support/chat.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { eventually, startGateway } from '../../support/gateway.ts';
import type { StartGatewayOptions, TestGateway } from '../../support/gateway.ts';
import { beginEvents, sendJson, startUpstream } from '../../support/stage/upstream.ts';
import type { Upstream } from '../../support/stage/upstream.ts';

const KIB = 1024;
/** Room for one body of more than 50 KiB, not for two. */
const LIMITS = { body: '100KiB', body_memory: '100KiB' };
const LARGE = { messages: [{ role: 'user', content: 'x'.repeat(60 * KIB) }] };

interface Stage {
  gateway: TestGateway;
  upstream: Upstream;
  /** Lets the provider answer everything that it was asked, now and later. */
  answer(): void;
}

/** A gateway with little room, and a provider that takes every request and waits with its answer. */
async function setUp(options: StartGatewayOptions = {}, limits: object = LIMITS): Promise<Stage> {
  const held: (() => void)[] = [];
  let isFree = false;
  const upstream = await startUpstream((response, { body }) => {
    const { stream } = JSON.parse(body.toString()) as { stream?: boolean };
    if (stream) {
      beginEvents(response);
      response.write('data: {"choices":[{"index":0,"delta":{"content":"a"}}]}\n\n');
    } else if (isFree) sendJson(response, 200, COMPLETION);
    else held.push(() => sendJson(response, 200, COMPLETION));
  });
  const gateway = await startGateway(
    {
      server: { limits, metrics: { listen: { port: 0 } } },
      providers: [customProvider('one', upstream.url), customProvider('two', upstream.url)],
      models: [orderedModel('acme/single', ['one']), orderedModel('acme/double', ['one', 'two'])],
    },
    options,
  );
  onTestFinished(async () => {
    await gateway.stop();
    await upstream.close();
  });
  const answer = (): void => {
    isFree = true;
    for (const one of held.splice(0)) one();
  };
  return { gateway, upstream, answer };
}

/** Of the gateway in this process. */
async function gauge(name: string): Promise<number> {
  const { text } = await metricsText();
  return Number(new RegExp(`^gateway_body_memory_${name} (\\d+)`, 'm').exec(text)?.[1]);
}

const isTaken = () => eventually(async () => (await gauge('bytes')) > 50 * KIB);
const isWaiting = () => eventually(async () => (await gauge('waiting')) === 1);
const isFree = () => eventually(async () => (await gauge('bytes')) === 0);

/** A client that announces a body, sends its first byte, and no more. */
async function announce({ url, clientKey }: TestGateway, length = 60 * KIB): Promise<Socket> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.on('error', () => undefined);
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  socket.write(
    `POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${clientKey}\r\n` +
      `content-type: application/json\r\ncontent-length: ${length}\r\n\r\n{`,
  );
  await isTaken();
  return socket;
}

const NO_ROOM = 'there is no room for the request body at the moment; try again in a moment';
const CHAT = { message: NO_ROOM, type: 'api_error', param: null, code: 'no_room_for_body' };
const GOOGLE = { code: 503, message: NO_ROOM, status: 'UNAVAILABLE' };
const RESOURCE = { type: 'unavailable', message: NO_ROOM };
const FAMILIES: readonly [path: string, error: unknown][] = [
  ['/v1/chat/completions', CHAT],
  ['/v1/responses', CHAT],
  ['/v1/embeddings', CHAT],
  ['/v1/images/generations', CHAT],
  ['/v1/videos', NO_ROOM],
  ['/v1/run', NO_ROOM],
  ['/v1/assets', NO_ROOM],
  ['/v1/messages', { type: 'api_error', message: NO_ROOM }],
  ['/v1beta/models/single:generateContent', GOOGLE],
  ['/v1beta/interactions', GOOGLE],
  ['/v1/agents', RESOURCE],
  ['/v1/sessions', RESOURCE],
  ['/v1/deployments/depl_1/runs', RESOURCE],
  ['/v1/webhooks/secret/rotate', RESOURCE],
];

describe('the memory of request bodies', () => {
  it(
    verifies(
      'limits.body-memory.503',
      'makes a body wait, and refuses it in its family’s shape with Retry-After when no room becomes free',
    ),
    async () => {
      const clock = createFakeClock();
      const { gateway, upstream } = await setUp({ clock });
      const slow = await announce(gateway);
      for (const [path, error] of FAMILIES) {
        const late = gateway.call('POST', path, { body: { ...LARGE, model: 'acme/single' } });
        await isWaiting();
        expect(await gauge('waiting_bytes')).toBeGreaterThan(60 * KIB);
        clock.advance(10_000);
        const { status, headers, body } = await late;
        expect({ path, status, error: body.error }).toEqual({ path, status: 503, error });
        expect(headers.get('retry-after')).toBe('1');
      }
      const late = gateway.admin('POST', '/admin/v1/models', LARGE);
      await isWaiting();
      clock.advance(10_000);
      expect(await late).toMatchObject({ status: 503, body: { error: RESOURCE } });
      expect(upstream.seen).toEqual([]);
      // One line a minute, for fifteen waits of ten seconds.
      expect(gateway.log().match(/request bodies wait for memory/g)).toHaveLength(3);
      slow.destroy();
      await isFree();
    },
  );

  it(
    verifies(
      'limits.body-memory.setting',
      'is a quarter of what the process may have on its heap where nothing is set',
    ),
    async () => {
      const { gateway } = await setUp({}, { body: '100KiB' });
      expect((await gateway.call('GET', '/v1/models')).status).toBe(200);
      expect(await gauge('limit_bytes')).toBe(Math.floor(getHeapStatistics().heap_size_limit / 4));
      await setUp({}, { body: '100KiB', body_memory: '3MiB' });
      expect(await gauge('limit_bytes')).toBe(3 * KIB * KIB);
    },
  );

  it('is given back by a client that leaves, to one that waits', async () => {
    const { gateway, answer } = await setUp();
    answer();
    const slow = await announce(gateway);
    const late = gateway.chat('acme/single', { body: LARGE });
    await isWaiting();
    slow.destroy();
    expect((await late).status).toBe(200);
    await isFree();
  });

  it('is not kept by a client that leaves while it waits', async () => {
    const { gateway } = await setUp();
    const slow = await announce(gateway);
    const leaving = new AbortController();
    const late = gateway.chat('acme/single', { body: LARGE, signal: leaving.signal });
    late.catch(() => undefined);
    await isWaiting();
    leaving.abort();
    await eventually(async () => (await gauge('waiting')) === 0);
    slow.destroy();
    await isFree();
  });

  it('is given back after every kind of end', async () => {
    const { gateway, answer } = await setUp();
    answer();
    const bodies = [
      ['/v1/chat/completions', { ...LARGE, model: 'acme/single' }, 200],
      ['/v1/chat/completions', { ...LARGE, model: 'acme/none' }, 404],
      ['/v1/chat/completions', 'x'.repeat(60 * KIB), 400],
      [
        '/v1/agents',
        {
          metadata: { a: 'x' },
          system: LARGE.messages[0]?.content,
          name: 'n',
          model: 'acme/single',
        },
        201,
      ],
      ['/v1/agents', { ...LARGE, name: 5 }, 400],
      ['/v1/images/generations', { ...LARGE, model: 'acme/single' }, 400],
    ] as const;
    for (const [path, body, status] of bodies) {
      const headers = { 'idempotency-key': `${path}${status}` };
      for (const extra of [{}, { headers }]) {
        expect({
          path,
          status: (await gateway.call('POST', path, { body, ...extra })).status,
        }).toEqual({ path, status });
        await isFree();
      }
    }
  });

  it(
    verifies(
      'limits.body-memory.released',
      'is given back while the provider works on a body that nobody else can be asked with',
    ),
    async () => {
      const { gateway, upstream, answer } = await setUp();
      const first = gateway.chat('acme/single', { body: LARGE });
      await eventually(() => upstream.seen.length === 1);
      await isFree();
      const second = gateway.chat('acme/single', { body: LARGE });
      await eventually(() => upstream.seen.length === 2);
      answer();
      expect([(await first).status, (await second).status]).toEqual([200, 200]);
      for (const { body } of upstream.seen)
        expect(JSON.parse(body.toString())).toEqual({ ...LARGE, model: 'up' });
    },
  );

  it('is kept while another provider may have to be asked, to the first content', async () => {
    const { gateway, upstream, answer } = await setUp();
    const first = gateway.chat('acme/double', { body: LARGE });
    await eventually(() => upstream.seen.length === 1);
    expect(await gauge('bytes')).toBeGreaterThan(60 * KIB);
    answer();
    expect((await first).status).toBe(200);
    await isFree();
    const leaving = new AbortController();
    const response = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.clientKey}` },
      body: JSON.stringify({ ...LARGE, model: 'acme/double', stream: true }),
      signal: leaving.signal,
    });
    expect(response.status).toBe(200);
    // The stream goes on.
    await isFree();
    leaving.abort();
  });

  it('has always room for one body as large as one may be', async () => {
    const { gateway, answer } = await setUp();
    answer();
    expect(await gauge('limit_bytes')).toBe(100 * KIB);
    const content = 'x'.repeat(99 * KIB);
    const body = JSON.stringify({ model: 'acme/single', messages: [{ role: 'user', content }] });
    const headers = { authorization: `Bearer ${gateway.clientKey}` };
    const url = `${gateway.url}/v1/chat/completions`;
    const chunked = new Blob([body]).stream();
    const options = { method: 'POST', headers, duplex: 'half' } as RequestInit;
    for (const sent of [body, chunked])
      expect((await fetch(url, { ...options, body: sent })).status).toBe(200);
  });
});
