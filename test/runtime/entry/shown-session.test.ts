import { describe, expect, it } from 'vitest';
import { toEventId } from '../../../src/runtime/entry/mcp/event-id.ts';
import { historyOf, idle, newSession, ORG, say, settled, typesOf } from '../../sessions/support.ts';
import { eventually } from '../../support/gateway.ts';
import { scripted } from './scripted-runner.ts';
import { SERVICE, serveServices } from './serve-services.ts';
import type { ServiceServer } from './serve-services.ts';

/** Key that may call Services alone. */
const KEY = 'org_1_services';

const rpc = (method: string, params: object) => ({ jsonrpc: '2.0', id: 1, method, params });
const INITIALIZE = rpc('initialize', {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'test', version: '1' },
});

async function serve(): Promise<ServiceServer> {
  return serveServices({ runner: scripted((turn) => turn.say('I know ', turn.text)) });
}

/** A Session with one turn behind it, of a Service or made directly. */
async function makeSession({ sessions }: ServiceServer, endpointId?: string): Promise<string> {
  const made = await sessions.create(newSession({ endpointId, events: [say('secret')] }));
  await eventually(() => settled(sessions, made.session.id));
  return made.session.id;
}

interface ToolArguments {
  readonly name: string;
  readonly key?: string;
  readonly [argument: string]: unknown;
}

/** Runs a tool over MCP; gives its text. */
async function callTool(server: ServiceServer, args: ToolArguments) {
  const { name, key = KEY, ...rest } = args;
  const { headers } = await server.call('POST', 'mcp', { key, body: INITIALIZE });
  const session = { 'mcp-session-id': headers.get('mcp-session-id') ?? '' };
  const body = rpc('tools/call', { name, arguments: rest });
  const answer = await server.call('POST', 'mcp', { key, headers: session, body });
  return { session, result: answer.body.result, text: JSON.stringify(answer.body) };
}

/** Posts over ACP; gives the text of the answer. */
async function postAcp(server: ServiceServer, body: object, key = KEY): Promise<string> {
  const answer = await server.call('POST', 'acp', { key, body });
  return typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body);
}

const foreign = { direct: undefined, 'of another Service': 'ep_2' };

describe.each(Object.entries(foreign))('a Session that is %s', (_, endpointId) => {
  it('is unknown over MCP to a key that may call Services alone', async () => {
    const server = await serve();
    const id = await makeSession(server, endpointId);
    const unknown = await callTool(server, { name: 'get_session', session_id: 'sess_none' });
    for (const args of [
      { name: 'get_session' },
      { name: 'send_message', input: 'again', wait: true },
    ]) {
      const { result, text } = await callTool(server, { ...args, session_id: id });
      expect(result).toEqual(unknown.result);
      expect(text).not.toContain('secret');
    }
    const history = await historyOf(server.sessions, id);
    expect(typesOf(history).filter((type) => type === 'user.message')).toHaveLength(1);
  });

  it('is not gone on with over MCP by the id of an event', async () => {
    const server = await serve();
    const id = await makeSession(server, endpointId);
    const [message] = await historyOf(server.sessions, id);
    const own = await callTool(server, { name: 'send_message', input: 'x' });
    const last = toEventId({
      sessionId: id,
      messageId: message?.event.id ?? '',
      requestId: 1,
      progressToken: 'p',
      told: 0,
      progress: 0,
    });
    const headers = { ...own.session, accept: 'text/event-stream', 'last-event-id': last ?? '' };
    const answer = await server.call('GET', 'mcp', { key: KEY, headers });
    expect(answer.status).toBe(400);
    expect(JSON.stringify(answer.body)).not.toContain('secret');
  });

  it('is unknown over ACP to a key that may call Services alone', async () => {
    const server = await serve();
    const id = await makeSession(server, endpointId);
    const before = typesOf(await historyOf(server.sessions, id));
    const prompt = [{ type: 'text', text: 'again' }];
    const ask = (sessionId: string) =>
      postAcp(server, rpc('session/prompt', { sessionId, prompt }));
    const unknown = await ask('sess_none');
    expect(unknown).toContain('-32002');
    expect(await ask(id)).toBe(unknown);
    expect(await postAcp(server, rpc('session/cancel', { sessionId: id }))).toBe(unknown);
    expect(typesOf(await historyOf(server.sessions, id))).toEqual(before);
  });

  it('is not answered over ACP by a key that may call Services alone', async () => {
    const use = { name: 'rm', input: {}, evaluated_permission: 'ask' };
    const runner = scripted(async ({ add }) => {
      await add({ type: 'agent.mcp_tool_use', id: 'sevt_use', ...use });
      await add(idle('requires_action', { event_ids: ['sevt_use'] }));
    });
    const server = await serveServices({ runner });
    const id = await makeSession(server, endpointId);
    const answered = async (key: string): Promise<boolean> => {
      const result = { outcome: { outcome: 'selected', optionId: 'allow' } };
      await postAcp(server, { jsonrpc: '2.0', id: `${id}/sevt_use`, result }, key);
      return typesOf(await historyOf(server.sessions, id)).includes('user.tool_confirmation');
    };
    expect(await answered(KEY)).toBe(false);
    expect(await answered(ORG)).toBe(true);
  });

  it('is shown to a key that may read Sessions', async () => {
    const server = await serve();
    const id = await makeSession(server, endpointId);
    const call = { name: 'get_session', key: ORG, session_id: id };
    expect((await callTool(server, call)).text).toContain('I know secret');
    const prompt = [{ type: 'text', text: 'more' }];
    const body = rpc('session/prompt', { sessionId: id, prompt });
    expect(await postAcp(server, body, ORG)).toContain('end_turn');
  });

  it('is appended to by a run of its organization, which tells nothing of it', async () => {
    const server = await serve();
    const id = await makeSession(server, endpointId);
    const body = { input: 'more', session_id: id };
    const answer = await server.call('POST', 'run', { key: KEY, body });
    expect(answer.status).toBe(202);
    expect(JSON.stringify(answer.body)).not.toContain('secret');
  });
});

it('shows the Sessions of a Service to every key that may call it', async () => {
  const server = await serve();
  const id = await makeSession(server, SERVICE.id);
  expect((await callTool(server, { name: 'get_session', session_id: id })).text).toContain(
    'secret',
  );
  const more = { name: 'send_message', session_id: id, input: 'more', wait: true };
  expect((await callTool(server, more)).text).toContain('I know more');
  const prompt = [{ type: 'text', text: 'most' }];
  const body = rpc('session/prompt', { sessionId: id, prompt });
  expect(await postAcp(server, body)).toContain('end_turn');
});
