import { request } from 'node:http';
import { Ajv } from 'ajv';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { MCP_VERSIONS } from '../../../src/runtime/entry/mcp/mcp-versions.ts';
import { verifies } from '../../requirements.ts';
import { idle, ORG } from '../../sessions/support.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { eventually } from '../../support/gateway.ts';
import type { Answer } from '../../support/gateway.ts';
import { scripted } from './scripted-runner.ts';
import { SERVICE, serveServices } from './serve-services.ts';
import type { ServiceServer } from './serve-services.ts';

const INITIALIZE = {
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'test', version: '1' },
  },
};

const rpc = (method: string, params: object = {}, id: unknown = 1) => ({
  jsonrpc: '2.0',
  id,
  method,
  params,
});
const tool = (name: string, args: object = {}) => rpc('tools/call', { name, arguments: args });

/** The official client, connected. */
async function connect({ url }: ServiceServer, key = 'org_1') {
  const transport = new StreamableHTTPClientTransport(new URL(`${url}/v1/endpoints/ep_1/mcp`), {
    requestInit: { headers: { authorization: `Bearer ${key}` } },
  });
  const client = new Client({ name: 'test', version: '1' });
  const errors: Error[] = [];
  Object.assign(client, { onerror: (error: Error) => errors.push(error) });
  await client.connect(transport);
  onTestFinished(() => client.close());
  return { client, transport, errors };
}

async function open(server: ServiceServer): Promise<Record<string, string>> {
  const { headers } = await server.call('POST', 'mcp', { body: INITIALIZE });
  return { 'mcp-session-id': headers.get('mcp-session-id') ?? '' };
}

