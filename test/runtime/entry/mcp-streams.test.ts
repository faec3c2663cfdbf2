import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { fromEventId, toEventId } from '../../../src/runtime/entry/mcp/event-id.ts';
import { createStreamRoom } from '../../../src/runtime/entry/mcp/stream-room.ts';
import { verifies } from '../../requirements.ts';
import { historyOf, ORG } from '../../sessions/support.ts';
import { openStream } from '../../support/event-stream.ts';
import type { OpenStream } from '../../support/event-stream.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { ask, eventually } from '../../support/gateway.ts';
import { scripted } from './scripted-runner.ts';
import { serveServices } from './serve-services.ts';
import type { ServiceServer } from './serve-services.ts';

const rpc = (method: string, params: object = {}, id: unknown = 1) => ({
  jsonrpc: '2.0',
  id,
  method,
  params,
});

const waiting = (id: unknown = 'call', progressToken: unknown = 'p') =>
  rpc(
    'tools/call',
    {
      name: 'send_message',
      arguments: { input: 'x', wait: true },
      _meta: { progressToken },
    },
    id,
  );

const INITIALIZE = (protocolVersion: string) =>
  rpc('initialize', {
    protocolVersion,
    capabilities: {},
    clientInfo: { name: 'test', version: '1' },
  });

/** A client's session. */
async function open(server: ServiceServer, version = '2025-11-25') {
  const { headers } = await server.call('POST', 'mcp', { body: INITIALIZE(version) });
  return { 'mcp-session-id': headers.get('mcp-session-id') ?? '' };
}

type Headers = Record<string, string>;

const pathOf = ({ url }: ServiceServer) => `${url}/v1/endpoints/ep_1/mcp`;

/** Opens a stream by GET; left at the end of the test. */
async function listen(server: ServiceServer, headers: Headers, key = 'org_1') {
  const stream = await openStream(pathOf(server), {
    headers: { authorization: `Bearer ${key}`, accept: 'text/event-stream', ...headers },
  });
  onTestFinished(() => stream.leave());
  return stream;
}

