import { EventEmitter } from 'node:events';
import { PassThrough, Readable, Writable } from 'node:stream';
import { createInterface } from 'node:readline';
import * as acp from '@agentclientprotocol/sdk';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { main } from '../../src/cli/main.ts';
import { startFakeServer } from '../client/fake-server.ts';
import type { Handler } from '../client/fake-server.ts';
import { verifies } from '../requirements.ts';
import { scripted } from '../runtime/entry/scripted-runner.ts';
import { serveServices } from '../runtime/entry/serve-services.ts';
import { ORG } from '../sessions/support.ts';
import { eventually } from '../support/gateway.ts';
import { emptyDirectory } from '../support/each-file/empty-directory.ts';

/** A bridge as its client starts it, on pipes. */
async function startBridge(protocol: 'acp' | 'mcp', url: string, service = 'ep_1') {
  const stdin = new PassThrough();
  const stdout = new PassThrough();
  const stderr = new PassThrough();
  const signals = new EventEmitter();
  let said = '';
  stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
  const done = main({
    argv: [protocol, service],
    env: { GATEWAY_SERVER: url, GATEWAY_API_KEY: 'org_1' },
    cwd: await emptyDirectory(),
    stdin,
    stdout,
    stderr,
    signals,
    exit: () => undefined,
  });
  onTestFinished(async () => {
    stdin.end();
    await done;
  });
  return { stdin, stdout, signals, done, said: () => said };
}

type Started = Awaited<ReturnType<typeof startBridge>>;

/** Line by line, as they come. */
function messagesOf({ stdout }: Started): AsyncIterator<any> {
  const lines = createInterface({ input: stdout })[Symbol.asyncIterator]();
  return {
    async next() {
      const { value, done } = await lines.next();
      return done ? { done, value: undefined } : { done: false, value: JSON.parse(value) };
    },
  };
}

const rpc = (method: string, params: object = {}, id: unknown = 1) =>
  `${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`;

describe('gateway mcp', () => {
  it('carries requests of MCP 2026-07-28 with their headers, and takes one back by its connection', async () => {
    const ended: unknown[] = [];
    const runner = scripted(async (turn) => {
      if (turn.text === 'long') await turn.interrupted();
      ended.push(turn.text);
    });
    const server = await serveServices({ runner });
    const bridge = await startBridge('mcp', server.url);
    const messages = messagesOf(bridge);
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': {},
    };
    const call = { name: 'send_message', arguments: { input: 'long', wait: true } };
    bridge.stdin.write(rpc('server/discover', { _meta }, 'd'));
    expect((await messages.next()).value).toMatchObject({
      id: 'd',
      result: { supportedVersions: expect.arrayContaining(['2026-07-28']) },
    });
    const progress = { ..._meta, progressToken: 'p' };
    bridge.stdin.write(rpc('tools/call', { ...call, _meta: progress }, 'c'));
    expect((await messages.next()).value).toMatchObject({ method: 'notifications/progress' });
    const cancelled = {
      jsonrpc: '2.0',
      method: 'notifications/cancelled',
      params: { requestId: 'c' },
    };
    bridge.stdin.write(`${JSON.stringify(cancelled)}\n`);
    bridge.stdin.write(rpc('tools/list', { _meta }, 'l'));
    const after: any[] = [];
    for (let next: any; next?.id !== 'l'; after.push(next)) next = (await messages.next()).value;
    expect(after.filter(({ id }) => id === 'c')).toEqual([]);
    // The turn continues without its caller.
    const [session] = await server.sessions.list(ORG, { limit: 1, order: 'desc' });
    expect(session?.status).toBe('running');
    await server.sessions.send(ORG, String(session?.id), [{ type: 'user.interrupt' }]);
    await eventually(() => ended.length > 0);
    expect(bridge.said()).toBe('');
  });

  it(verifies('bridges.stdio', 'bridges an MCP client, and ends with it'), async () => {
    const server = await serveServices({ runner: scripted(({ say }) => say('welcome')) });
    const bridge = await startBridge('mcp', server.url);
    const client = new Client({ name: 'test', version: '1' });
    // Its two ends are the same; the client is on the other one.
    await client.connect(new StdioServerTransport(bridge.stdout, bridge.stdin));
    const { tools } = await client.listTools();
    expect(tools).toHaveLength(2);
    const told: unknown[] = [];
    const args = { input: 'hello', wait: true };
    const result = await client.callTool({ name: 'send_message', arguments: args }, undefined, {
      onprogress: ({ message }) => told.push(message),
    });
    expect(result.structuredContent).toMatchObject({ status: 'idle' });
    expect(told).toContain('agent.message');
    await client.close();
    bridge.stdin.end();
    expect(await bridge.done).toBe(0);
    const left = await server.store.list({ prefix: ['mcp-transport'] });
    expect(left).toEqual([]);
    expect(bridge.said()).toBe('');
  });
});

