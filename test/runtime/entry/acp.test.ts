import * as acp from '@agentclientprotocol/sdk';
import { describe, expect, it } from 'vitest';
import { parseKeepingDigits } from '../../../src/core/json/digits.ts';
import { verifies } from '../../requirements.ts';
import { historyOf, idle, ORG } from '../../sessions/support.ts';
import { createAcpStream } from '../../support/acp-stream.ts';
import { eventually } from '../../support/gateway.ts';
import { scripted } from './scripted-runner.ts';
import type { Script } from './scripted-runner.ts';
import { SERVICE, serveServices } from './serve-services.ts';
import type { ServiceServer } from './serve-services.ts';

const rpc = (method: string, params: object = {}, id: unknown = 1) => ({
  jsonrpc: '2.0',
  id,
  method,
  params,
});

const linesOf = (body: unknown): any[] =>
  typeof body === 'string'
    ? body
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line))
    : [body];

/** One prompt of one part to a new session; the lines of its answer. */
async function ask(script: Script, prompt: object[] = [{ type: 'text', text: 'hello' }]) {
  const server = await serveServices({ runner: scripted(script) });
  const sessionId = await open(server);
  const body = rpc('session/prompt', { sessionId, prompt }, 'p');
  const answer = await server.call('POST', 'acp', { body });
  const lines = linesOf(answer.body);
  const updates = lines.slice(0, -1).map(({ params }) => params.update);
  return { ...server, sessionId, answer, updates, last: lines.at(-1) };
}

async function open(server: ServiceServer): Promise<string> {
  const { body } = await server.call('POST', 'acp', { body: rpc('session/new') });
  return body.result.sessionId;
}

/** Runs `work` with the official client, connected. */
async function withClient<T>(
  { url }: ServiceServer,
  work: (agent: acp.ClientContext, updates: acp.SessionUpdate[]) => Promise<T>,
): Promise<T> {
  const updates: acp.SessionUpdate[] = [];
  const stream = createAcpStream(`${url}/v1/endpoints/ep_1/acp`, 'org_1');
  return acp
    .client({ name: 'test' })
    .onNotification(acp.methods.client.session.update, ({ params }) => {
      updates.push(params.update);
    })
    .connectWith(stream, (agent) => work(agent, updates));
}

const textOf = (update: acp.SessionUpdate): string =>
  update.sessionUpdate === 'agent_message_chunk' && update.content.type === 'text'
    ? update.content.text
    : JSON.stringify(update);