describe('a Service over MCP', () => {
  it(
    verifies(
      'mcp.official-client',
      'mcp.tools',
      'mcp.session-readable',
      'serves the official client from its connection to its end',
    ),
    async () => {
      const server = await serveServices();
      const { client, transport, errors } = await connect(server);
      expect(client.getServerVersion()).toMatchObject({ title: SERVICE.name });
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name)).toEqual(['send_message', 'get_session']);
      for (const { inputSchema, description } of tools) {
        expect(inputSchema.type).toBe('object');
        expect(description).not.toBe('');
      }
      const sent = await client.callTool({ name: 'send_message', arguments: { input: 'hello' } });
      const { session_id, events } = sent.structuredContent as any;
      expect(session_id).toMatch(/^sess_/);
      expect(events).toMatchObject([{ type: 'user.message', id: expect.stringMatching(/^sevt_/) }]);
      const session = await server.sessions.get(ORG, session_id);
      expect(session).toMatchObject({ endpointId: 'ep_1', metadata: SERVICE.sessionMetadata });

      const read = await eventually(async () => {
        const args = { session_id, after: events[0].id };
        const result = await client.callTool({ name: 'get_session', arguments: args });
        const found = result.structuredContent as any;
        return found.status === 'idle' ? found : undefined;
      });
      expect(read.events.map(({ type }: any) => type)).toEqual([
        'session.status_running',
        'span.model_request_start',
        'agent.message',
        'span.model_request_end',
        'session.status_idle',
      ]);
      expect(read.has_more).toBe(false);
      await client.ping();
      await transport.terminateSession();
      expect(errors).toEqual([]);
      expect((await server.sessions.get(ORG, session_id)).status).toBe('idle');
    },
  );

  it('waits for the turn and tells its progress', async () => {
    const runner = scripted(async ({ say }) => say('wel', 'come'));
    const server = await serveServices({ runner });
    const { client } = await connect(server);
    const told: unknown[] = [];
    const result = await client.callTool(
      { name: 'send_message', arguments: { input: 'hello', wait: true } },
      undefined,
      { onprogress: ({ progress, message }) => told.push([progress, message]) },
    );
    const { events, status, stop_reason } = result.structuredContent as any;
    expect({ status, stop_reason }).toEqual({ status: 'idle', stop_reason: { type: 'end_turn' } });
    expect(events.map(({ type }: any) => type)).toEqual([
      'user.message',
      'session.status_running',
      'span.model_request_start',
      'agent.message',
      'session.status_idle',
    ]);
    expect(told).toEqual([
      [1, 'session.status_running'],
      [2, 'span.model_request_start'],
      [3, 'agent.message'],
      [4, 'session.status_idle'],
    ]);
  });

  it('waits for its own turn alone where others were sent before', async () => {
    let go: (() => void) | undefined;
    const runner = scripted(async ({ say, text }) => {
      if (text === 'first') await new Promise<void>((resolve) => (go = resolve));
      await say(`re: ${text}`);
    });
    const server = await serveServices({ runner });
    const { client } = await connect(server);
    const first = await client.callTool({ name: 'send_message', arguments: { input: 'first' } });
    const { session_id } = first.structuredContent as any;
    await eventually(() => go !== undefined);
    const waited = client.callTool({
      name: 'send_message',
      arguments: { input: 'second', session_id, wait: true },
    });
    await eventually(async () => {
      const { events } = await server.sessions.read(ORG, session_id, { limit: 100 });
      return events.filter(({ event }) => event.type === 'user.message').length === 2;
    });
    go?.();
    const { events } = (await waited).structuredContent as any;
    const answers = events.filter(({ type }: any) => type === 'agent.message');
    expect(answers).toMatchObject([{ content: [{ text: 're: second' }] }]);
  });

  it('leaves off waiting after five minutes, and the turn goes on', async () => {
    const clock = createFakeClock();
    const server = await serveServices({ runner: scripted(({ interrupted }) => interrupted()) });
    // It has no place for turns, which would go by its clock.
    const deadline = await serveServices({ clock, store: server.store, concurrency: 0 });
    const headers = await open(deadline);
    let answer: Answer | undefined;
    const body = tool('send_message', { input: 'x', wait: true });
    void deadline.call('POST', 'mcp', { headers, body }).then((given) => (answer = given));
    await eventually(async () => {
      const [session] = await server.sessions.list(ORG, { limit: 1, order: 'asc' });
      return session?.status === 'running';
    });
    const given = await eventually(() => {
      clock.advance(60_000);
      return answer;
    });
    const { session_id, status } = given.body.result.structuredContent;
    expect(status).toBe('running');
    await server.sessions.send(ORG, session_id, [{ type: 'user.interrupt' }]);
  });

  it(
    verifies('mcp.initialize', 'answers initialize under its own id, and nothing before it'),
    async () => {
      const server = await serveServices();
      for (const id of [0, 7, 'a']) {
        const { status, body } = await server.call('POST', 'mcp', { body: { ...INITIALIZE, id } });
        expect(status).toBe(200);
        expect(body).toMatchObject({
          jsonrpc: '2.0',
          id,
          result: { protocolVersion: '2025-11-25', serverInfo: {}, capabilities: { tools: {} } },
        });
      }
      const early = await server.call('POST', 'mcp', { body: rpc('tools/list') });
      expect(early).toMatchObject({ status: 400, body: { jsonrpc: '2.0', error: {} } });
      const params = { ...INITIALIZE.params, protocolVersion: '2099-01-01' };
      const newer = await server.call('POST', 'mcp', { body: { ...INITIALIZE, params } });
      expect(newer.body.result.protocolVersion).toBe('2025-11-25');
      const bare = await server.call('POST', 'mcp', { body: { ...INITIALIZE, params: {} } });
      expect(bare.body.error.code).toBe(-32602);
    },
  );

  it(
    verifies(
      'mcp.transport-session',
      'mcp.delete-204',
      'knows whose transport session is open and forgets it at its end',
    ),
    async () => {
      const server = await serveServices();
      const headers = await open(server);
      const list = (more: Record<string, string>, key = 'org_1') =>
        server.call('POST', 'mcp', { key, headers: more, body: rpc('tools/list') });
      expect(headers['mcp-session-id']).not.toBe('');
      expect((await list(headers)).status).toBe(200);
      expect((await list({})).status).toBe(400);
      expect((await list({ 'mcp-session-id': 'mcp_0' })).status).toBe(404);
      expect((await list({ ...headers, 'mcp-protocol-version': '1999-01-01' })).status).toBe(400);
      expect((await list({ ...headers, 'mcp-protocol-version': '2025-06-18' })).status).toBe(200);
      server.services.set('ep_2', { ...SERVICE, id: 'ep_2' });
      const path = `${server.url}/v1/endpoints/ep_2/mcp`;
      const elsewhere = await fetch(path, {
        method: 'POST',
        headers: { authorization: 'Bearer org_1', ...headers },
        body: JSON.stringify(rpc('tools/list')),
      });
      expect(elsewhere.status).toBe(404);

      const sent = await server.call('POST', 'mcp', {
        headers,
        body: tool('send_message', { input: 'x' }),
      });
      expect(await server.call('DELETE', 'mcp', { headers })).toMatchObject({
        status: 204,
        body: '',
      });
      expect((await list(headers)).status).toBe(404);
      expect((await server.call('DELETE', 'mcp', { headers })).status).toBe(404);
      const { session_id } = sent.body.result.structuredContent;
      expect((await server.sessions.get(ORG, session_id)).id).toBe(session_id);
      expect((await list(await open(server))).status).toBe(200);
    },
  );

  it('forgets a transport session that nobody used for a day, and none that is used', async () => {
    const clock = createFakeClock();
    const server = await serveServices({ clock });
    const list = async (headers: Record<string, string>) =>
      (await server.call('POST', 'mcp', { headers, body: rpc('ping') })).status;
    const [used, unused] = [await open(server), await open(server)];
    for (const hours of [13, 10]) {
      clock.advance(hours * 3_600_000);
      expect(await list(used)).toBe(200);
    }
    clock.advance(2 * 3_600_000);
    expect(await list(used)).toBe(200);
    expect(await list(unused)).toBe(404);
  });

  it(verifies('mcp.errors', 'tells failures in the place that they belong to'), async () => {
    const server = await serveServices();
    const headers = await open(server);
    const post = (body: unknown) => server.call('POST', 'mcp', { headers, body });
    expect(await post('{')).toMatchObject({ status: 400, body: { error: { code: -32700 } } });
    for (const body of [{}, { jsonrpc: '2.0' }, [], 7, { ...rpc('ping'), id: null }])
      expect((await post(body)).body.error.code, JSON.stringify(body)).toBe(-32600);
    expect((await post(rpc('resources/list'))).body).toMatchObject({
      id: 1,
      error: { code: -32601 },
    });
    for (const body of [
      rpc('tools/call'),
      rpc('tools/call', { name: 'send_message', arguments: 'x' }),
      tool('nothing'),
      rpc('tools/list', { cursor: 'x' }),
    ])
      expect((await post(body)).body.error.code, JSON.stringify(body)).toBe(-32602);
    const failed = await post(tool('get_session', { session_id: 'sess_0' }));
    expect(failed).toMatchObject({
      status: 200,
      body: { result: { isError: true, content: [{ text: 'session not found' }] } },
    });
    expect((await server.call('POST', 'mcp', { key: '', body: INITIALIZE })).status).toBe(401);
    expect(server.bugs).toEqual([]);
  });

  it(
    verifies('mcp.wrong-arguments', 'tells the model which argument of a tool is wrong'),
    async () => {
      const server = await serveServices();
      const { client } = await connect(server);
      const sent = await client.callTool({ name: 'send_message', arguments: { input: 'x' } });
      const { session_id } = sent.structuredContent as any;
      const parts = [{ type: 'text', text: 'x' }];
      for (const [name, args, told] of [
        ['send_message', {}, /^input: /],
        ['send_message', { input: '' }, /^input: /],
        ['send_message', { input: [] }, /^input: /],
        ['send_message', { input: [{ type: 'text' }] }, /^input\[0\]\.text: /],
        ['send_message', { content: [{ type: 'text' }] }, /^content\[0\]\.text: /],
        ['send_message', { content: 'x' }, /^content: /],
        ['send_message', { input: 'x', content: parts }, /^input: exactly one/],
        ['send_message', { input: 'x', wait: 'yes' }, /^wait: /],
        ['get_session', {}, /^session_id: /],
        ['get_session', { session_id, after: 'sevt_0' }, /^after: /],
      ] as const)
        expect(await client.callTool({ name, arguments: args }), JSON.stringify(args)).toEqual({
          isError: true,
          content: [{ type: 'text', text: expect.stringMatching(told) }],
        });
      for (const args of [{ input: 'x' }, { input: parts }, { content: parts }])
        expect(
          (await client.callTool({ name: 'send_message', arguments: args })).isError,
        ).toBeUndefined();
    },
  );

  it(
    verifies(
      'mcp.wrong-arguments',
      'says in its schemas what a call needs, as every host takes it',
    ),
    async () => {
      const { client } = await connect(await serveServices());
      const { tools } = await client.listTools();
      expect(tools.map(({ inputSchema }) => inputSchema.required)).toEqual([
        ['input'],
        ['session_id'],
      ]);
      const accepts = tools.map(({ inputSchema }) =>
        new Ajv({ strict: false }).compile(inputSchema),
      );
      expect(accepts.map((accept) => accept({}))).toEqual([false, false]);
      expect(accepts[0]?.({ input: 'x' })).toBe(true);
      expect(accepts[0]?.({ input: [{ type: 'text', text: 'x' }], wait: true })).toBe(true);
      expect(accepts[0]?.({ input: 7 })).toBe(false);
      // The APIs of large models refuse every request with a tool that has one of these at the top.
      for (const { inputSchema } of tools)
        for (const word of ['oneOf', 'anyOf', 'allOf', 'not', 'enum'])
          expect(inputSchema).not.toHaveProperty(word);
    },
  );

  it('answers a batch as one, and notifications not at all', async () => {
    const server = await serveServices();
    const headers = await open(server);
    const notification = { jsonrpc: '2.0', method: 'notifications/initialized' };
    const none = await server.call('POST', 'mcp', { headers, body: notification });
    expect(none).toMatchObject({ status: 202, body: '' });
    const body = [rpc('ping', {}, 'a'), notification, rpc('nothing', {}, 2)];
    const both = await server.call('POST', 'mcp', { headers, body });
    expect(both.body).toMatchObject([
      { id: 'a', result: {} },
      { id: 2, error: { code: -32601 } },
    ]);
    const joined = await server.call('POST', 'mcp', { body: [INITIALIZE, rpc('ping')] });
    expect(joined.status).toBe(400);
  });

  it(
    verifies('mcp.ndjson', 'answers line by line those who ask for it, the response last'),
    async () => {
      const server = await serveServices({ runner: scripted(({ say }) => say('welcome')) });
      const headers = { ...(await open(server)), accept: 'application/x-ndjson' };
      const call = tool('send_message', { input: 'x', wait: true });
      const body = { ...call, params: { ...call.params, _meta: { progressToken: 'p' } } };
      const answer = await server.call('POST', 'mcp', { headers, body });
      expect(answer.headers.get('content-type')).toBe('application/x-ndjson');
      const lines = String(answer.body)
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line));
      expect(lines.at(-1)).toMatchObject({ id: 1, result: { structuredContent: {} } });
      expect(lines.slice(0, -1).map(({ method }) => method)).toEqual(
        Array.from({ length: 4 }, () => 'notifications/progress'),
      );
    },
  );

  it('says so when the session waits for its client', async () => {
    const asks = idle('requires_action', { event_ids: ['sevt_1'] });
    const server = await serveServices({ runner: scripted(({ add }) => add(asks)) });
    const headers = await open(server);
    const body = tool('send_message', { input: 'x', wait: true });
    const answer = await server.call('POST', 'mcp', { headers, body });
    const { stop_reason: reason } = answer.body.result.structuredContent;
    expect(reason).toEqual({ type: 'requires_action', event_ids: ['sevt_1'] });
  });

  it('refuses web pages that come by a name of their own', async () => {
    const { url } = await serveServices();
    const status = (headers: Record<string, string>) =>
      new Promise((resolve, reject) => {
        request(`${url}/v1/endpoints/ep_1/mcp`, { method: 'POST', headers }, (response) => {
          response.resume();
          resolve(response.statusCode);
        })
          .on('error', reject)
          .end(JSON.stringify(INITIALIZE));
      });
    const authorization = 'Bearer org_1';
    expect(await status({ authorization, host: 'evil.example' })).toBe(403);
    expect(await status({ authorization, origin: 'http://evil.example' })).toBe(403);
    expect(await status({ authorization })).toBe(200);
  });

  it('knows the revisions that the official client knows', () => {
    expect(MCP_VERSIONS).toEqual(SUPPORTED_PROTOCOL_VERSIONS);
  });
});
