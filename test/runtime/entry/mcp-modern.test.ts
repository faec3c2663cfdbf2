import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { ClientOptions } from '@modelcontextprotocol/client';
import { describe, expect, it, onTestFinished } from 'vitest';
import { verifies } from '../../requirements.ts';
import { historyOf, ORG } from '../../sessions/support.ts';
import { eventually } from '../../support/gateway.ts';
import { asking, scripted } from './scripted-runner.ts';
import { SERVICE, serveServices } from './serve-services.ts';
import type { ServiceServer } from './serve-services.ts';
import { modern, modernCall, modernHeaders, FORMS, MODERN, TASKS } from './modern-calls.ts';

/** The official client, which finds out by itself what the server speaks. */
async function connect({ url }: ServiceServer, options: ClientOptions = {}) {
  const seen: { method: string; session: boolean }[] = [];
  const transport = new StreamableHTTPClientTransport(new URL(`${url}/v1/endpoints/ep_1/mcp`), {
    requestInit: { headers: { authorization: 'Bearer org_1' } },
    fetch: async (target, init) => {
      const { method = 'GET', headers } = init ?? {};
      const answer = await fetch(target, init);
      const names = [new Headers(headers), answer.headers];
      seen.push({ method, session: names.some((one) => one.has('mcp-session-id')) });
      return answer;
    },
  });
  const versionNegotiation = { mode: 'auto' } as const;
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation, ...options });
  onTestFinished(() => client.close());
  await client.connect(transport);
  return { client, seen };
}

describe('a Service for a client of MCP 2026-07-28', () => {
  it(
    verifies('mcp.modern.discover', 'serves the official client 2 without a session'),
    async () => {
      const server = await serveServices();
      const { client, seen } = await connect(server);
      expect(client.getNegotiatedProtocolVersion()).toBe(MODERN);
      expect(client.getServerVersion()).toMatchObject({ title: SERVICE.name });
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name)).toEqual(['send_message', 'get_session']);
      const { structuredContent: sent } = await client.callTool({
        name: 'send_message',
        arguments: { input: 'hello', wait: true },
      });
      expect(sent).toMatchObject({ status: 'idle', stop_reason: { type: 'end_turn' } });
      const { session_id } = sent as { session_id: string };
      const read = await client.callTool({ name: 'get_session', arguments: { session_id } });
      expect(read.structuredContent).toMatchObject({ session_id, has_more: false });
      expect(seen.filter(({ method, session }) => method !== 'POST' || session)).toEqual([]);
      expect(server.bugs).toEqual([]);
    },
  );

  it(
    verifies('mcp.modern.discover', 'answers each request on any process, and marks each result'),
    async () => {
      const server = await serveServices();
      const other = await serveServices({ store: server.store });
      const found = await modern(server, 'server/discover');
      expect(found).toMatchObject({ status: 200, body: { id: 1 } });
      expect(found.headers.get('mcp-session-id')).toBeNull();
      expect(found.body.result).toMatchObject({
        resultType: 'complete',
        supportedVersions: expect.arrayContaining([MODERN, '2025-11-25']),
        capabilities: { tools: {}, extensions: { [TASKS]: {} } },
        ttlMs: expect.any(Number),
        cacheScope: 'private',
        _meta: { 'io.modelcontextprotocol/serverInfo': { title: SERVICE.name } },
      });
      const call = modernCall('send_message', { input: 'hello', wait: true });
      const sent = await modern(server, 'tools/call', call);
      const { session_id, events } = sent.body.result.structuredContent;
      expect(sent.body.result.resultType).toBe('complete');
      const read = await modern(other, 'tools/call', modernCall('get_session', { session_id }));
      expect(read.body.result.structuredContent).toMatchObject({ status: 'idle', events });
    },
  );

  it(
    verifies('mcp.list-order', 'lists the tools in one order, with the same bytes for every key'),
    async () => {
      const server = await serveServices();
      const other = await serveServices({ store: server.store });
      const lists = await Promise.all(
        [server, other, server].map(async ({ call }, at) => {
          const key = ['org_1', 'org_1', 'org_1_services'][at];
          const headers = modernHeaders('tools/list');
          return (await call('POST', 'mcp', { key, headers, body: body('tools/list') })).body
            .result;
        }),
      );
      const [first, ...rest] = lists.map((result) => JSON.stringify(result));
      expect(lists[0]).toMatchObject({ ttlMs: expect.any(Number), cacheScope: 'public' });
      expect(new Set(rest)).toEqual(new Set([first]));
    },
  );

  it('reports progress on the stream of the call, and says that a proxy must not hold it', async () => {
    const server = await serveServices({ runner: scripted(async ({ say }) => say('one')) });
    const call = modernCall('send_message', { input: 'x', wait: true });
    const params = { ...call, _meta: { progressToken: 'p' } };
    const headers = { accept: 'application/json, text/event-stream' };
    const answer = await modern(server, 'tools/call', params, { headers });
    expect(answer.headers.get('content-type')).toBe('text/event-stream');
    expect(answer.headers.get('x-accel-buffering')).toBe('no');
    const messages = String(answer.body).matchAll(/^data: (.*)$/gm);
    const sent = [...messages].map(([, text = '']) => JSON.parse(text));
    expect(sent.map(({ method }) => method)).toEqual([
      ...Array.from({ length: sent.length - 1 }, () => 'notifications/progress'),
      undefined,
    ]);
    expect(sent.length).toBeGreaterThan(2);
    expect(answer.body).not.toMatch(/^id:/m);
  });
});