describe('a Service over ACP', () => {
  it('shows the arguments of calls with their digits', async () => {
    const input = '{"id":2512292042121000001,"n":[1.0]}';
    const use = { type: 'agent.tool_use', name: 'find', input: parseKeepingDigits(input) } as const;
    const { answer } = await ask(({ add }) => add(use));
    expect(answer.body).toContain(`"rawInput":${input}`);
  });

  it(
    verifies(
      'acp.initialize',
      'acp.session-new',
      'acp.prompt.ndjson',
      'serves the official client from initialize to the end of a turn',
    ),
    async () => {
      const server = await serveServices({
        runner: scripted(async ({ say, text }) => say('you said ', text)),
      });
      await withClient(server, async (agent, updates) => {
        const { agent: of } = acp.methods;
        const hello = await agent.request(of.initialize, {
          protocolVersion: acp.PROTOCOL_VERSION,
          clientCapabilities: {},
        });
        expect(hello).toMatchObject({
          protocolVersion: 1,
          agentCapabilities: { loadSession: false, promptCapabilities: { image: true } },
          authMethods: [],
          agentInfo: { title: SERVICE.name },
        });
        const { sessionId } = await agent.request(of.session.new, { cwd: '/', mcpServers: [] });
        expect(sessionId).toMatch(/^sess_/);
        const prompt = [{ type: 'text' as const, text: 'hello' }];
        const ended = await agent.request(of.session.prompt, { sessionId, prompt });
        expect(ended).toEqual({ stopReason: 'end_turn' });
        const said = updates.map((update) => textOf(update));
        expect(said.join('')).toBe('you said hello');
        const history = await historyOf(server.sessions, sessionId);
        const answers = history.filter(({ event }) => event.type === 'agent.message');
        expect(answers).toMatchObject([{ event: { content: [{ text: 'you said hello' }] } }]);
        const session = await server.sessions.get(ORG, sessionId);
        expect(session).toMatchObject({ endpointId: 'ep_1', metadata: SERVICE.sessionMetadata });
      });
    },
  );

  it(
    verifies('acp.prompt.ndjson', 'tells the updates of the turn and then its result'),
    async () => {
      const { answer, updates, last, sessionId } = await ask(async ({ add, say }) => {
        await add({ type: 'agent.thinking', thinking: 'well' });
        await add({ type: 'agent.tool_use', id: 'sevt_use', name: 'look', input: { at: 1 } });
        const content = [{ type: 'text', text: 'nothing' }];
        await add({ type: 'agent.tool_result', tool_use_id: 'sevt_use', content, is_error: true });
        await say('wel', 'come');
      });
      expect(answer.status).toBe(200);
      expect(answer.headers.get('content-type')).toBe('application/x-ndjson');
      expect(linesOf(answer.body)[0]).toMatchObject({
        jsonrpc: '2.0',
        method: 'session/update',
        params: { sessionId },
      });
      expect(updates.slice(0, 3)).toMatchObject([
        { sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text: 'well' } },
        { sessionUpdate: 'tool_call', toolCallId: 'sevt_use', title: 'look', rawInput: { at: 1 } },
        {
          sessionUpdate: 'tool_call_update',
          toolCallId: 'sevt_use',
          status: 'failed',
          content: [{ type: 'content', content: { type: 'text', text: 'nothing' } }],
        },
      ]);
      const texts = updates.slice(3).map(({ content }) => content.text);
      expect(texts.join('')).toBe('welcome');
      expect(last).toEqual({ jsonrpc: '2.0', id: 'p', result: { stopReason: 'end_turn' } });
    },
  );

  it(verifies('acp.cancel', 'ends the prompt that a client cancels as cancelled'), async () => {
    const server = await serveServices({ runner: scripted(({ interrupted }) => interrupted()) });
    await withClient(server, async (agent) => {
      const { session } = acp.methods.agent;
      const { sessionId } = await agent.request(session.new, { cwd: '/', mcpServers: [] });
      const prompt = [{ type: 'text' as const, text: 'hello' }];
      const asked = agent.request(session.prompt, { sessionId, prompt });
      await eventually(
        async () => (await server.sessions.get(ORG, sessionId)).status === 'running',
      );
      await agent.notify(session.cancel, { sessionId });
      expect(await asked).toMatchObject({ stopReason: 'cancelled' });
    });
  });

  it('leaves the place of the key to the turn of a prompt', async () => {
    let go: (() => void) | undefined;
    const server = await serveServices({
      runner: scripted(async ({ say }) => {
        await new Promise<void>((resolve) => (go = resolve));
        await say('one');
      }),
    });
    const sessionId = await open(server);
    const prompt = [{ type: 'text', text: 'hello' }];
    const body = rpc('session/prompt', { sessionId, prompt }, 'p');
    const answer = server.call('POST', 'acp', { body });
    await eventually(() => go !== undefined);
    await eventually(() => server.places.taken === 0);
    go?.();
    expect(linesOf((await answer).body).at(-1)).toMatchObject({ id: 'p', result: {} });
  });

  it('takes a cancel that wants an answer, and one for nothing', async () => {
    const server = await serveServices();
    const sessionId = await open(server);
    const asked = await server.call('POST', 'acp', { body: rpc('session/cancel', { sessionId }) });
    expect(asked.body).toEqual({ jsonrpc: '2.0', id: 1, result: {} });
    const { id: _id, ...notification } = rpc('session/cancel', { sessionId: 'sess_0' });
    const told = await server.call('POST', 'acp', { body: notification });
    expect(told).toMatchObject({ status: 202, body: '' });
  });

  it(
    verifies('acp.batch-refused', 'acp.session-new', 'tells what is wrong with a message'),
    async () => {
      const server = await serveServices();
      const code = async (body: unknown) =>
        (await server.call('POST', 'acp', { body })).body.error.code;
      const prompt = [{ type: 'text', text: 'hello' }];
      const sessionId = await open(server);
      expect(await code([rpc('initialize', { protocolVersion: 1 })])).toBe(-32600);
      expect(await code({ method: 'initialize' })).toBe(-32600);
      expect(await code('{')).toBe(-32700);
      expect(await code(rpc('session/load', { sessionId }))).toBe(-32601);
      expect(await code(rpc('toString'))).toBe(-32601);
      expect(await code(rpc('session/prompt', { sessionId: 'sess_0', prompt }))).toBe(-32002);
      expect(await code(rpc('session/cancel', { sessionId: 'sess_0' }))).toBe(-32002);
      expect(await code(rpc('session/prompt', { sessionId, prompt: [] }))).toBe(-32602);
      for (const block of [{ type: 'audio' }, { type: 'image' }, { type: 'text' }])
        expect(await code(rpc('session/prompt', { sessionId, prompt: [block] }))).toBe(-32602);
      expect(await code(rpc('session/prompt', { sessionId, prompt: [{ type: 'resource' }] }))).toBe(
        -32602,
      );
      await server.sessions.archive(ORG, sessionId);
      expect(await code(rpc('session/prompt', { sessionId, prompt }))).toBe(-32600);
      expect(server.bugs).toEqual([]);
    },
  );

  it('names the member of the prompt that is wrong', async () => {
    const server = await serveServices();
    const sessionId = await open(server);
    const told = async (...prompt: object[]) =>
      (await server.call('POST', 'acp', { body: rpc('session/prompt', { sessionId, prompt }) }))
        .body.error.message;
    const hello = { type: 'text', text: 'hello' };
    expect(await told(hello, { type: 'text' })).toMatch(/^prompt\[1\]\.text: /);
    expect(await told({ type: 'image', mimeType: 'image/png' })).toMatch(/^prompt\[0\]\.data: /);
    expect(await told(hello, { type: 'resource' })).toMatch(/^prompt\[1\]\.resource: /);
    expect(await told({ type: 'audio', data: 'AAAA' })).toBe(
      'prompt[0].type: content of this type is not supported',
    );
    const [none] = (await server.sessions.read(ORG, sessionId, {})).events;
    expect(none).toBeUndefined();
  });

  it('sends what an editor attaches as parts of the message', async () => {
    const { sessions, sessionId } = await ask(
      async () => undefined,
      [
        { type: 'image', mimeType: 'image/png', data: 'AAAA' },
        { type: 'resource_link', name: 'a.ts', uri: 'file:///a.ts' },
        { type: 'resource', resource: { uri: 'file:///b.ts', text: 'let b' } },
        { type: 'resource', resource: { uri: 'file:///c.pdf', mimeType: 'a/pdf', blob: 'AAAA' } },
      ],
    );
    const [first] = await historyOf(sessions, sessionId);
    expect(first?.event['content']).toEqual([
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
      { type: 'text', text: '[a.ts](file:///a.ts)' },
      {
        type: 'document',
        title: 'file:///b.ts',
        source: { type: 'text', media_type: 'text/plain', data: 'let b' },
      },
      {
        type: 'document',
        title: 'file:///c.pdf',
        source: { type: 'base64', media_type: 'a/pdf', data: 'AAAA' },
      },
    ]);
  });

  it('says how a turn ended that did not come to its end', async () => {
    const failed = (type: string) => [
      { type: 'session.error' as const, error: { type, message: 'no luck' } },
      idle('retries_exhausted'),
    ];
    const rounds = await ask(({ add }) => add(...failed('tool_use_limit_reached_error')));
    expect(rounds.last.result).toEqual({ stopReason: 'max_turn_requests' });
    const broken = await ask(({ add }) => add(...failed('model_request_failed_error')));
    expect(broken.last).toMatchObject({ id: 'p', error: { code: -32603, message: 'no luck' } });
    const refused = await ask(({ add }) => add(idle('refusal')));
    expect(refused.last.result).toEqual({ stopReason: 'refusal' });
    const asks = await ask(({ add }) => add(idle('requires_action', { event_ids: ['sevt_1'] })));
    expect(asks.last.result).toEqual({
      stopReason: 'end_turn',
      _meta: { 'gateway/stop_reason': { type: 'requires_action', event_ids: ['sevt_1'] } },
    });
  });

  it('ends a prompt with its session, and with the gateway', async () => {
    const server = await serveServices({ runner: scripted(({ interrupted }) => interrupted()) });
    const begin = async () => {
      const sessionId = await open(server);
      const prompt = [{ type: 'text', text: 'hello' }];
      const body = rpc('session/prompt', { sessionId, prompt });
      const asked = server.call('POST', 'acp', { body });
      await eventually(
        async () => (await server.sessions.get(ORG, sessionId)).status === 'running',
      );
      return { sessionId, asked };
    };
    const deleted = await begin();
    const stopped = await begin();
    await server.sessions.remove(ORG, deleted.sessionId);
    expect(linesOf((await deleted.asked).body).at(-1)).toMatchObject({ error: { code: -32603 } });
    await eventually(() => server.active.size > 0);
    server.active.shutDown();
    expect(linesOf((await stopped.asked).body).at(-1)).toMatchObject({ error: { code: -32603 } });
    expect((await server.sessions.get(ORG, stopped.sessionId)).status).toBe('running');
    await server.sessions.remove(ORG, stopped.sessionId);
    expect(server.active.size).toBe(0);
  });
});
