import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { ClientOptions } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { verifies } from '../../requirements.ts';
import { eventually, startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { CONFIG, newService } from './service-setup.ts';

/** Ways in which client 2 finds out what the server speaks, and whether it then has a session. */
const MODES: [string, ClientOptions, boolean][] = [
  ['by default', {}, true],
  ['with the negotiation auto', { versionNegotiation: { mode: 'auto' } }, false],
  ['pinned to 2026-07-28', { versionNegotiation: { mode: { pin: '2026-07-28' } } }, false],
];

let gateway: TestGateway;
let id: string;
beforeAll(async () => {
  gateway = await startGateway(CONFIG);
});
afterAll(() => gateway.stop());
let services = 0;
beforeEach(async () => {
  ({ id } = await newService(gateway, { name: `tools${++services}`, protocols: ['mcp'] }));
});

async function connect(options: ClientOptions) {
  const url = new URL(`${gateway.url}/v1/endpoints/${id}/mcp`);
  const transport = new StreamableHTTPClientTransport(url, {
    requestInit: { headers: { authorization: `Bearer ${gateway.clientKey}` } },
  });
  const client = new Client({ name: 'test', version: '1' }, options);
  const errors: Error[] = [];
  Object.assign(client, { onerror: (error: Error) => errors.push(error) });
  onTestFinished(() => client.close());
  await client.connect(transport);
  return { client, transport, errors };
}

const callOf = (args: object) => ({ name: 'send_message', arguments: { ...args } });

describe('the official client 2 of MCP', () => {
  it.each(MODES)(
    verifies(
      'mcp.official-client',
      'mcp.modern.discover',
      'mcp.tools',
      'mcp.session-readable',
      'mcp.delete-204',
      'talks to a Service %s, from its connection to its end',
    ),
    async (_mode, options, hasSession) => {
      const { client, transport, errors } = await connect(options);
      expect(client.getServerVersion()).toMatchObject({ title: `tools${services}` });
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name)).toEqual(['send_message', 'get_session']);

      const sent = (await client.callTool(callOf({ input: 'welcome?' }))).structuredContent as any;
      const { session_id } = sent;
      const answered = await eventually(async () => {
        const args = { session_id, after: sent.events[0].id };
        const read = await client.callTool({ name: 'get_session', arguments: args });
        const { status, events } = read.structuredContent as any;
        return status === 'idle' && events;
      });
      expect(answered.map(({ type }: any) => type)).toContain('agent.message');

      const again = await client.callTool(
        callOf({ input: 'welcome again?', session_id, wait: true }),
      );
      expect(again.structuredContent).toMatchObject({ session_id, status: 'idle' });
      expect((await gateway.call('GET', `/v1/sessions/${session_id}`)).status).toBe(200);
      expect(await client.callTool(callOf({ input: 'x', session_id: 'sess_0' }))).toMatchObject({
        isError: true,
      });
      expect(await client.callTool(callOf({}))).toMatchObject({ isError: true });
      if (hasSession) expect(await client.ping()).toEqual({});
      expect(transport.sessionId !== undefined).toBe(hasSession);
      expect(errors).toEqual([]);

      await transport.terminateSession();
      expect((await gateway.call('GET', `/v1/sessions/${session_id}`)).status).toBe(200);
      expect((await connect(options)).client.getServerVersion()).toBeDefined();
    },
  );

  it.each(MODES)('takes a call back %s, and the turn goes on', async (_mode, options) => {
    const { client, errors } = await connect(options);
    const stop = new AbortController();
    // The client leaves out progress that arrives together with the answer, which this one is far from.
    const progress: unknown[] = [];
    const call = client.callTool(callOf({ input: 'slowly', wait: true }), {
      signal: stop.signal,
      onprogress: ({ message }) => void progress.push(message),
    });
    call.catch(() => undefined);
    // Nothing more is told until the model answers: the client takes progress of a call that it forgot for an error.
    await eventually(() => progress.length > 1);
    expect(progress).toEqual(['session.status_running', 'span.model_request_start']);
    const running = (await gateway.call('GET', '/v1/sessions?statuses=running')).body.data;
    const session = running.find(({ endpoint_id: of }: any) => of === id);
    stop.abort('enough');
    await expect(call).rejects.toThrow('enough');
    await client.listTools();
    expect((await gateway.call('GET', `/v1/sessions/${session.id}`)).body.status).toBe('running');
    expect(errors).toEqual([]);
  });
});
