import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startMockServer } from '../../../src/providers/mock/mock-server.ts';
import { findByEnvironment, readProcessTable } from '../../../src/runtime/reaper/process-table.ts';
import type { SessionEvent } from '../../../src/sessions/log/session-event.ts';
import { verifies } from '../../requirements.ts';
import { checkLog, checkRequests } from '../../runtime/log-laws.ts';
import type { Rules } from '../../runtime/loop-bench.ts';
import { eventually, newDirectory, startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';

const PROGRAM = fileURLToPath(new URL('../../runtime/harness/programs/lines.mjs', import.meta.url));
/** Ten times what it takes another process of the host to see the death and go on. */
const RESUME_MS = 20_000;

/** A shop over HTTP. The first call of each tool never ends. */
async function startShop() {
  const calls: string[] = [];
  const act = async (name: string) => {
    calls.push(name);
    const isFirst = calls.filter((call) => call === name).length === 1;
    if (isFirst && shop.hangs) await new Promise(() => undefined);
    return { content: [{ type: 'text' as const, text: `${name} is done` }] };
  };
  const http = createServer((request, response) => {
    const server = new McpServer({ name: 'shop', version: '1.0.0' });
    server.registerTool('order', {}, () => act('order'));
    const annotations = { idempotentHint: true };
    server.registerTool('reserve', { annotations }, () => act('reserve'));
    const transport = new StreamableHTTPServerTransport({});
    response.on('close', () => void transport.close());
    void server
      .connect(transport as Transport)
      .then(() => transport.handleRequest(request, response));
  });
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  onTestFinished(() => {
    http.close();
    http.closeAllConnections();
  });
  const { port } = http.address() as AddressInfo;
  const shop = { url: `http://127.0.0.1:${port}/mcp`, calls, hangs: true };
  return shop;
}

/** Gateways of one data directory; the second is there before the first is killed. */
async function setUp(rules: Rules = []) {
  const mock = await startMockServer({ cassette: { rules } });
  onTestFinished(() => mock.close());
  const shop = await startShop();
  const directory = await newDirectory();
  const notes = join(directory, 'notes');
  const config = {
    server: {
      outbound: { allow: ['127.0.0.1'] },
      harnesses: {
        tester: {
          command: process.execPath,
          args: [PROGRAM],
          protocol: 'jsonl',
          env: { NOTES: notes },
        },
      },
    },
    providers: [
      {
        name: 'upstream',
        type: 'custom',
        base_url: `${mock.url}/v1`,
        auth: { type: 'none' },
        protocols: { messages: true },
      },
    ],
    models: [{ name: 'acme/one', routes: [{ provider: 'upstream' }] }],
  };
  const start = async (): Promise<TestGateway> => {
    const gateway = await startGateway(config, { binary: true, directory });
    onTestFinished(async () => void (await gateway.stop()));
    return gateway;
  };
  onTestFinished(() => rm(directory, { recursive: true, force: true, maxRetries: 3 }));
  const first = await start();
  const { clientKey: key } = first;
  let current = first;

  const call = async (method: string, path: string, body?: object) => {
    const answer = await current.call(method, path, { key, body });
    if (answer.status >= 300) throw new Error(JSON.stringify(answer.body));
    return answer.body;
  };
  const history = async (id: string): Promise<SessionEvent[]> =>
    (await call('GET', `/v1/sessions/${id}/events?limit=1000`)).data;
  return {
    mock,
    shop,
    first,
    notes,
    call,
    /** A Session of an Agent with the shop and a first message. */
    async begin(agent: object, text = 'hello'): Promise<string> {
      const { id: agentId } = await call('POST', '/v1/agents', { name: 'helper', ...agent });
      const { id } = await call('POST', '/v1/sessions', { agent: agentId });
      await call('POST', `/v1/sessions/${id}/events`, { events: [message(text)] });
      return id;
    },
    readNotes: () => readFile(notes, 'utf8').catch(() => ''),
    /** The first gateway dies; the second is asked from now on. */
    async kill(id: string): Promise<SessionEvent[]> {
      const second = await start();
      const before = await history(id);
      const exit = once(first.child!, 'exit');
      first.child!.kill('SIGKILL');
      await exit;
      current = second;
      return before;
    },
    /** All events, when the Session has come to rest. */
    rest: (id: string) =>
      eventually(async () => {
        const { status } = await call('GET', `/v1/sessions/${id}`);
        const all = await history(id);
        return status === 'idle' && all.at(-1)?.type === 'session.status_idle' && all;
      }, RESUME_MS),
  };
}

const message = (text: string) => ({ type: 'user.message', content: [{ type: 'text', text }] });

const withShop = (url: string, policy: 'always_allow' | 'always_ask') => ({
  model: 'acme/one',
  mcp_servers: [{ type: 'url', name: 'shop', url }],
  tools: [
    {
      type: 'mcp_toolset',
      mcp_server_name: 'shop',
      default_config: { permission_policy: { type: policy } },
    },
  ],
});

/** Nothing of what stood in the log is lost, moved or there twice, and the turns are whole. */
function check(all: readonly SessionEvent[], before: readonly SessionEvent[]): void {
  expect(all.slice(0, before.length)).toEqual(before);
  checkLog(all.map((event, index) => ({ seq: index + 1, event })));
}

const textsOf = (events: readonly SessionEvent[]): unknown[] =>
  events
    .filter(({ type }) => type === 'agent.message')
    .map(({ content }) => (content as { text: string }[])[0]?.text);

describe('after kill -9 another gateway of the data directory', () => {
  it(
    verifies(
      'sessions.turn.crash-recovery',
      'asks the model again that had not answered, and takes up the messages behind',
    ),
    async () => {
      const slow = { text: 'too late', chunks: 2, chunk_delay_ms: 300_000 };
      const { mock, begin, call, kill, rest } = await setUp([{ match: { times: 1 }, reply: slow }]);
      const id = await begin({ model: 'acme/one' }, 'one');
      await call('POST', `/v1/sessions/${id}/events`, { events: [message('two')] });
      await eventually(() => mock.engine.calls().length === 1, RESUME_MS);
      const before = await kill(id);
      expect(before.at(-1)?.type).not.toBe('session.status_idle');
      const all = await rest(id);
      check(all, before);
      expect(textsOf(all)).toEqual(['You said: one', 'You said: two']);
      checkRequests(mock.engine.calls());
    },
    60_000,
  );

  it(
    verifies(
      'sessions.turn.crash-recovery',
      'answers the call of a tool that may have acted with an error, and repeats one that may be',
    ),
    async () => {
      const tool_calls = [{ name: 'shop__order' }, { name: 'shop__reserve' }];
      const { shop, mock, begin, kill, rest } = await setUp([
        { match: { turn: 1 }, reply: { tool_calls } },
        { reply: { text: 'Done.' } },
      ]);
      const id = await begin(withShop(shop.url, 'always_allow'));
      await eventually(() => shop.calls.length === 2, RESUME_MS);
      const before = await kill(id);
      const all = await rest(id);
      check(all, before);
      const [order, reserve] = all.filter(({ type }) => type === 'agent.mcp_tool_use');
      const resultOf = (use: SessionEvent | undefined) =>
        all.find(({ mcp_tool_use_id: of }) => of === use?.id);
      expect(resultOf(order)).toMatchObject({
        is_error: true,
        content: [{ text: expect.stringContaining('interrupted') as string }],
      });
      expect(resultOf(reserve)).toMatchObject({ is_error: false });
      expect(shop.calls.toSorted()).toEqual(['order', 'reserve', 'reserve']);
      expect(textsOf(all)).toEqual(['Done.']);
      checkRequests(mock.engine.calls());
    },
    60_000,
  );

  it(
    verifies('sessions.turn.crash-recovery', 'runs a tool that is confirmed only now, once'),
    async () => {
      const tool_calls = [{ name: 'shop__order' }];
      const { shop, begin, call, kill, rest } = await setUp([
        { match: { turn: 1 }, reply: { tool_calls } },
        { reply: { text: 'Done.' } },
      ]);
      shop.hangs = false;
      const id = await begin(withShop(shop.url, 'always_ask'));
      const waiting = await rest(id);
      const before = await kill(id);
      expect(before).toEqual(waiting);
      const use = before.find(({ type }) => type === 'agent.mcp_tool_use');
      const allow = { type: 'user.tool_confirmation', tool_use_id: use?.id, result: 'allow' };
      await call('POST', `/v1/sessions/${id}/events`, { events: [allow] });
      const all = await rest(id);
      check(all, before);
      expect(shop.calls).toEqual(['order']);
      expect(textsOf(all)).toEqual(['Done.']);
    },
    60_000,
  );

  it(
    verifies(
      'harness.process-lifecycle',
      'sessions.turn.crash-recovery',
      'ends the turn of a harness, of which no process is left',
    ),
    async () => {
      const { first, notes, begin, call, kill, rest, readNotes } = await setUp();
      const id = await begin({ harness: 'tester' }, 'stubborn');
      await eventually(async () => (await readNotes()).includes('"stubborn"'), RESUME_MS);
      // The program, a child that left its session and ignores signals with one of its own, and
      // one without an environment.
      const family = await eventually(async () => {
        const found = await familyOf(first.child?.pid as number, notes);
        return found.length >= 5 && found;
      }, RESUME_MS);
      const before = await kill(id);
      const all = await rest(id);
      check(all, before);
      expect(all.slice(-3)).toMatchObject([
        { type: 'span.model_request_end', is_error: true },
        { type: 'session.error', error: { code: 'interrupted' } },
        { type: 'session.status_idle', stop_reason: { type: 'retries_exhausted' } },
      ]);
      await eventually(async () => {
        const living = new Set((await readProcessTable()).map(({ pid }) => pid));
        return family.every((pid) => !living.has(pid));
      }, RESUME_MS);
      await call('POST', `/v1/sessions/${id}/events`, { events: [message('speak')] });
      const after = await rest(id);
      expect(textsOf(after)).toEqual(['Good day.', 'Bye.']);
    },
    60_000,
  );
});

/** What a process started and what that did: by its parents, or by the file in its environment. */
async function familyOf(root: number, file: string): Promise<number[]> {
  const table = await readProcessTable();
  const found = new Set([root, ...(await findByEnvironment(table, [file])).map(({ pid }) => pid)]);
  for (let before = 0; before !== found.size;) {
    before = found.size;
    for (const { pid, parent } of table) if (found.has(parent)) found.add(pid);
  }
  found.delete(root);
  return [...found];
}