async function post(server: ServiceServer, headers: Headers, body: unknown): Promise<OpenStream> {
  const stream = await openStream(pathOf(server), {
    method: 'POST',
    headers: {
      authorization: 'Bearer org_1',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    body: JSON.stringify(body),
  });
  onTestFinished(() => stream.leave());
  return stream;
}

/** Turns of several events that end when the test says so. */
function slowly(go: (() => void)[]) {
  return scripted(async ({ say }) => {
    await say('one');
    await new Promise<void>((resolve) => go.push(resolve));
    await say('two');
    await say('three');
  });
}

const progressOf = ({ events }: OpenStream) =>
  events.flatMap(({ message }) =>
    message?.method === 'notifications/progress'
      ? [[message.params.progress, message.params.message]]
      : [],
  );

describe('GET of a Service over MCP', () => {
  it(
    verifies('mcp.get-stream', 'opens the stream of the server for an initialized session alone'),
    async () => {
      const server = await serveServices();
      const none = await listen(server, {});
      expect(none.response.status).toBe(405);
      expect(none.response.headers.get('allow')).toBe('POST, DELETE');
      expect((await listen(server, { 'mcp-session-id': 'mcp_0' })).response.status).toBe(404);
      const session = await open(server);
      const json = await listen(server, { ...session, accept: 'application/json' });
      expect(json.response.status).toBe(406);
      const old = await listen(server, { ...session, 'mcp-protocol-version': '1999-01-01' });
      expect(old.response.status).toBe(400);
      expect((await listen(server, session, 'org_2')).response.status).toBe(404);
      expect((await server.call('HEAD', 'mcp', { headers: session })).status).toBe(405);

      const stream = await listen(server, session);
      expect(stream.response.status).toBe(200);
      expect(stream.response.headers.get('content-type')).toBe('text/event-stream');
      await eventually(() => stream.events.length === 1);
      expect(stream.events).toEqual([{ id: 'server', message: undefined }]);
      const again = await listen(server, { ...session, 'last-event-id': 'server' });
      expect(again.response.status).toBe(200);
      expect(server.bugs).toEqual([]);
    },
  );

  it('sends no event without data to a client of a former revision', async () => {
    const server = await serveServices({ runner: scripted(({ say }) => say('one')) });
    const session = await open(server, '2025-06-18');
    const stream = await listen(server, session);
    const call = await post(server, session, waiting());
    await call.ended;
    const events = [...stream.events, ...call.events];
    expect(events.every(({ message, id }) => message !== undefined && id !== undefined)).toBe(true);
    expect(events.length).toBeGreaterThan(1);
  });

  it('ends with its session, on whichever process that is closed, and with the gateway', async () => {
    const server = await serveServices();
    const other = await serveServices({ store: server.store });
    const session = await open(server);
    const stream = await listen(server, session);
    const path = `${other.url}/v1/endpoints/ep_1/mcp`;
    expect((await ask(path, { method: 'DELETE', key: 'org_1', headers: session })).status).toBe(
      204,
    );
    await stream.ended;
    const last = await listen(server, await open(server));
    await eventually(() => server.standing.size === 1);
    server.standing.shutDown();
    await last.ended;
    await eventually(() => server.standing.size === 0);
  });

  it('ends within a second behind its key', async () => {
    const clock = createFakeClock();
    const server = await serveServices({ clock });
    const stream = await listen(server, await open(server));
    await eventually(() => server.standing.size === 1);
    server.revoked.add('org_1');
    clock.advance(500);
    await stream.ended;
    await eventually(() => server.standing.size === 0);
  });

  it('keeps its session from being forgotten', async () => {
    const clock = createFakeClock();
    const server = await serveServices({ clock });
    const session = await open(server);
    const stream = await listen(server, session);
    await eventually(() => stream.response.status === 200);
    for (let hour = 0; hour < 60; hour++) {
      clock.advance(3_600_000);
      await new Promise((resolve) => setImmediate(resolve));
    }
    const { status } = await server.call('POST', 'mcp', { headers: session, body: rpc('ping') });
    expect(status).toBe(200);
  });

  it('is bounded for each organization', () => {
    const room = createStreamRoom(2);
    const [first, second] = [room.enter('a'), room.enter('a')];
    expect(room.enter('a')).toBeUndefined();
    expect(room.enter('b')).toBeDefined();
    first?.();
    first?.();
    expect(room.enter('a')).toBeDefined();
    expect(room.enter('a')).toBeUndefined();
    second?.();
    expect(room.enter('a')).toBeDefined();
  });

  it('counts each task that it follows', () => {
    const room = createStreamRoom(4);
    const leave = room.enter('a', 3);
    expect(room.enter('a', 2)).toBeUndefined();
    expect(room.enter('a')).toBeDefined();
    leave?.();
    expect(room.enter('a', 3)).toBeDefined();
  });
});

describe('a call over MCP that waits for a turn', () => {
  it.each(['application/json, text/event-stream', 'application/json'])(
    'leaves the place of its key to the turn: %s',
    async (accept) => {
      const go: (() => void)[] = [];
      const server = await serveServices({ runner: slowly(go) });
      const session = await open(server);
      const answer = post(server, { ...session, accept }, waiting());
      await eventually(() => go.length === 1);
      await eventually(() => server.places.taken === 0);
      go[0]?.();
      await (
        await answer
      ).ended;
    },
  );
});

describe('a stream of a call that is gone on with by Last-Event-ID', () => {
  it(
    verifies('mcp.get-stream', 'tells what followed each of its events, and nothing else'),
    async () => {
      const go: (() => void)[] = [];
      const server = await serveServices({ runner: slowly(go) });
      const session = await open(server);
      const call = await post(server, session, waiting());
      await eventually(() => go.length > 0);
      go[0]?.();
      await call.ended;
      expect(call.events[0]?.message).toBeUndefined();
      expect(call.events.at(-1)?.message).toMatchObject({ id: 'call', result: {} });
      const messages = call.events.slice(1);
      expect(messages).toHaveLength(7);
      for (const [index, { id = '' }] of call.events.entries()) {
        const resumed = await listen(server, { ...session, 'last-event-id': id });
        await resumed.ended;
        const rest = call.events.slice(index + 1).map(({ message }) => message);
        expect(resumed.response.status).toBe(rest.length > 0 ? 200 : 204);
        const told = resumed.events.flatMap(({ message }) => message ?? []);
        expect(told).toEqual(rest);
      }
    },
  );

  it('goes on while the turn does, on another process, and ends with the same result', async () => {
    const go: (() => void)[] = [];
    const server = await serveServices({ runner: slowly(go) });
    const other = await serveServices({ runner: slowly(go), store: server.store });
    const session = await open(server);
    const call = await post(server, session, waiting());
    await eventually(() => progressOf(call).length === 3);
    const { id = '' } = call.events.at(-1) ?? {};
    call.leave();
    await call.ended;
    const resumed = await listen(other, { ...session, 'last-event-id': id });
    expect(other.places.taken).toBe(0);
    await eventually(() => go.length > 0);
    go[0]?.();
    await resumed.ended;
    expect(progressOf(resumed)).toEqual([
      [4, 'agent.message'],
      [5, 'agent.message'],
      [6, 'session.status_idle'],
    ]);
    const answer = resumed.events.at(-1)?.message.result;
    const { session_id, events, status } = answer.structuredContent;
    const history = await historyOf(server.sessions, session_id);
    expect(events).toEqual(history.map(({ event }) => event));
    expect(status).toBe('idle');
  });

  it('is refused for what is no event of such a stream', async () => {
    const server = await serveServices({ runner: scripted(({ say }) => say('one')) });
    const session = await open(server);
    const call = await post(server, session, waiting());
    await call.ended;
    const { id = '' } = call.events[0] ?? {};
    const place = fromEventId(id);
    if (place?.type !== 'call') throw new Error(id);
    const foreign = [
      toEventId({ ...place.at, sessionId: 'sess_0' }),
      toEventId({ ...place.at, messageId: 'sevt_0' }),
      Buffer.from('[1,2]').toString('base64url'),
      'x'.repeat(3_000),
      'sevt_1',
    ];
    for (const one of foreign) {
      const { response } = await listen(server, { ...session, 'last-event-id': String(one) });
      expect(response.status, one).toBe(400);
    }
    server.services.set('ep_1', { ...server.services.get('ep_1')!, organization: 'org_2' });
    const { headers } = await server.call('POST', 'mcp', {
      key: 'org_2',
      body: INITIALIZE('2025-11-25'),
    });
    const theirs = { 'mcp-session-id': headers.get('mcp-session-id') ?? '', 'last-event-id': id };
    expect((await listen(server, theirs, 'org_2')).response.status).toBe(400);
    expect(server.bugs).toEqual([]);
  });

  it('is over for a call that was taken back', async () => {
    const go: (() => void)[] = [];
    const server = await serveServices({ runner: slowly(go) });
    const session = await open(server);
    const call = await post(server, session, waiting());
    await eventually(() => go.length > 0);
    const body = {
      jsonrpc: '2.0',
      method: 'notifications/cancelled',
      params: { requestId: 'call' },
    };
    await server.call('POST', 'mcp', { headers: session, body });
    await call.ended;
    const { id = '', message } = call.events.at(-1) ?? {};
    expect(message).toBeUndefined();
    const resumed = await listen(server, { ...session, 'last-event-id': id });
    expect(resumed.response.status).toBe(204);
    go[0]?.();
  });

  it('cannot be had for ids that are longer than a header should be', async () => {
    const server = await serveServices({ runner: scripted(({ say }) => say('one')) });
    const session = await open(server);
    const call = await post(server, session, waiting('x'.repeat(500)));
    await call.ended;
    expect(call.events.slice(0, -1).every(({ id }) => id === undefined)).toBe(true);
    expect(call.events.at(-1)?.message.result).toBeDefined();
  });

  it('lets the official client outlive a lost connection', async () => {
    const go: (() => void)[] = [];
    const server = await serveServices({ runner: slowly(go) });
    let cut: (() => void) | undefined;
    const resumed: string[] = [];
    const transport = new StreamableHTTPClientTransport(new URL(pathOf(server)), {
      requestInit: { headers: { authorization: 'Bearer org_1' } },
      async fetch(url, init) {
        const id = new Headers(init?.headers).get('last-event-id');
        if (id !== null) resumed.push(id);
        if (!String(init?.body).includes('tools/call')) return fetch(url, init);
        const lost = new AbortController();
        cut = () => lost.abort();
        return fetch(url, { ...init, signal: lost.signal });
      },
    });
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(transport);
    onTestFinished(() => client.close());
    const told: unknown[] = [];
    const called = client.callTool(
      { name: 'send_message', arguments: { input: 'hello', wait: true } },
      undefined,
      { onprogress: ({ message }) => told.push(message) },
    );
    await eventually(() => told.includes('agent.message'));
    cut?.();
    await eventually(() => resumed.length > 0, 20_000);
    await eventually(() => go.length > 0);
    go[0]?.();
    const { structuredContent } = await called;
    expect(structuredContent).toMatchObject({ status: 'idle' });
    expect(told.filter((message) => message === 'agent.message')).toHaveLength(3);
  });
});

describe('progress of a call while its model is silent', () => {
  /** A call on a clock of the test, its turn begun and silent. */
  async function call(meta: object) {
    const clock = createFakeClock();
    const go: (() => void)[] = [];
    const server = await serveServices({ clock, runner: slowly(go) });
    const session = await open(server);
    const { params, ...rest } = waiting();
    const stream = await post(server, session, { ...rest, params: { ...params, ...meta } });
    await eventually(() => {
      clock.advance(1);
      return go.length > 0;
    });
    return { clock, go, stream, server };
  }

  it(
    verifies('mcp.progress', 'is told every 15 seconds at most, under rising numbers'),
    async () => {
      const { clock, go, stream } = await call({});
      await eventually(() => progressOf(stream).length === 3);
      for (let quarter = 1; quarter <= 8; quarter++) {
        const before = progressOf(stream).length;
        clock.advance(15_000);
        await eventually(() => progressOf(stream).length > before);
      }
      go[0]?.();
      await eventually(() => {
        clock.advance(1);
        return stream.events.at(-1)?.message?.result;
      });
      const numbers = progressOf(stream).map(([number]) => number);
      expect(numbers).toEqual(numbers.map((_, index) => index + 1));
      const marks = stream.events.map(({ id }) => id);
      expect(new Set(marks).size).toBe(marks.length);
      expect(clock.pending).toBeLessThan(10);
    },
  );

  it('is not told to a client that sent no token for it', async () => {
    const { clock, go, stream, server } = await call({ _meta: {} });
    for (let second = 0; second < 60; second++) {
      clock.advance(1_000);
      await new Promise((resolve) => setImmediate(resolve));
    }
    go[0]?.();
    await eventually(() => {
      clock.advance(1);
      return stream.events.at(-1)?.message?.result;
    });
    expect(progressOf(stream)).toEqual([]);
    const [session] = await server.sessions.list(ORG, { limit: 1, order: 'asc' });
    expect(session?.status).toBe('idle');
  });
});
