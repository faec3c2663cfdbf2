import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import type { ElicitResult } from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { verifies } from '../../requirements.ts';
import { historyOf, ORG } from '../../sessions/support.ts';
import { openStream } from '../../support/event-stream.ts';
import type { OpenStream } from '../../support/event-stream.ts';
import { eventually } from '../../support/gateway.ts';
import { asking } from './scripted-runner.ts';
import { serveServices } from './serve-services.ts';
import type { ServiceServer } from './serve-services.ts';

/** The official client of the revisions with sessions, which decides by `decide`. */
async function connect(
  { url }: ServiceServer,
  decide?: () => ElicitResult | Promise<ElicitResult>,
) {
  const asked: unknown[] = [];
  const capabilities = decide ? { elicitation: {} } : {};
  const client = new Client({ name: 'test', version: '1' }, { capabilities });
  if (decide)
    client.setRequestHandler(ElicitRequestSchema, async ({ params }) => {
      asked.push(params);
      return decide();
    });
  onTestFinished(() => client.close());
  const transport = new StreamableHTTPClientTransport(new URL(`${url}/v1/endpoints/ep_1/mcp`), {
    requestInit: { headers: { authorization: 'Bearer org_1' } },
  });
  await client.connect(transport);
  const send = async (input: string): Promise<any> =>
    (await client.callTool({ name: 'send_message', arguments: { input, wait: true } }))
      .structuredContent;
  return { asked, send, client };
}

async function initialize(server: ServiceServer, capabilities: object) {
  const clientInfo = { name: 'test', version: '1' };
  const params = { protocolVersion: '2025-11-25', capabilities, clientInfo };
  const body = { jsonrpc: '2.0', id: 0, method: 'initialize', params };
  const { headers } = await server.call('POST', 'mcp', { body });
  return { 'mcp-session-id': headers.get('mcp-session-id') ?? '' };
}

const wordsOf = ({ events }: any): string =>
  events
    .filter(({ type }: any) => type === 'agent.message')
    .map(({ content }: any) => content[0].text)
    .join();

const ALLOW: ElicitResult = { action: 'accept', content: { decision: 'allow' } };

describe('a tool that asks, for a client of MCP with a session', () => {
  it.each<[ElicitResult, string]>([
    [ALLOW, 'allow'],
    [{ action: 'accept', content: { decision: 'deny', reason: 'no' } }, 'deny: no'],
    [{ action: 'decline' }, 'deny: The user declined.'],
    [{ action: 'cancel' }, 'deny: The user closed the question.'],
  ])(
    verifies('mcp.modern.input-required', 'is answered by an elicitation in mid call: %j'),
    async (answer, said) => {
      const server = await serveServices({ runner: asking });
      const { asked, send } = await connect(server, () => answer);
      const result = await send('ask');
      expect(wordsOf(result)).toBe(said);
      expect(result).toMatchObject({ status: 'idle', stop_reason: { type: 'end_turn' } });
      expect(asked).toMatchObject([{ message: expect.stringContaining('rm') }]);
      const types = (await historyOf(server.sessions, result.session_id)).map(
        ({ event }) => event.type,
      );
      expect(types.filter((type) => type === 'user.tool_confirmation')).toHaveLength(1);
    },
  );

  it('goes on with an answer that came another way, while the question stands', async () => {
    const server = await serveServices({ runner: asking });
    const stop = new AbortController();
    onTestFinished(() => stop.abort());
    const { asked, send } = await connect(
      server,
      () => new Promise((resolve) => stop.signal.addEventListener('abort', () => resolve(ALLOW))),
    );
    const sent = send('ask');
    await eventually(() => asked.length > 0);
    const [session] = await server.sessions.list(ORG, { limit: 1, order: 'desc' });
    const answer = { type: 'user.tool_confirmation', tool_use_id: 'sevt_use', result: 'deny' };
    await server.sessions.send(ORG, String(session?.id), [answer]);
    expect(wordsOf(await sent)).toBe('deny');
  });

  it('ends the call as before where the client takes no questions', async () => {
    const server = await serveServices({ runner: asking });
    const { send } = await connect(server);
    const { session_id, stop_reason: reason } = await send('ask');
    expect(reason).toMatchObject({ type: 'requires_action', event_ids: ['sevt_use'] });
    const answer = { type: 'user.tool_confirmation', tool_use_id: 'sevt_use', result: 'allow' };
    await server.sessions.send(ORG, session_id, [answer]);
  });

  it('is asked again after a lost connection, on another process, and answered once', async () => {
    const server = await serveServices({ runner: asking });
    const other = await serveServices({ runner: asking, store: server.store });
    const capabilities = { elicitation: {} };
    const session = await initialize(server, capabilities);
    const path = ({ url }: ServiceServer) => `${url}/v1/endpoints/ep_1/mcp`;
    const headers = {
      authorization: 'Bearer org_1',
      accept: 'application/json, text/event-stream',
    };
    const params = { name: 'send_message', arguments: { input: 'ask', wait: true } };
    const call = await openStream(path(server), {
      method: 'POST',
      headers: { ...headers, ...session },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
    });
    const askedOf = ({ events }: OpenStream) =>
      events.filter(({ message }) => message?.method === 'elicitation/create');
    await eventually(() => askedOf(call).length > 0);
    const id = call.events.find((event) => event.id !== undefined)?.id ?? '';
    call.leave();
    await call.ended;
    const resumed = await openStream(path(other), {
      headers: { ...headers, accept: 'text/event-stream', ...session, 'last-event-id': id },
    });
    onTestFinished(() => resumed.leave());
    await eventually(() => askedOf(resumed).length > 0);
    const question = askedOf(resumed)[0]?.message;
    expect(question).toEqual(askedOf(call)[0]?.message);
    const answer = { jsonrpc: '2.0', id: question.id, result: ALLOW };
    await server.call('POST', 'mcp', { headers: session, body: answer });
    await resumed.ended;
    expect(askedOf(resumed)).toHaveLength(1);
    const last = resumed.events.at(-1)?.message;
    expect(wordsOf(last.result.structuredContent)).toBe('allow');
  });

  it('changes nothing by an answer to no question', async () => {
    const server = await serveServices({ runner: asking });
    const { send } = await connect(server);
    const { session_id } = await send('ask');
    const { head } = await server.sessions.get(ORG, session_id);
    const session = await initialize(server, {});
    const post = (id: unknown, result: object) =>
      server.call('POST', 'mcp', { headers: session, body: { jsonrpc: '2.0', id, result } });
    const key = `${session_id}/user.tool_confirmation/sevt_use`;
    for (const id of [
      1,
      'x',
      '/',
      session_id,
      `${session_id}/sevt_use`,
      key.replace('sess_', 'sess_x'),
    ])
      expect(await post(id, ALLOW)).toMatchObject({ status: 202, body: '' });
    expect((await server.sessions.get(ORG, session_id)).head).toBe(head);
    expect((await post(key, ALLOW)).status).toBe(202);
    await eventually(async () => (await server.sessions.get(ORG, session_id)).status === 'idle');
  });
});
