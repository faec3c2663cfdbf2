import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import * as acp from '@agentclientprotocol/sdk';
import * as newer from '@modelcontextprotocol/client';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { NOT_BEGUN } from '../../../src/sessions/open-ends.ts';
import { verifies } from '../../requirements.ts';
import { runCli } from '../../cli/run-cli.ts';
import { createAcpStream } from '../../support/acp-stream.ts';
import { BINARY, startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';

const { agent: of, client: us } = acp.methods;

const ECHO = fileURLToPath(new URL('./echo-server.js', import.meta.url));
/** At the first of each of them the model calls a tool; it echoes the rest. Each test has its own. */
const COUNT = ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine'];
const WORDS = COUNT.map((number) => `tool ${number}`);

const CONFIG = {
  server: { mcp_servers: { all: { command: process.execPath, args: [ECHO] } } },
  providers: [
    {
      name: 'acme',
      type: 'mock',
      mock: {
        rules: WORDS.map((text) => ({
          match: { text, attempt: 1 },
          reply: { tool_calls: [{ name: 'all__echo', arguments: { message: text } }] },
        })),
      },
    },
  ],
  models: [{ name: 'acme/one', routes: [{ provider: 'acme' }] }],
};

let gateway: TestGateway;
/** Of a Service whose Agent asks before it calls a tool. */
let path: string;

beforeAll(async () => {
  gateway = await startGateway(CONFIG, {
    env: { GATEWAY_MASTER_KEY: 'a-master-key-of-32-characters-00' },
  });
  const agent = await gateway.call('POST', '/v1/agents', {
    body: {
      name: 'asking',
      model: 'acme/one',
      mcp_servers: [{ type: 'stdio', name: 'all', server: 'all' }],
      tools: [{ type: 'mcp_toolset', mcp_server_name: 'all' }],
    },
  });
  const body = { name: 'asking', agent_id: agent.body.id, protocols: ['rest', 'mcp', 'acp'] };
  const service = await gateway.call('POST', '/v1/endpoints', { body });
  expect(service.status, JSON.stringify(service.body)).toBe(201);
  path = `/v1/endpoints/${service.body.id}`;
});
afterAll(() => gateway.stop());

/** The bridge as an editor starts it. */
function startBridge({ url, clientKey, directory }: TestGateway): acp.Stream {
  const child = spawn(process.execPath, [BINARY, 'acp', 'asking'], {
    cwd: directory,
    env: { GATEWAY_SERVER: url, GATEWAY_API_KEY: clientKey },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const ended = once(child, 'exit');
  onTestFinished(async () => {
    child.stdin.destroy();
    await ended;
  });
  return acp.ndJsonStream(
    Writable.toWeb(child.stdin) as WritableStream<Uint8Array>,
    Readable.toWeb(child.stdout) as ReadableStream<Uint8Array>,
  );
}

type Outcome = acp.RequestPermissionResponse['outcome'];

interface Conversation {
  readonly agent: acp.ClientContext;
  readonly sessionId: string;
  readonly updates: acp.SessionUpdate[];
  readonly asked: acp.RequestPermissionRequest[];
  prompt(text: string): Promise<acp.PromptResponse>;
}

/** A new session with the official client, which decides by `decide`. */
async function converse(
  stream: acp.Stream,
  decide: (request: acp.RequestPermissionRequest) => Outcome | Promise<Outcome>,
  work: (conversation: Conversation) => Promise<void>,
): Promise<void> {
  const updates: acp.SessionUpdate[] = [];
  const asked: acp.RequestPermissionRequest[] = [];
  await acp
    .client({ name: 'test' })
    .onNotification(us.session.update, ({ params }) => void updates.push(params.update))
    .onRequest(us.session.requestPermission, async ({ params }) => {
      asked.push(params);
      return { outcome: await decide(params) };
    })
    .connectWith(stream, async (agent) => {
      await agent.request(of.initialize, { protocolVersion: acp.PROTOCOL_VERSION });
      const { sessionId } = await agent.request(of.session.new, { cwd: '/', mcpServers: [] });
      const prompt = (text: string) =>
        agent.request(of.session.prompt, { sessionId, prompt: [{ type: 'text', text }] });
      await work({ agent, sessionId, updates, asked, prompt });
    });
}

const chosen = (optionId: string): Outcome => ({ outcome: 'selected', optionId });

async function eventsOf({ call }: TestGateway, session: string): Promise<any[]> {
  return (await call('GET', `/v1/sessions/${session}/events?limit=100&order=asc`)).body.data;
}

const resultsOf = (events: any[]) =>
  events
    .filter(({ type }) => type === 'agent.mcp_tool_result')
    .map(({ is_error, content }) => ({ is_error, text: content[0].text }));

describe('gateway acp, when a tool asks for permission', () => {
  it(
    verifies('bridges.acp.permission', 'asks its client, and the turn goes on with the answer'),
    async () => {
      const answers = ['allow_once', 'reject_once'];
      const decide = ({ options }: acp.RequestPermissionRequest): Outcome => {
        const kind = answers.shift();
        return chosen(options.find((option) => option.kind === kind)?.optionId ?? '');
      };
      await converse(startBridge(gateway), decide, async (conversation) => {
        const { sessionId, updates, asked, prompt } = conversation;
        expect(await prompt('tool one')).toEqual({ stopReason: 'end_turn' });
        expect(await prompt('tool two')).toEqual({ stopReason: 'end_turn' });
        expect(await prompt('no tool')).toEqual({ stopReason: 'end_turn' });
        expect(asked).toMatchObject([
          { sessionId, toolCall: { title: 'echo', rawInput: { message: 'tool one' } } },
          { sessionId, toolCall: { title: 'echo', rawInput: { message: 'tool two' } } },
        ]);
        const [one, two] = asked.map(({ toolCall }) => toolCall.toolCallId);
        const told = updates.flatMap((update) =>
          update.sessionUpdate === 'tool_call' || update.sessionUpdate === 'tool_call_update'
            ? [[update.toolCallId, update.status]]
            : [],
        );
        expect(told).toEqual([
          [one, 'pending'],
          [one, 'in_progress'],
          [one, 'completed'],
          [two, 'pending'],
          [two, 'failed'],
        ]);
        expect(resultsOf(await eventsOf(gateway, sessionId))).toEqual([
          { is_error: false, text: 'Echo: tool one' },
          { is_error: true, text: 'The user denied this call.' },
        ]);
      });
    },
  );

  it(
    verifies('acp.cancel.waiting-permission', 'ends the prompt as cancelled, and the next runs'),
    async () => {
      let cancel: () => Promise<unknown> = async () => undefined;
      const decide = async (): Promise<Outcome> => {
        await cancel();
        return { outcome: 'cancelled' };
      };
      await converse(startBridge(gateway), decide, async (conversation) => {
        const { agent, sessionId, asked, prompt } = conversation;
        cancel = () => agent.notify(of.session.cancel, { sessionId });
        expect(await prompt('tool three')).toEqual({ stopReason: 'cancelled' });
        expect(asked).toHaveLength(1);
        expect(await prompt('hello')).toEqual({ stopReason: 'end_turn' });
        const events = await eventsOf(gateway, sessionId);
        expect(resultsOf(events)).toEqual([{ is_error: true, text: NOT_BEGUN }]);
        expect(events.filter(({ type }) => type === 'agent.message')).toHaveLength(1);
      });
    },
  );
});

describe('send_message over MCP, when a tool asks for permission', () => {
  const info = { name: 'test', version: '1' };
  const capabilities = { elicitation: { form: {} } };
  const allow = { action: 'accept' as const, content: { decision: 'allow' } };
  const endpoint = () => new URL(`${gateway.url}${path}/mcp`);
  const withKey = () => ({
    requestInit: { headers: { authorization: `Bearer ${gateway.clientKey}` } },
  });
  const call = (input: string) => ({ name: 'send_message', arguments: { input, wait: true } });

  it.each([
    [
      '1, over its session',
      'tool eight',
      async (asked: unknown[]) => {
        const client = new Client(info, { capabilities });
        client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
          asked.push(params);
          return allow;
        });
        await client.connect(new StreamableHTTPClientTransport(endpoint(), withKey()));
        onTestFinished(() => client.close());
        return client.callTool(call('tool eight'));
      },
    ],
    [
      '2, over 2026-07-28',
      'tool nine',
      async (asked: unknown[]) => {
        const versionNegotiation = { mode: { pin: '2026-07-28' } };
        const client = new newer.Client(info, { capabilities, versionNegotiation });
        client.setRequestHandler('elicitation/create', async ({ params }) => {
          asked.push(params);
          return allow;
        });
        await client.connect(new newer.StreamableHTTPClientTransport(endpoint(), withKey()));
        onTestFinished(() => client.close());
        return client.callTool(call('tool nine'));
      },
    ],
  ])(
    verifies('mcp.modern.input-required', 'asks the official client %s'),
    async (_client, text, send) => {
      const asked: unknown[] = [];
      const { structuredContent } = await send(asked);
      const { events, stop_reason: reason } = structuredContent as any;
      expect(reason).toEqual({ type: 'end_turn' });
      expect(resultsOf(events)).toEqual([{ is_error: false, text: `Echo: ${text}` }]);
      expect(asked).toMatchObject([
        { message: expect.stringContaining('the tool echo of the server all') },
      ]);
    },
  );
});

describe('a Session that waits for a confirmation where nobody can be asked', () => {
  it(
    verifies(
      'acp.permission.nobody-to-ask',
      'refuses the next prompt over ACP at once, until the turn is cancelled or confirmed',
    ),
    async () => {
      const stream = createAcpStream(`${gateway.url}${path}/acp`, gateway.clientKey);
      const decide = (): Outcome => chosen('allow');
      await converse(stream, decide, async ({ agent, sessionId, updates, asked, prompt }) => {
        const waits = await prompt('tool four');
        const call = updates.find((update) => update.sessionUpdate === 'tool_call');
        expect(waits).toEqual({
          stopReason: 'end_turn',
          _meta: {
            'gateway/stop_reason': { type: 'requires_action', event_ids: [call?.toolCallId] },
          },
        });
        await expect(prompt('hello')).rejects.toThrow(`the call echo (${call?.toolCallId})`);
        // Behind a cancel, the client need not wait for the end of the turn.
        await agent.notify(of.session.cancel, { sessionId });
        expect(await prompt('hello')).toEqual({ stopReason: 'end_turn' });
        expect(resultsOf(await eventsOf(gateway, sessionId))).toEqual([
          { is_error: true, text: NOT_BEGUN },
        ]);

        const again = await prompt('tool five');
        const { event_ids: ids = [] } = (again._meta?.['gateway/stop_reason'] ?? {}) as {
          event_ids?: string[];
        };
        expect(ids).toHaveLength(1);
        await expect(prompt('hello')).rejects.toThrow(ids[0]);
        const confirmation = { type: 'user.tool_confirmation', tool_use_id: ids[0] };
        const body = { events: [{ ...confirmation, result: 'allow' }] };
        await gateway.call('POST', `/v1/sessions/${sessionId}/events`, { body });
        expect(await prompt('hello')).toEqual({ stopReason: 'end_turn' });
        expect(asked).toEqual([]);
        const sent = (await eventsOf(gateway, sessionId)).filter(
          ({ type }) => type === 'user.message',
        );
        expect(sent).toHaveLength(4);
      });
    },
  );

  it(
    verifies('acp.permission.nobody-to-ask', 'refuses the next message over MCP at once'),
    async () => {
      const client = new Client({ name: 'test', version: '1' });
      await client.connect(
        new StreamableHTTPClientTransport(new URL(`${gateway.url}${path}/mcp`), {
          requestInit: { headers: { authorization: `Bearer ${gateway.clientKey}` } },
        }),
      );
      onTestFinished(() => client.close());
      const send = async (args: object): Promise<any> =>
        client.callTool({ name: 'send_message', arguments: { ...args } });
      const first = await send({ input: 'tool six', wait: true });
      const { session_id, stop_reason: reason } = first.structuredContent;
      expect(reason.type).toBe('requires_action');
      for (const wait of [true, false])
        expect(await send({ input: 'hello', session_id, wait })).toMatchObject({
          isError: true,
          content: [{ text: expect.stringContaining(`the call echo (${reason.event_ids[0]})`) }],
        });
      const confirmation = { type: 'user.tool_confirmation', tool_use_id: reason.event_ids[0] };
      const body = { events: [{ ...confirmation, result: 'allow' }] };
      await gateway.call('POST', `/v1/sessions/${session_id}/events`, { body });
      const last = await send({ input: 'hello', session_id, wait: true });
      expect(last.structuredContent).toMatchObject({ stop_reason: { type: 'end_turn' } });
    },
  );

  it(
    verifies('sessions.waiting', 'is marked, ends what follows it, and is answered by commands'),
    async () => {
      const env = { GATEWAY_SERVER: gateway.url, GATEWAY_API_KEY: gateway.clientKey };
      const run = (...words: string[]) => runCli(words, { env });
      const first = await run('invoke', 'asking', 'tool seven', '--follow', '-o', 'json');
      expect(first.code).toBe(7);
      const [listed, ...others] = (await run('sessions', 'list', '--waiting', '--json')).json()
        .data;
      expect(others).toEqual([]);
      const { id, waiting } = listed;
      const [call] = waiting.calls;
      expect(call).toMatchObject({
        answered_by: 'user.tool_confirmation',
        name: 'echo',
        server: 'all',
      });
      // Read with its Session alone.
      expect(call).not.toHaveProperty('input');
      const words = `the session waits for an answer to the call echo (${call.id})`;
      const refused = await run('invoke', 'asking', 'hello', '--session', id, '--follow');
      expect(refused).toMatchObject({ code: 7, stdout: '' });
      expect(refused.stderr).toContain(`error: ${words}, since `);
      expect(refused.stderr).toContain(`gateway sessions allow ${id}`);
      expect((await run('sessions', 'tail', id, '--no-follow')).stderr).toContain(words);
      const allowed = await run('sessions', 'allow', id, '--follow');
      expect(allowed).toMatchObject({ code: 0, stdout: 'The tool said: Echo: tool seven\n' });
      expect((await run('sessions', 'list', '--waiting', '-q')).stdout).toBe('');
      const events = await eventsOf(gateway, id);
      expect(events.filter(({ type }) => type === 'user.message')).toHaveLength(1);
    },
  );
});
