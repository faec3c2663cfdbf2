import { EventEmitter } from 'node:events';
import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { converseWithSession } from '../../../src/cli/chat/session-chat.ts';
import type { CommandContext } from '../../../src/cli/context.ts';
import { createOutput } from '../../../src/cli/output/output.ts';
import { createStyle } from '../../../src/cli/output/style.ts';
import type { Client } from '../../../src/client/create-client.ts';
import { startFakeServer } from '../../client/fake-server.ts';
import { verifies } from '../../requirements.ts';
import { runCli } from '../run-cli.ts';

const AT = '2026-11-21T10:00:00.000Z';
const CALL = {
  id: 'sevt_1',
  answered_by: 'user.tool_confirmation',
  name: 'lookup',
  server: null,
  input: { order: 17 },
};

/** A person who types these lines, each when something is asked; the messages that call a tool begin with it. */
async function converse(lines: string[], session?: string) {
  const sent: any[] = [];
  const begun: string[] = [];
  let open: object[] = [];
  const send = async (_id: string, [event]: readonly any[]) => {
    if (event.content?.[0].text === 'lost') throw new Error('the connection was lost');
    sent.push(event);
    if (event.type === 'user.tool_confirmation') open = [];
    return [{ ...event, id: `sevt_m${sent.length}`, processed_at: AT }];
  };
  const waitingOf = () =>
    open.length === 0 ? null : { since: AT, message: 'it waits for an answer', calls: open };
  const textOf = (event: any): string => event.content[0].text;
  const client = {
    sessions: {
      send,
      get: async () => ({ id: 'sess_1', waiting: waitingOf() }),
    },
    services: {
      async *follow({ events: [message] }: any, { onWait }: any) {
        const text = textOf(message);
        if (text.startsWith('tool')) {
          open = [CALL];
          if (!(await onWait())) return { type: 'requires_action' };
        }
        const content = [{ type: 'text', text: `you said ${text}` }];
        yield { type: 'agent.message', id: 'sevt_a', content };
        return { type: 'end_turn' };
      },
    },
  } as unknown as Client;
  let stdout = '';
  let stderr = '';
  const sink = (add: (text: string) => void) =>
    Object.assign(new EventEmitter(), {
      write(text: string) {
        add(text);
        return true;
      },
    });
  const style = createStyle(false);
  const output = createOutput({
    stdout: sink((text) => (stdout += text)),
    stderr: sink((text) => (stderr += text)),
    format: 'text',
    quiet: false,
    debug: false,
    style,
    errorStyle: style,
    onEvents: () => undefined,
  });
  const input = new PassThrough();
  const screen = new PassThrough();
  const asked: string[] = [];
  screen.on('data', (chunk: Buffer) => {
    const text = chunk.toString();
    if (!/> |\) $/.test(text)) return;
    asked.push(text);
    const line = lines.shift();
    if (line === undefined) input.end();
    else input.write(`${line}\n`);
  });
  const context = { output, signal: new AbortController().signal } as unknown as CommandContext;
  const thrown = await converseWithSession(context, {
    client,
    prompt: undefined,
    session,
    command: 'gateway agents chat helper',
    terminal: { input, output: screen },
    async begin(text) {
      begun.push(text);
      const message = { type: 'user.message', content: [{ type: 'text', text }] };
      return { session_id: 'sess_1', events: await send('sess_1', [message]) };
    },
  }).then(
    () => undefined,
    (error: unknown) => error,
  );
  return { stdout, stderr, sent, begun, asked, thrown };
}

describe('a Session of another Agent or Service', () => {
  const view = { id: 'sess_1', status: 'idle', created_at: AT, endpoint_id: 'endp_1' };
  const agent = { id: 'agent_1', name: 'helper', version: 1 };
  const others = [
    { id: 'agent_2', type: 'agent', name: 'writer' },
    { id: 'endp_2', type: 'endpoint', name: 'desk', slug: 'desk' },
  ];

  async function chat(kind: string, named: string, session: object = {}) {
    const server = await startFakeServer(({ method, path }) => {
      if (path === '/v1/sessions/sess_1') return { body: { ...view, agent, ...session } };
      if (method === 'POST') return { status: 400, body: { error: { message: 'sent' } } };
      const found = others.filter(({ id, name }) => path.endsWith(id) || name === named);
      if (/\/(agents|endpoints|admin\/v1\/\w+)$/.test(path))
        return { body: { data: found, next_page: null } };
      return { status: 404, body: { error: { message: 'not found' } } };
    });
    const env = { GATEWAY_SERVER: server.url, GATEWAY_API_KEY: 'sk-test' };
    const run = await runCli([kind, 'chat', named, 'hi', '--session', 'sess_1'], { env });
    await server.close();
    return { ...run, sent: server.calls.filter(({ method }) => method === 'POST').length };
  }

  it.each([
    ['agents writer', {}, ['the Agent helper', 'agents chat helper --session']],
    ['services desk', {}, ['the Service endp_1', 'services chat endp_1 --session']],
    ['services desk', { endpoint_id: null }, ['no Service', 'sessions send']],
  ])('is refused before anything is sent: %s %j', async (words, session, [owner, next]) => {
    const [kind = '', named = ''] = words.split(' ');
    const { code, stderr, sent } = await chat(kind, named, session);
    expect({ code, sent }).toEqual({ code: 5, sent: 0 });
    expect(stderr).toContain(`Session sess_1 is of ${owner}, not of ${named}`);
    expect(stderr).toContain(`gateway ${next} sess_1`);
  });

  it.each([
    ['agents', 'helper', {}],
    ['agents', 'agent_1', {}],
    ['agents', 'writer', { agent: { ...agent, id: 'agent_2', name: 'former name' } }],
    ['services', 'desk', { endpoint_id: 'endp_2' }],
  ])('is its own by name, id and former name: %s %s %j', async (kind, named, session) => {
    expect(await chat(kind, named, session)).toMatchObject({ code: 1, sent: 1 });
  });
});