describe('gateway acp', () => {
  it(
    verifies('bridges.stdio', 'bridges an ACP client, a cancel in the middle of a prompt included'),
    async () => {
      const server = await serveServices({
        runner: scripted(async ({ say, interrupted, text }) => {
          if (text === 'wait') return interrupted();
          await say('you said ', text);
        }),
      });
      const bridge = await startBridge('acp', server.url);
      const stream = acp.ndJsonStream(
        Writable.toWeb(bridge.stdin) as WritableStream<Uint8Array>,
        Readable.toWeb(bridge.stdout) as ReadableStream<Uint8Array>,
      );
      const updates: acp.SessionUpdate[] = [];
      const { session } = acp.methods.agent;
      await acp
        .client({ name: 'test' })
        .onNotification(acp.methods.client.session.update, ({ params }) => {
          updates.push(params.update);
        })
        .connectWith(stream, async (agent) => {
          await agent.request(acp.methods.agent.initialize, { protocolVersion: 1 });
          const { sessionId } = await agent.request(session.new, { cwd: '/', mcpServers: [] });
          const ask = (text: string) =>
            agent.request(session.prompt, { sessionId, prompt: [{ type: 'text', text }] });
          expect(await ask('hello')).toEqual({ stopReason: 'end_turn' });
          const waiting = ask('wait');
          await agent.notify(session.cancel, { sessionId });
          expect(await waiting).toEqual({ stopReason: 'cancelled' });
          expect((await server.sessions.get(ORG, sessionId)).status).toBe('idle');
        });
      expect(updates.length).toBeGreaterThan(0);
    },
  );

  it('carries numbers as they are written', async () => {
    const update = '{"jsonrpc":"2.0","method":"session/update","params":{"n":[1.0,1e2]}}';
    const answer: Handler = (_call, response) => {
      response.writeHead(200, { 'content-type': 'application/x-ndjson' });
      response.end(` ${update}\n`);
      return undefined;
    };
    const server = await startFakeServer(answer);
    onTestFinished(() => server.close());
    const bridge = await startBridge('acp', server.url);
    const lines = createInterface({ input: bridge.stdout })[Symbol.asyncIterator]();
    bridge.stdin.write(rpc('session/prompt', {}, 7));
    expect((await lines.next()).value).toBe(update);
  });

  it('answers messages that come to nothing, and goes on', async () => {
    const server = await serveServices();
    const bridge = await startBridge('acp', server.url, 'ep_unknown');
    const messages = messagesOf(bridge);
    bridge.stdin.write('nonsense\n\n');
    expect((await messages.next()).value).toMatchObject({ id: null, error: { code: -32700 } });
    bridge.stdin.write(rpc('initialize', { protocolVersion: 1 }, 'a'));
    expect((await messages.next()).value).toMatchObject({
      id: 'a',
      error: { code: -32603, message: 'endpoint not found', data: { status: 404 } },
    });
    bridge.stdin.end();
    expect(await bridge.done).toBe(0);
  });

  it(
    verifies('bridges.stdio', 'fails when the gateway is gone, and says so to who asked'),
    async () => {
      const answer: Handler = (_call, response) => {
        response.writeHead(200, { 'content-type': 'application/x-ndjson' });
        response.write('{"jsonrpc":"2.0","method":"session/update"}\n');
        setImmediate(() => response.destroy());
        return undefined;
      };
      const server = await startFakeServer(answer);
      onTestFinished(() => server.close());
      const bridge = await startBridge('acp', server.url);
      const messages = messagesOf(bridge);
      bridge.stdin.write(rpc('session/prompt', {}, 7));
      expect((await messages.next()).value).toMatchObject({ method: 'session/update' });
      expect((await messages.next()).value).toMatchObject({ id: 7, error: { code: -32603 } });
      expect(await bridge.done).toBe(8);
      expect(bridge.said()).toContain('can no longer be reached');
    },
  );

  it('gives up what is not answered soon after the client left', async () => {
    const server = await serveServices({ runner: scripted(({ interrupted }) => interrupted()) });
    const bridge = await startBridge('acp', server.url);
    const messages = messagesOf(bridge);
    bridge.stdin.write(rpc('session/new'));
    const { sessionId } = (await messages.next()).value.result;
    const prompt = [{ type: 'text', text: 'hello' }];
    bridge.stdin.end(rpc('session/prompt', { sessionId, prompt }));
    expect(await bridge.done).toBe(0);
    expect((await server.sessions.get(ORG, sessionId)).status).toBe('running');
    await server.sessions.remove(ORG, sessionId);
  });

  it('ends at a signal', async () => {
    const server = await serveServices();
    const bridge = await startBridge('acp', server.url);
    const messages = messagesOf(bridge);
    bridge.stdin.write(rpc('initialize', { protocolVersion: 1 }));
    await messages.next();
    await eventually(() => bridge.signals.listenerCount('SIGTERM') > 0);
    bridge.signals.emit('SIGTERM');
    expect(await bridge.done).toBe(143);
  });
});
