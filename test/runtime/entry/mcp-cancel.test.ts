import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Store } from '../../../src/store/store.ts';
import { ORG } from '../../sessions/support.ts';
import { ask, eventually } from '../../support/gateway.ts';
import type { Answer } from '../../support/gateway.ts';
import { scripted } from './scripted-runner.ts';
import { serveServices } from './serve-services.ts';
import type { ServiceServer } from './serve-services.ts';

const rpc = (method: string, params: object, id?: unknown) => ({
  jsonrpc: '2.0',
  ...(id !== undefined && { id }),
  method,
  params,
});
const cancel = (requestId: unknown) => rpc('notifications/cancelled', { requestId, reason: 'x' });
const waiting = (id: unknown) =>
  rpc('tools/call', { name: 'send_message', arguments: { input: 'x', wait: true } }, id);

/** Turns that end when the test says so, on whichever process they run. */
function slowly(go: (() => void)[]) {
  return scripted(async ({ say }) => {
    await new Promise<void>((resolve) => go.push(resolve));
    await say('done');
  });
}

async function serveSlowly({ go = [], store }: { go?: (() => void)[]; store?: Store } = {}) {
  const server = await serveServices({ runner: slowly(go), ...(store && { store }) });
  const { headers } = await server.call('POST', 'mcp', {
    body: rpc(
      'initialize',
      {
        protocolVersion: '2025-11-25',
        capabilities: {},
        clientInfo: { name: 'test', version: '1' },
      },
      0,
    ),
  });
  const session = { 'mcp-session-id': headers.get('mcp-session-id') ?? '' };
  const post = (body: unknown, accept = 'application/json') =>
    server.call('POST', 'mcp', { headers: { ...session, accept }, body });
  return { server, session, go, post };
}

const running = (server: ServiceServer, count = 1) =>
  eventually(async () => {
    const found = await server.sessions.list(ORG, { limit: 10, order: 'asc' });
    const busy = found.filter(({ status }) => status === 'running');
    return busy.length === count && busy;
  });

/** The turn that nobody waits for any more comes to its own end. */
async function finish(server: ServiceServer, go: (() => void)[]): Promise<void> {
  const [session] = await running(server);
  await eventually(() => go.length > 0);
  for (const one of go) one();
  await eventually(async () => (await server.sessions.get(ORG, session!.id)).status === 'idle');
  const { events } = await server.sessions.read(ORG, session!.id, { limit: 100 });
  const types = events.map(({ event }) => event.type);
  expect(types).toContain('agent.message');
  expect(types).not.toContain('user.interrupt');
}

describe('a call over MCP that its client takes back', () => {
  it('ends for the official client at once, and the turn goes on', async () => {
    const { server, go } = await serveSlowly();
    const bodies: Promise<string>[] = [];
    const transport = new StreamableHTTPClientTransport(
      new URL(`${server.url}/v1/endpoints/ep_1/mcp`),
      {
        requestInit: { headers: { authorization: 'Bearer org_1' } },
        async fetch(url, init) {
          const response = await fetch(url, init);
          if (init?.method === 'POST') bodies.push(response.clone().text());
          return response;
        },
      },
    );
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(transport);
    onTestFinished(() => client.close());
    const before = bodies.length;
    const stop = new AbortController();
    const call = client.callTool(
      { name: 'send_message', arguments: { input: 'x', wait: true } },
      undefined,
      { signal: stop.signal },
    );
    await running(server);
    stop.abort('enough');
    await expect(call).rejects.toThrow('enough');
    // The stream of the call has ended without an answer, though the connection is still there.
    const texts = await Promise.all(bodies.slice(before));
    expect(texts.join('')).not.toContain('result');
    await client.ping();
    await finish(server, go);
  });

  it.each(['application/json', 'text/event-stream', 'application/x-ndjson'])(
    'gets no answer as %s',
    async (accept) => {
      const { server, go, post } = await serveSlowly();
      const call = post(waiting('a'), accept);
      await running(server);
      expect(await post(cancel('a'))).toMatchObject({ status: 202, body: '' });
      const { status, body } = await call;
      expect(status).toBe(accept === 'application/json' ? 202 : 200);
      expect(String(body)).not.toContain('jsonrpc');
      await finish(server, go);
    },
  );

  it('is the one that the notice names, in its own session alone', async () => {
    const { server, go, post } = await serveSlowly();
    const other = await serveSlowly({ go, store: server.store });
    let given: Answer | undefined;
    void post(waiting(1)).then((answer) => (given = answer));
    await running(server);
    for (const id of ['1', 2, null, { a: 1 }, 'x'.repeat(1_000)])
      expect((await post(cancel(id))).status).toBe(202);
    expect((await post(rpc('notifications/cancelled', {}))).status).toBe(202);
    expect((await other.post(cancel(1))).status).toBe(202);
    await post(rpc('ping', {}, 9));
    expect(given).toBeUndefined();
    await eventually(() => go.length > 0);
    go[0]?.();
    const { body } = await eventually(() => given);
    expect(body.result.structuredContent.status).toBe('idle');
    expect(server.bugs).toEqual([]);
  });

  it('ends on the process that is at work on it, whichever process heard of it', async () => {
    const { server, session, go, post } = await serveSlowly();
    const other = await serveServices({ runner: slowly(go), store: server.store });
    const call = post(waiting(1));
    await running(server);
    const heard = await ask(`${other.url}/v1/endpoints/ep_1/mcp`, {
      method: 'POST',
      key: 'org_1',
      headers: session,
      body: cancel(1),
    });
    expect(heard.status).toBe(202);
    expect((await call).status).toBe(202);
    await finish(server, go);
  });

  it('is left out of the answers of its batch', async () => {
    const { server, go, post } = await serveSlowly();
    const call = post([waiting('a'), rpc('ping', {}, 'b')]);
    await running(server);
    await post(cancel('a'));
    expect((await call).body).toEqual([{ jsonrpc: '2.0', id: 'b', result: {} }]);
    await finish(server, go);
  });
});
