import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { startMockServer } from '../../../src/providers/mock/mock-server.ts';
import type { SessionEvent } from '../../../src/sessions/log/session-event.ts';
import { verifies } from '../../requirements.ts';
import { checkLog } from '../../runtime/log-laws.ts';
import type { Rules } from '../../runtime/loop-bench.ts';
import { eventually, startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';

/** What nobody outside may ever read. */
const INSIDE = 'inside-4711';

/** A shop that knows its callers by a session of its own. */
async function startShop() {
  const transports = new Map<unknown, StreamableHTTPServerTransport>();
  const shop = { url: '', calls: 0 };
  const open = async (): Promise<StreamableHTTPServerTransport> => {
    const id = `${INSIDE}-${transports.size}`;
    const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: () => id });
    transports.set(id, transport);
    const server = new McpServer({ name: 'shop', version: '1.0.0' });
    server.registerTool('search', {}, () => {
      shop.calls++;
      return { content: [{ type: 'text', text: 'found' }] };
    });
    server.registerTool('fail', {}, () => {
      throw new Error('sold out');
    });
    await server.connect(transport);
    return transport;
  };
  const http = createServer((request, response) => {
    const known = transports.get(request.headers['mcp-session-id']);
    void Promise.resolve(known ?? open()).then((one) => one.handleRequest(request, response));
  });
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  onTestFinished(() => {
    http.close();
    http.closeAllConnections();
  });
  shop.url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`;
  return shop;
}

const message = (text: string) => ({ type: 'user.message', content: [{ type: 'text', text }] });
const lookUp = {
  type: 'custom',
  name: 'look_up',
  description: 'Looks up.',
  input_schema: { type: 'object' },
};

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ server: { outbound: { allow: ['127.0.0.1'] } } });
});
afterAll(() => gateway.stop());

let sets = 0;
/** A provider, a shop and an agent of the test's own. */
async function setUp(rules: Rules = []) {
  const mock = await startMockServer({ cassette: { rules } });
  onTestFinished(() => mock.close());
  const shop = await startShop();
  const name = `set-${++sets}`;
  const provider = {
    name,
    type: 'custom',
    base_url: `${mock.url}/v1`,
    auth: { type: 'none' },
    protocols: { messages: true },
  };
  const model = { name: `acme/${name}`, routes: [{ provider: name }] };
  expect(await gateway.admin('POST', '/admin/v1/providers', provider)).toMatchObject({
    status: 201,
  });
  expect(await gateway.admin('POST', '/admin/v1/models', model)).toMatchObject({ status: 201 });
  const { call } = gateway;
  const toolset = {
    type: 'mcp_toolset',
    mcp_server_name: 'shop',
    default_config: { permission_policy: { type: 'always_allow' } },
  };
  const agent = await call('POST', '/v1/agents', {
    body: {
      name,
      model: model.name,
      mcp_servers: [{ type: 'url', name: 'shop', url: shop.url }],
      tools: [toolset, lookUp],
    },
  });
  const create = async (): Promise<string> =>
    (await call('POST', '/v1/sessions', { body: { agent: agent.body.id } })).body.id;
  const send = (id: string, ...events: object[]) =>
    call('POST', `/v1/sessions/${id}/events`, { body: { events } });
  const history = async (id: string): Promise<SessionEvent[]> =>
    (await call('GET', `/v1/sessions/${id}/events?limit=1000`)).body.data;
  return {
    shop,
    mock,
    call,
    create,
    send,
    history,
    /** All events, when the Session rests and says so. */
    rest: (id: string) =>
      eventually(async () => {
        const { body } = await call('GET', `/v1/sessions/${id}`);
        const events = await history(id);
        return body.status === 'idle' && events.at(-1)?.type === 'session.status_idle' && events;
      }, 25_000),
  };
}

const check = (events: readonly SessionEvent[]): void =>
  checkLog(events.map((event, index) => ({ seq: index + 1, event })));
const typesOf = (events: readonly SessionEvent[]) => events.map(({ type }) => type);

const call = (name: string) => ({ name, arguments: {} });

describe('a Session', () => {
  it(
    verifies(
      'sessions.completion.not-by-count',
      'tells that it is done by its status and last event, however many there are',
    ),
    async () => {
      const {
        create,
        send,
        rest,
        call: ask,
      } = await setUp([
        { match: { text: 'search', turn: 1 }, reply: { tool_calls: [call('shop__search')] } },
        { match: { text: 'slowly' }, reply: { text: 'a b c', chunks: 3, chunk_delay_ms: 100 } },
      ]);
      const counts = [];
      for (const text of ['hello', 'search', 'slowly']) {
        const id = await create();
        await send(id, message(text));
        const { status } = (await ask('GET', `/v1/sessions/${id}`)).body;
        expect(['running', 'idle']).toContain(status);
        const events = await rest(id);
        check(events);
        expect(typesOf(events).filter((type) => type === 'session.status_idle')).toHaveLength(1);
        expect(events.at(-1)).toMatchObject({ stop_reason: { type: 'end_turn' } });
        counts.push(events.length);
      }
      expect(counts[1]).toBeGreaterThan(counts[0]!);
      expect(counts[2]).toBe(counts[0]);
    },
  );

  it(
    verifies('sessions.events.types', 'has events of the known types, whatever happens in it'),
    async () => {
      const {
        create,
        send,
        rest,
        history,
        call: ask,
      } = await setUp([
        { match: { text: 'think' }, reply: { reasoning: 'hm', text: 'so' } },
        {
          match: { text: 'tools', turn: 2 },
          reply: { tool_calls: [call('shop__search'), call('shop__none'), call('look_up')] },
        },
        { match: { text: 'fail', times: 1 }, reply: { status: 503 } },
      ]);
      const id = await create();
      const gone = new AbortController();
      const stream = await fetch(`${gateway.url}/v1/sessions/${id}/events/stream`, {
        headers: { authorization: `Bearer ${gateway.clientKey}` },
        signal: gone.signal,
      });
      const streamed = stream.text();
      await send(id, message('think'));
      await rest(id);
      await send(id, message('tools'));
      const custom = (await rest(id)).find(({ type }) => type === 'agent.custom_tool_use');
      await send(id, { type: 'user.custom_tool_result', custom_tool_use_id: custom?.id });
      await rest(id);
      await send(id, message('fail'));
      await rest(id);
      await ask('POST', `/v1/sessions/${id}`, { body: { title: 'new' } });
      const events = await history(id);
      await ask('DELETE', `/v1/sessions/${id}`);
      const lines = (await streamed).split('\n').filter((line) => line.startsWith('event: '));
      const told = new Set(lines.map((line) => line.slice('event: '.length)));
      expect([...told].filter((type) => !/^(?:user|system)\./.test(type)).toSorted()).toEqual([
        'agent.custom_tool_use',
        'agent.mcp_tool_result',
        'agent.mcp_tool_use',
        'agent.message',
        'agent.thinking',
        'agent.tool_result',
        'agent.tool_use',
        'session.deleted',
        'session.error',
        'session.status_idle',
        'session.status_rescheduled',
        'session.status_running',
        'session.updated',
        'span.model_request_end',
        'span.model_request_start',
      ]);
      expect([...told].filter((type) => type !== 'session.deleted').toSorted()).toEqual(
        [...new Set(typesOf(events))].toSorted(),
      );
    },
  );

  it(
    verifies(
      'sessions.identity.no-internal-ids',
      'shows no id by which its model, its tools or its turn are known inside',
    ),
    async () => {
      const headers = { 'request-id': INSIDE, 'x-request-id': INSIDE };
      const {
        create,
        send,
        rest,
        call: ask,
        mock,
        shop,
      } = await setUp([
        {
          match: { turn: 1 },
          reply: {
            headers,
            text: 'Let me see.',
            tool_calls: [call('shop__search'), call('shop__fail')],
          },
        },
        { match: { turn: 2 }, reply: { headers, status: 400, error: { message: 'no' } } },
      ]);
      const id = await create();
      const gone = new AbortController();
      const stream = await fetch(
        `${gateway.url}/v1/sessions/${id}/events/stream?event_deltas[]=agent.message`,
        { headers: { authorization: `Bearer ${gateway.clientKey}` }, signal: gone.signal },
      );
      const streamed = stream.text();
      const sent = await send(id, message('hello'));
      await rest(id);
      expect([mock.engine.calls().length, shop.calls]).toEqual([2, 1]);
      const views = [
        sent,
        await ask('GET', `/v1/sessions/${id}`),
        await ask('GET', '/v1/sessions'),
        await ask('GET', `/v1/sessions/${id}/events?limit=1000`),
        await send(id, { type: 'user.tool_result', tool_use_id: INSIDE.slice(0, 6) }),
        await ask('DELETE', `/v1/sessions/${id}`),
        await ask('GET', `/v1/sessions/${id}`),
      ];
      const shown = views.map(({ headers: all, body }) => JSON.stringify([...all, body]));
      for (const text of [...shown, await streamed]) {
        expect(text).not.toContain(INSIDE);
        expect(text).not.toMatch(/\b(?:turn|worker|harness|job|msg|toolu)_[0-9a-z]/);
      }
    },
  );

  it(
    verifies('sessions.turn.errors', 'ends the turn of a model that calls tools for ever'),
    async () => {
      const { create, send, rest, shop } = await setUp([
        { reply: { tool_calls: [call('shop__search')] } },
      ]);
      const id = await create();
      await send(id, message('go'));
      const events = await rest(id);
      check(events);
      expect(shop.calls).toBe(50);
      expect(events.slice(-2)).toMatchObject([
        { type: 'session.error', error: { type: 'tool_use_limit_reached_error' } },
        { type: 'session.status_idle', stop_reason: { type: 'retries_exhausted' } },
      ]);
    },
  );

  it(
    verifies('sessions.turn.queue', 'runs one of the turns that are asked for at once'),
    async () => {
      const { create, send, history } = await setUp();
      const id = await create();
      const texts = Array.from({ length: 10 }, (_, index) => `message ${index}`);
      await Promise.all(texts.map((text) => send(id, message(text))));
      const events = await eventually(async () => {
        const all = await history(id);
        return typesOf(all).filter((type) => type === 'session.status_idle').length === 10 && all;
      }, 25_000);
      check(events);
      const textsIn = (type: string) =>
        events
          .filter((event) => event.type === type)
          .map(({ content }) => (content as { text: string }[])[0]?.text);
      const asked = textsIn('user.message');
      expect(new Set(asked)).toEqual(new Set(texts));
      expect(textsIn('agent.message')).toEqual(asked.map((text) => `You said: ${text}`));
    },
  );

  it(
    verifies(
      'sessions.archive-delete',
      'sessions.events.send-validation',
      'takes no input once it is archived or deleted, and says so',
    ),
    async () => {
      const { create, send, history, rest, call: ask } = await setUp();
      const id = await create();
      await send(id, message('hello'));
      const before = await rest(id);
      await ask('POST', `/v1/sessions/${id}/archive`);
      const archived = await send(id, message('more'));
      expect([archived.status, archived.body.error.message]).toEqual([
        409,
        expect.stringContaining('archived'),
      ]);
      expect(await history(id)).toEqual(before);
      await ask('DELETE', `/v1/sessions/${id}`);
      for (const answer of [
        await send(id, message('more')),
        await ask('GET', `/v1/sessions/${id}`),
      ])
        expect([answer.status, answer.body.error.type]).toEqual([404, 'not_found']);
      expect(gateway.log()).not.toContain('internal error');
    },
  );

  it(
    verifies('sessions.archive-delete', 'goes on once it is archived, unless it is interrupted'),
    async () => {
      const slow = { text: 'late', delay_ms: 600_000 };
      const {
        mock,
        create,
        send,
        rest,
        call: ask,
      } = await setUp([{ match: { text: 'wait' }, reply: slow }]);
      const id = await create();
      await send(id, message('wait'));
      await eventually(() => mock.engine.calls().length === 1);
      await ask('POST', `/v1/sessions/${id}/archive`);
      expect((await ask('GET', `/v1/sessions/${id}`)).body.status).toBe('running');
      const stop = { type: 'user.interrupt' };
      expect((await send(id, stop, message('more'))).status).toBe(409);
      expect((await send(id, stop)).status).toBe(200);
      const events = await rest(id);
      expect(events.filter(({ type }) => type === 'agent.message')).toEqual([]);
      expect((await send(id, stop)).status).toBe(409);
    },
  );
});
