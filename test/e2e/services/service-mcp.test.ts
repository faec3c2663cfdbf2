import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { verifies } from '../../requirements.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { BINARY, eventually, startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { CONFIG, newService } from './service-setup.ts';
import { directoryOfTest } from '../../support/process/directory-of-test.ts';

async function start(
  options: Parameters<typeof startGateway>[1] = {},
  server: object = {},
): Promise<TestGateway> {
  const gateway = await startGateway(
    { ...CONFIG, server: { ...CONFIG.server, ...server } },
    options,
  );
  onTestFinished(async () => void (await gateway.stop()));
  return gateway;
}

function transportTo({ url }: TestGateway, id: string, key: string) {
  return new StreamableHTTPClientTransport(new URL(`${url}/v1/endpoints/${id}/mcp`), {
    requestInit: { headers: { authorization: `Bearer ${key}` } },
  });
}

async function connect(gateway: TestGateway, id: string, key = gateway.clientKey) {
  const client = new Client({ name: 'test', version: '1' });
  const transport = transportTo(gateway, id, key);
  await client.connect(transport);
  onTestFinished(() => client.close());
  return { client, transport };
}

const send = async (client: Client, args: object) =>
  (await client.callTool({ name: 'send_message', arguments: { ...args } }))
    .structuredContent as any;

const textOf = (events: any[]): string =>
  events
    .filter(({ type }) => type === 'agent.message')
    .map(({ content }) => content[0].text)
    .join('');

describe('POST /v1/endpoints/{id}/mcp', () => {
  it(
    verifies(
      'mcp.official-client',
      'mcp.tools',
      'mcp.session-readable',
      'mcp.delete-204',
      'sessions.identity.public-id',
      'lets the official client talk to an Agent, in Sessions that REST knows too',
    ),
    async () => {
      const gateway = await start();
      const { id } = await newService(gateway, { name: 'tools', protocols: ['mcp'] });
      const { client, transport } = await connect(gateway, id);
      await client.listTools();
      const first = await send(client, { input: 'welcome?', wait: true });
      expect(first).toMatchObject({ status: 'idle', stop_reason: { type: 'end_turn' } });
      expect(textOf(first.events)).toBe('you are welcome');
      const { session_id } = first;
      const session = await gateway.call('GET', `/v1/sessions/${session_id}`);
      expect(session.body).toMatchObject({ id: session_id, endpoint_id: id });
      const { body } = await gateway.call('GET', `/v1/sessions/${session_id}/events`);
      expect(body.data).toEqual(first.events);

      const again = await send(client, { input: 'welcome again?', session_id, wait: true });
      expect(again.session_id).toBe(session_id);
      const args = { session_id, after: first.events.at(-1).id };
      const read = await client.callTool({ name: 'get_session', arguments: args });
      expect((read.structuredContent as any).events).toEqual(again.events);

      const unknown = { session_id: 'sess_none', input: 'x' };
      const failed = await client.callTool({ name: 'send_message', arguments: unknown });
      expect(failed.isError).toBe(true);
      await transport.terminateSession();
      await expect(client.ping()).rejects.toThrow();
      expect((await gateway.call('GET', `/v1/sessions/${session_id}`)).status).toBe(200);
      expect((await connect(gateway, id)).client.getServerVersion()).toBeDefined();
    },
  );

  it('does not exist for other organizations, nor without a key', async () => {
    const gateway = await start();
    await gateway.admin('POST', '/admin/v1/organizations', { name: 'strangers' });
    const made = { name: 'strangers', organization: 'strangers' };
    const key = (await gateway.admin('POST', '/admin/v1/keys', made)).body.value;
    const { id } = await newService(gateway, { name: 'ours' });
    await expect(connect(gateway, id, key)).rejects.toMatchObject({ code: 404 });
    await expect(connect(gateway, id, 'sk-wrong')).rejects.toMatchObject({ code: 401 });
  });

  it(
    verifies(
      'mcp.transport-session',
      'knows a transport session on every process, and closes it for all of them',
    ),
    async () => {
      const directory = await directoryOfTest();
      const one = await start({ directory }, { store: { driver: 'lmdb' } });
      const other = await start({ binary: true, directory });
      const { id } = await newService(one, { name: 'shared' });
      const { client, transport } = await connect(one, id);
      const headers = { 'mcp-session-id': String(transport.sessionId) };
      const list = (gateway: TestGateway) =>
        gateway.call('POST', `/v1/endpoints/${id}/mcp`, {
          key: one.clientKey,
          headers,
          body: { jsonrpc: '2.0', id: 1, method: 'tools/list' },
        });
      expect((await list(other)).body.result.tools).toHaveLength(2);
      const { session_id } = await send(client, { input: 'welcome?' });
      const key = one.clientKey;
      expect((await other.call('GET', `/v1/sessions/${session_id}`, { key })).status).toBe(200);
      await other.call('DELETE', `/v1/endpoints/${id}/mcp`, { key, headers });
      expect((await list(one)).status).toBe(404);
    },
  );

  it(verifies('bridges.stdio', 'is a process on stdio for the official client, too'), async () => {
    const gateway = await start();
    await newService(gateway, { name: 'Bridged', slug: 'bridged', protocols: ['mcp'] });
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [BINARY, 'mcp', 'bridged'],
      cwd: gateway.directory,
      env: { GATEWAY_SERVER: gateway.url, GATEWAY_API_KEY: gateway.clientKey },
      stderr: 'pipe',
    });
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(transport);
    const { events } = await send(client, { input: 'welcome?', wait: true });
    expect(textOf(events)).toBe('you are welcome');
    const { pid } = transport;
    await client.close();
    expect(() => process.kill(Number(pid), 0)).toThrow('ESRCH');
  });

  it('leaves a key its one place in flight, and a stop of the gateway its time, while it listens', async () => {
    const gateway = await startGateway(CONFIG, { clock: createFakeClock(Date.now()) });
    onTestFinished(async () => void (await gateway.stop()));
    const { id } = await newService(gateway, { name: 'tools', protocols: ['mcp'] });
    const narrow = { name: 'narrow', concurrency_cap: 1 };
    const key: string = (await gateway.admin('POST', '/admin/v1/keys', narrow)).body.value;
    const opened: number[] = [];
    const transport = new StreamableHTTPClientTransport(
      new URL(`${gateway.url}/v1/endpoints/${id}/mcp`),
      {
        requestInit: { headers: { authorization: `Bearer ${key}` } },
        async fetch(url, init) {
          const response = await fetch(url, init);
          if (init?.method === 'GET') opened.push(response.status);
          return response;
        },
      },
    );
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(transport);
    onTestFinished(() => client.close());
    await eventually(() => opened.length > 0);
    expect(opened).toEqual([200]);
    expect((await client.listTools()).tools).toHaveLength(2);
    // Its clock stands still: whoever waited for the stream would do so for ever.
    await gateway.stop();
  });
});
