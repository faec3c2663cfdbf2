import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startMockServer } from '../../../src/providers/mock/mock-server.ts';
import type { MockServer } from '../../../src/providers/mock/mock-server.ts';
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

/** A shop over HTTP. The first call of each tool never ends where it hangs. */
async function startShop(hangs: boolean) {
  const calls: string[] = [];
  const act = async (name: string) => {
    calls.push(name);
    const isFirst = calls.filter((call) => call === name).length === 1;
    if (isFirst && hangs) await new Promise(() => undefined);
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
  closing.push(async () => {
    http.close();
    http.closeAllConnections();
  });
  const { port } = http.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/mcp`, calls };
}

const closing: (() => Promise<unknown>)[] = [];
let directory: string;
let notes: string;
let key: string;
/** The gateway that is asked. */
let current: TestGateway;
const providers = {} as Record<'slow' | 'acting' | 'asking', MockServer>;
const shops = {} as Record<'acting' | 'asking', Awaited<ReturnType<typeof startShop>>>;
/** Sessions by what they are doing when their gateway dies, and their events until then. */
const sessions: Record<string, { id: string; before: SessionEvent[] }> = {};
/** Processes of the harness. */
let family: number[];

async function startProvider(name: keyof typeof providers, rules: Rules): Promise<object> {
  const mock = await startMockServer({ cassette: { rules } });
  closing.push(() => mock.close());
  providers[name] = mock;
  return {
    name,
    type: 'custom',
    base_url: `${mock.url}/v1`,
    auth: { type: 'none' },
    protocols: { messages: true },
  };
}

async function call(method: string, path: string, body?: object) {
  const answer = await current.call(method, path, { key, body });
  if (answer.status >= 300) throw new Error(JSON.stringify(answer.body));
  return answer.body;
}

const history = async (id: string): Promise<SessionEvent[]> =>
  (await call('GET', `/v1/sessions/${id}/events?limit=1000`)).data;

/** All events, when the Session has come to rest. */
const rest = (id: string) =>
  eventually(async () => {
    const { status } = await call('GET', `/v1/sessions/${id}`);
    const all = await history(id);
    return status === 'idle' && all.at(-1)?.type === 'session.status_idle' && all;
  }, RESUME_MS);

/** A Session of a new Agent with a first message. */
async function begin(name: string, agent: object, text = 'hello'): Promise<string> {
  const { id: agentId } = await call('POST', '/v1/agents', { name, ...agent });
  const { id } = await call('POST', '/v1/sessions', { agent: agentId });
  await call('POST', `/v1/sessions/${id}/events`, { events: [message(text)] });
  sessions[name] = { id, before: [] };
  return id;
}

beforeAll(async () => {
  directory = await newDirectory();
  notes = join(directory, 'notes');
  for (const name of ['acting', 'asking'] as const)
    shops[name] = await startShop(name === 'acting');
  const slow = { text: 'too late', chunks: 2, chunk_delay_ms: 300_000 };
  const tools = (...names: string[]): Rules => [
    { match: { turn: 1 }, reply: { tool_calls: names.map((name) => ({ name })) } },
    { reply: { text: 'Done.' } },
  ];
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
      await startProvider('slow', [{ match: { times: 1 }, reply: slow }]),
      await startProvider('acting', tools('shop__order', 'shop__reserve')),
      await startProvider('asking', tools('shop__order')),
    ],
    models: Object.keys(providers).map((name) => ({
      name: `acme/${name}`,
      routes: [{ provider: name }],
    })),
  };
  const start = async (): Promise<TestGateway> => {
    const gateway = await startGateway(config, { binary: true, directory });
    closing.push(() => gateway.stop());
    return gateway;
  };
  const first = await start();
  ({ clientKey: key } = first);
  current = first;
  const id = await begin('slow', { model: 'acme/slow' }, 'one');
  await call('POST', `/v1/sessions/${id}/events`, { events: [message('two')] });
  await begin('acting', withShop('acting', 'always_allow'));
  await rest(await begin('asking', withShop('asking', 'always_ask')));
  await begin('harness', { harness: 'tester' }, 'stubborn');
  await eventually(() => providers.slow.engine.calls().length === 1, RESUME_MS);
  await eventually(() => shops.acting.calls.length === 2, RESUME_MS);
  const readNotes = () => readFile(notes, 'utf8').catch(() => '');
  await eventually(async () => (await readNotes()).includes('"stubborn"'), RESUME_MS);
  // The program, a child that left its session and ignores signals with one of its own, and
  // one without an environment.
  family = await eventually(async () => {
    const found = await familyOf(first.child?.pid as number, notes);
    return found.length >= 5 && found;
  }, RESUME_MS);
  // The second is there before the first is killed.
  const second = await start();
  for (const session of Object.values(sessions)) session.before = await history(session.id);
  const exit = once(first.child!, 'exit');
  first.child!.kill('SIGKILL');
  await exit;
  current = second;
});
afterAll(async () => {
  for (const close of closing.reverse()) await close();
  await rm(directory, { recursive: true, force: true, maxRetries: 3 });
});

const message = (text: string) => ({ type: 'user.message', content: [{ type: 'text', text }] });

const withShop = (name: keyof typeof shops, policy: 'always_allow' | 'always_ask') => ({
  model: `acme/${name}`,
  mcp_servers: [{ type: 'url', name: 'shop', url: shops[name].url }],
  tools: [
    {
      type: 'mcp_toolset',
      mcp_server_name: 'shop',
      default_config: { permission_policy: { type: policy } },
    },
  ],
});

/** Nothing of what stood in the log is lost, moved or there twice, and the turns are whole. */
async function restOf(name: string): Promise<SessionEvent[]> {
  const { id, before } = sessions[name]!;
  const all = await rest(id);
  expect(all.slice(0, before.length)).toEqual(before);
  checkLog(all.map((event, index) => ({ seq: index + 1, event })));
  return all;
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
      expect(sessions['slow']?.before.at(-1)?.type).not.toBe('session.status_idle');
      expect(textsOf(await restOf('slow'))).toEqual(['You said: one', 'You said: two']);
      checkRequests(providers.slow.engine.calls());
    },
  );

  it(
    verifies(
      'sessions.turn.crash-recovery',
      'answers the call of a tool that may have acted with an error, and repeats one that may be',
    ),
    async () => {
      const all = await restOf('acting');
      const [order, reserve] = all.filter(({ type }) => type === 'agent.mcp_tool_use');
      const resultOf = (use: SessionEvent | undefined) =>
        all.find(({ mcp_tool_use_id: of }) => of === use?.id);
      expect(resultOf(order)).toMatchObject({
        is_error: true,
        content: [{ text: expect.stringContaining('interrupted') as string }],
      });
      expect(resultOf(reserve)).toMatchObject({ is_error: false });
      expect(shops.acting.calls.toSorted()).toEqual(['order', 'reserve', 'reserve']);
      expect(textsOf(all)).toEqual(['Done.']);
      checkRequests(providers.acting.engine.calls());
    },
  );

  it(
    verifies('sessions.turn.crash-recovery', 'runs a tool that is confirmed only now, once'),
    async () => {
      const { id, before } = sessions['asking']!;
      expect(await history(id)).toEqual(before);
      const use = before.find(({ type }) => type === 'agent.mcp_tool_use');
      const allow = { type: 'user.tool_confirmation', tool_use_id: use?.id, result: 'allow' };
      await call('POST', `/v1/sessions/${id}/events`, { events: [allow] });
      const all = await restOf('asking');
      expect(shops.asking.calls).toEqual(['order']);
      expect(textsOf(all)).toEqual(['Done.']);
    },
  );

  it(
    verifies(
      'harness.process-lifecycle',
      'sessions.turn.crash-recovery',
      'ends the turn of a harness, of which no process is left',
    ),
    async () => {
      const { id } = sessions['harness']!;
      const all = await restOf('harness');
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