const body = (method: string, params: object = {}, capabilities: object = {}) => ({
  jsonrpc: '2.0',
  id: 1,
  method,
  params: {
    ...params,
    _meta: {
      'io.modelcontextprotocol/protocolVersion': MODERN,
      'io.modelcontextprotocol/clientCapabilities': capabilities,
    },
  },
});

describe('a request whose headers are not those of its body', () => {
  const call = body('tools/call', modernCall('get_session', { session_id: 'sess_0' }));
  const right = modernHeaders('tools/call', 'get_session');
  const coded = `=?base64?${Buffer.from('get_session').toString('base64')}?=`;

  it.each([
    ['another method', { 'mcp-method': 'tools/list' }],
    ['a method in other case', { 'mcp-method': 'Tools/Call' }],
    ['no method', { 'mcp-method': undefined }],
    ['another name', { 'mcp-name': 'send_message' }],
    ['another name in base64', { 'mcp-name': '=?base64?eA==?=' }],
    ['base64 that is none', { 'mcp-name': `=?base64?${coded.slice(9, -3)}?=` }],
    ['no name', { 'mcp-name': undefined }],
    ['another version', { 'mcp-protocol-version': '2025-11-25' }],
    ['no version', { 'mcp-protocol-version': undefined }],
  ])(verifies('mcp.modern.headers', 'is refused with -32020: %s'), async (_what, headers) => {
    const server = await serveServices();
    const given = { ...right, ...headers };
    const sent = Object.fromEntries(
      Object.entries(given).filter(([, value]) => value !== undefined),
    );
    const answer = await server.call('POST', 'mcp', { headers: sent as never, body: call });
    expect(answer).toMatchObject({ status: 400, body: { id: 1, error: { code: -32020 } } });
  });

  it(verifies('mcp.modern.headers', 'is served when they agree, in base64 too'), async () => {
    const server = await serveServices();
    for (const headers of [right, { ...right, 'mcp-name': coded }]) {
      const answer = await server.call('POST', 'mcp', { headers, body: call });
      expect(answer).toMatchObject({ status: 200, body: { result: { isError: true } } });
    }
  });
});

describe('a request that the revision does not have', () => {
  const META = 'io.modelcontextprotocol/';
  const post = async (server: ServiceServer, message: object, headers: Record<string, string>) =>
    server.call('POST', 'mcp', { headers, body: message });

  it('is refused with the versions that there are', async () => {
    const server = await serveServices();
    for (const requested of ['1900-01-01', '2099-01-01', '2025-11-25']) {
      const message = body('tools/list');
      Object.assign(message.params._meta, { [`${META}protocolVersion`]: requested });
      const headers = { ...modernHeaders('tools/list'), 'mcp-protocol-version': requested };
      const { status, body: answer } = await post(server, message, headers);
      expect(status).toBe(400);
      expect(answer.error).toMatchObject({ code: -32022, data: { requested } });
      expect(answer.error.data.supported).toContain(MODERN);
      expect(answer.error.message).toContain(MODERN);
    }
  });

  it('is refused without what `_meta` must have', async () => {
    const server = await serveServices();
    for (const key of ['protocolVersion', 'clientCapabilities'] as const) {
      const message = body('tools/list');
      delete (message.params._meta as Record<string, unknown>)[META + key];
      const answer = await post(server, message, modernHeaders('tools/list'));
      expect(answer).toMatchObject({ status: 400, body: { id: 1, error: { code: -32602 } } });
      expect(answer.body.error.message).toContain(META + key);
    }
  });

  it('is refused as unknown, with the methods that there are', async () => {
    const server = await serveServices();
    for (const method of ['ping', 'initialize', 'tasks/result', 'tasks/list', 'toString']) {
      const answer = await post(server, body(method), modernHeaders(method));
      expect(answer).toMatchObject({ status: 404, body: { id: 1, error: { code: -32601 } } });
      expect(answer.body.error.message).toContain('server/discover');
    }
  });

  it('is refused as a batch, as a response, and by other methods of HTTP', async () => {
    const server = await serveServices();
    const headers = modernHeaders('tools/list');
    const response = { jsonrpc: '2.0', id: 1, result: {} };
    const former = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
    for (const message of [[body('tools/list')], [former], response])
      expect(await post(server, message, headers)).toMatchObject({
        status: 400,
        body: { error: { code: -32600 } },
      });
    for (const method of ['GET', 'DELETE'])
      expect(
        await server.call(method, 'mcp', { headers: { ...headers, 'mcp-session-id': 'mcp_0' } }),
      ).toMatchObject({ status: 405 });
    const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled', params: {} };
    expect(await post(server, cancelled, headers)).toMatchObject({ status: 202, body: '' });
  });

  it('keeps the session of a former revision out of it', async () => {
    const server = await serveServices();
    const headers = { ...modernHeaders('tools/list'), 'mcp-session-id': 'mcp_0' };
    expect(await post(server, body('tools/list'), headers)).toMatchObject({ status: 200 });
  });
});