describe('a conversation with an Agent', () => {
  it('is one Session, whose name is told at its end', async () => {
    const { stdout, stderr, begun, sent, thrown } = await converse(['hello', 'more', '/exit']);
    expect(thrown).toBeUndefined();
    expect(stdout).toBe('you said hello\nyou said more\n');
    expect(begun).toEqual(['hello']);
    expect(sent).toHaveLength(2);
    expect(stderr).toContain('gateway agents chat helper --session sess_1 continues it');
  });

  it(verifies('sessions.waiting', 'asks for each call that needs a permission'), async () => {
    const { stdout, sent, asked } = await converse(['tool', 'y']);
    expect(asked.join('')).toContain('Allow lookup {"order":17}?');
    expect(sent[1]).toEqual({
      type: 'user.tool_confirmation',
      tool_use_id: 'sevt_1',
      result: 'allow',
    });
    expect(stdout).toBe('you said tool\n');
  });

  it(verifies('sessions.waiting', 'takes no line typed before for an answer'), async () => {
    const { sent, asked } = await converse(['tool\ny', 'n']);
    expect(asked.join('')).toContain('Allow lookup');
    expect(sent[1]).toMatchObject({ type: 'user.tool_confirmation', result: 'deny' });
  });

  it(verifies('sessions.waiting', 'leaves a question open with /exit'), async () => {
    const { sent, stderr, asked } = await converse(['tool', ' /exit ', 'y']);
    expect(sent).toHaveLength(1);
    expect(asked.join('').match(/Allow lookup/g)).toHaveLength(1);
    expect(stderr).toContain('--session sess_1 continues it');
  });

  it('names its Session where an error ends it, too', async () => {
    const { thrown, stderr } = await converse(['hello', 'lost']);
    expect(thrown).toMatchObject({ message: 'the connection was lost' });
    expect(stderr).toContain('gateway agents chat helper --session sess_1 continues it');
  });

  it('says what is left open at the end of the input', async () => {
    const { stderr, sent } = await converse(['tool']);
    expect(sent).toHaveLength(1);
    expect(stderr).toContain('waits for an answer');
  });
});

describe('gateway agents chat and services chat', () => {
  it.each([
    [
      ['agents', 'chat', 'helper', 'hello'],
      ['/v1/sessions', '/v1/sessions/sess_1/events'],
    ],
    [['services', 'chat', 'helper', 'hello'], ['/v1/endpoints/ep_1/run']],
  ])('%j sends one message without a terminal', async (words, posted) => {
    const message = { id: 'sevt_5', type: 'user.message', processed_at: AT };
    const end = { id: 'sevt_9', type: 'session.status_idle', stop_reason: { type: 'end_turn' } };
    const server = await startFakeServer(({ method, path }, response) => {
      if (path.endsWith('/stream')) {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        for (const one of [{ id: 'sevt_6', type: 'session.status_running' }, end])
          response.write(`data: ${JSON.stringify(one)}\n\n`);
        response.end();
        return undefined;
      }
      if (path.endsWith('/run')) return { body: { session_id: 'sess_1', events: [message] } };
      if (path.endsWith('/events')) return { body: { data: [message], next_page: null } };
      if (path === '/v1/sessions' && method === 'POST')
        return { body: { id: 'sess_1', status: 'idle', created_at: AT } };
      if (path === '/v1/endpoints')
        return { body: { data: [{ id: 'ep_1', name: 'helper', slug: 'helper' }] } };
      return { body: { id: 'agent_1', type: 'agent', name: 'helper' } };
    });
    const env = { GATEWAY_SERVER: server.url, GATEWAY_API_KEY: 'sk-test' };
    const { code, stderr } = await runCli(words, { env });
    const posts = server.calls.filter(({ method }) => method === 'POST').map(({ path }) => path);
    await server.close();
    expect({ code, posts, stderr }).toEqual({ code: 0, posts: posted, stderr: 'session sess_1\n' });
  });
});