describe('a tool that asks, for a client of MCP 2026-07-28', () => {
  const call = modernCall('send_message', { input: 'ask', wait: true });
  const KEY = 'user.tool_confirmation/sevt_use';
  const retry = (requestState: string, action: object = { action: 'accept', content: ALLOW }) => ({
    ...call,
    requestState,
    inputResponses: { [KEY]: action },
  });
  const ALLOW = { decision: 'allow' };
  const forms = { capabilities: FORMS };

  const wordsOf = (result: any): string =>
    result.structuredContent.events
      .filter(({ type }: any) => type === 'agent.message')
      .map(({ content }: any) => content[0].text)
      .join();

  it(
    verifies('mcp.modern.input-required', 'is answered by the official client, once for each call'),
    async () => {
      const server = await serveServices({ runner: asking });
      const { client } = await connect(server, { capabilities: { elicitation: { form: {} } } });
      const asked: unknown[] = [];
      client.setRequestHandler('elicitation/create', async ({ params }) => {
        asked.push(params);
        return { action: 'accept', content: { decision: 'deny', reason: 'not today' } };
      });
      const result = await client.callTool({
        name: 'send_message',
        arguments: { input: 'ask', wait: true },
      });
      expect(wordsOf(result)).toBe('deny: not today');
      expect(asked).toMatchObject([
        {
          message: expect.stringContaining('rm'),
          requestedSchema: { properties: { decision: { enum: ['allow', 'deny'] } } },
        },
      ]);
    },
  );

  it.each([
    [{ action: 'accept', content: ALLOW }, 'allow'],
    [{ action: 'accept', content: { decision: 'deny' } }, 'deny'],
    [{ action: 'decline' }, 'deny: The user declined.'],
    [{ action: 'cancel' }, 'deny: The user closed the question.'],
  ])(
    verifies('mcp.modern.input-required', 'goes on with the answer %j on another process'),
    async (action, said) => {
      const server = await serveServices({ runner: asking });
      const other = await serveServices({ runner: asking, store: server.store });
      const first = (await modern(server, 'tools/call', call, forms)).body.result;
      expect(first).toMatchObject({
        resultType: 'input_required',
        inputRequests: { [KEY]: { method: 'elicitation/create' } },
      });
      expect(first).not.toHaveProperty('content');
      const last = await modern(other, 'tools/call', retry(first.requestState, action), forms);
      expect(last.body.result.resultType).toBe('complete');
      expect(wordsOf(last.body.result)).toBe(said);
    },
  );

  it(
    verifies('mcp.modern.input-required', 'takes one of many answers, and sends its message once'),
    async () => {
      const server = await serveServices({ runner: asking });
      const { requestState } = (await modern(server, 'tools/call', call, forms)).body.result;
      const answers = [retry(requestState), retry(requestState, { action: 'decline' })];
      const all = await Promise.all(
        [...answers, ...answers].map((params) => modern(server, 'tools/call', params, forms)),
      );
      const said = new Set(all.map(({ body: { result } }) => wordsOf(result)));
      expect(said.size).toBe(1);
      const { session_id } = all[0]!.body.result.structuredContent;
      const types = (await historyOf(server.sessions, session_id)).map(({ event }) => event.type);
      for (const type of ['user.message', 'user.tool_confirmation'])
        expect(types.filter((one) => one === type)).toHaveLength(1);
    },
  );

  it('asks again where the answers do not answer', async () => {
    const server = await serveServices({ runner: asking });
    const { requestState } = (await modern(server, 'tools/call', call, forms)).body.result;
    for (const inputResponses of [
      undefined,
      {},
      { other: { action: 'accept', content: ALLOW } },
      { [KEY]: { action: 'accept', content: { decision: 'perhaps' } } },
      { [KEY]: { action: 'accept' } },
      { [KEY]: 'allow' },
    ]) {
      const params = { ...call, requestState, ...(inputResponses && { inputResponses }) };
      const { result } = (await modern(server, 'tools/call', params, forms)).body;
      expect(Object.keys(result.inputRequests)).toEqual([KEY]);
    }
    await modern(server, 'tools/call', retry(requestState), forms);
  });

  it(
    verifies('mcp.modern.input-required', 'refuses a state of another key, Service or call'),
    async () => {
      const server = await serveServices({ runner: asking });
      server.services.set('ep_2', { ...SERVICE, id: 'ep_2' });
      const { requestState } = (await modern(server, 'tools/call', call, forms)).body.result;
      const changed =
        requestState.slice(0, -6) + requestState.slice(-6).split('').reverse().join('');
      const given: [Record<string, unknown>, object][] = [
        [retry(requestState), { key: 'org_1_services' }],
        [retry(requestState), { service: 'ep_2' }],
        [{ ...retry(requestState), arguments: { input: 'other', wait: true } }, {}],
        [{ ...retry(requestState), name: 'get_session' }, {}],
        [retry(changed), {}],
        [retry(`${requestState}-x`), {}],
        [retry(`${requestState}.x`), {}],
        [retry('x'), {}],
      ];
      for (const [params, who] of given) {
        const { status, body: answer } = await modern(server, 'tools/call', params, {
          ...forms,
          ...who,
        });
        expect({ status, code: answer.error?.code }).toEqual({ status: 200, code: -32602 });
        expect(answer.error.message).toContain('requestState');
      }
      expect(
        (await modern(server, 'tools/call', retry(requestState), forms)).body.result,
      ).toMatchObject({ resultType: 'complete' });
    },
  );

  it('is left to others where the client takes no forms', async () => {
    const server = await serveServices({ runner: asking });
    for (const capabilities of [{}, { elicitation: { url: {} } }]) {
      const { result } = (await modern(server, 'tools/call', call, { capabilities })).body;
      expect(result.resultType).toBe('complete');
      const { session_id, stop_reason: reason } = result.structuredContent;
      expect(reason).toMatchObject({ type: 'requires_action' });
      const answer = { type: 'user.tool_confirmation', tool_use_id: 'sevt_use', result: 'allow' };
      await server.sessions.send(ORG, session_id, [answer]);
    }
  });

  it('passes on what a server of the Agent asks, and what its own client runs', async () => {
    const schema = { type: 'object', properties: { city: { type: 'string' } } };
    const uses = [
      { type: 'agent.custom_tool_use', id: 'sevt_a', name: 'weigh', input: { what: 'it' } },
      {
        type: 'agent.custom_tool_use',
        id: 'sevt_b',
        name: 'mcp_elicitation',
        mcp_server_name: 'maps',
        input: { message: 'Where?', requested_schema: schema },
      },
    ] as const;
    const runner = scripted(async (turn) => {
      await turn.add(...uses);
      const event_ids = uses.map(({ id }) => id);
      await turn.add({
        type: 'session.status_idle',
        stop_reason: { type: 'requires_action', event_ids },
      });
      await eventually(async () => turn.log.session.awaiting.length === 0);
      await turn.say('thanks');
    });
    const server = await serveServices({ runner });
    const params = modernCall('send_message', { input: 'x', wait: true });
    const first = (await modern(server, 'tools/call', params, forms)).body.result;
    const [a, b] = uses.map(({ id }) => `user.custom_tool_result/${id}`) as [string, string];
    expect(first.inputRequests[a].params.requestedSchema.required).toEqual(['result']);
    expect(first.inputRequests[b].params).toEqual({
      message: 'The server maps asks: Where?',
      requestedSchema: schema,
    });
    const answer = (content: object) => ({ action: 'accept', content });
    const half = {
      ...params,
      requestState: first.requestState,
      inputResponses: { [b]: answer({ city: 'Ulm' }) },
    };
    const second = (await modern(server, 'tools/call', half, forms)).body.result;
    expect(Object.keys(second.inputRequests)).toEqual([a]);
    const rest = {
      ...params,
      requestState: second.requestState,
      inputResponses: { [a]: answer({ result: '7' }) },
    };
    const last = (await modern(server, 'tools/call', rest, forms)).body.result;
    const { session_id, events } = last.structuredContent;
    expect(wordsOf(last)).toBe('thanks');
    const results = events.filter(({ type }: any) => type === 'user.custom_tool_result');
    expect(results.map(({ content }: any) => content[0].text)).toEqual(['{"city":"Ulm"}', '7']);
    expect((await server.sessions.get(ORG, session_id)).status).toBe('idle');
  });
});
