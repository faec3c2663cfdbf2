import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { findByEnvironment, readProcessTable } from '../../../src/runtime/reaper/process-table.ts';
import type { ToolDeadlines } from '../../../src/runtime/tools/mcp-tool-server.ts';
import { createMcpToolServers } from '../../../src/runtime/tools/mcp-tool-servers.ts';
import type { AgentTool } from '../../../src/sessions/resolved-agent.ts';
import { createUrlGuard } from '../../../src/upstream/guard/url-guard.ts';
import { FakeSession } from '../fake-log.ts';
import { loopBench } from '../loop-bench.ts';
import type { Rules } from '../loop-bench.ts';
import { startFaultyHttp } from './faulty-http.ts';
import type { HttpFault } from './faulty-http.ts';
import { toolSurroundings } from './surroundings.ts';
import { verifies } from '../../requirements.ts';
import { inTurn } from '../../runs.ts';

const SERVER = fileURLToPath(new URL('./faulty-server.js', import.meta.url));
const surroundings = toolSurroundings();
const { signal } = new AbortController();

const calling = (...names: string[]): Rules => [
  {
    match: { turn: 1 },
    reply: { tool_calls: names.map((name) => ({ name, arguments: {} })) },
  },
];

const TOOLSET: AgentTool = {
  type: 'mcp_toolset',
  mcp_server_name: 'shop',
  default_config: { permission_policy: { type: 'always_allow' } },
};

interface PlayOptions {
  readonly rules?: Rules;
  readonly tools?: readonly AgentTool[];
  readonly deadlines?: Partial<ToolDeadlines>;
}

let played = 0;

/** One turn with a server, whose processes carry a mark. */
async function play(
  where: { url: string; port: number } | { fault: string },
  options: PlayOptions,
) {
  const { rules = calling('shop__good'), tools = [TOOLSET], deadlines } = options;
  const mark = `FAULTY_MARK=${process.pid}-${++played}`;
  const [variable = '', value = ''] = mark.split('=');
  const guard = createUrlGuard({ allow: 'port' in where ? [`127.0.0.1:${where.port}`] : [] });
  onTestFinished(() => guard.close());
  const args = 'fault' in where ? [SERVER, where.fault] : [];
  const servers = createMcpToolServers({
    ...surroundings,
    guard,
    version: '0.0.0',
    stdioServers: new Map([
      ['faulty', { command: process.execPath, args, env: { [variable]: value } }],
    ]),
    credentials: { select: async () => [], report: async () => undefined },
    deadlines: { connect: 20_000, list: 20_000, call: 20_000, ...deadlines },
  });
  const bench = loopBench({ rules, servers });
  const session = new FakeSession({
    tools: [...tools],
    mcp_servers: [
      'url' in where
        ? { type: 'url', name: 'shop', url: where.url }
        : { type: 'stdio', name: 'shop', server: 'faulty' },
    ],
  });
  session.message('hello');
  await bench.loop.run(session.open(), signal);
  expect(session.session.status).toBe('idle');
  expect(session.of('session.status_idle')).toMatchObject([{ stop_reason: { type: 'end_turn' } }]);
  expect(bench.bugs).toEqual([]);
  const left = await findByEnvironment(await readProcessTable(), [mark]);
  const bodies = bench.engine.calls().map(({ body }) => body.toString());
  const asked = (): Asked[] => bodies.map((body) => JSON.parse(body) as Asked);
  return { session, left, asked };
}

interface Asked {
  readonly tools?: { readonly name: string }[];
}

const errorsOf = (session: FakeSession) => session.of('session.error').map(({ error }) => error);
const resultsOf = (session: FakeSession) =>
  session.of('agent.mcp_tool_result').map(({ is_error, content }) => ({
    is_error,
    text: (content as { text?: string }[]).map(({ text }) => text).join('|'),
  }));
const lost = (message: string) => ({
  type: 'mcp_connection_failed_error',
  mcp_server_name: 'shop',
  message,
  retry_status: { type: 'retrying' },
});
const failed = (text: string) => ({ is_error: true, text });

describe('a turn whose server is a process', () => {
  it.each([
    ['dies', 'the process of the server has ended'],
    ['huge', 'the answer of the server is too large'],
  ])('that %s in mid-call tells so and goes on', async (fault, message) => {
    const { session, left } = await play({ fault }, {});
    expect(resultsOf(session)).toEqual([failed(message)]);
    expect(errorsOf(session)).toEqual([lost(message)]);
    expect(session.of('agent.message')).toHaveLength(1);
    expect(left).toEqual([]);
  });

  it.each([
    ['garbage', 'the server writes what is not of its protocol', {}],
    ['mute', 'the server did not answer in time', { connect: 100 }],
    ['listless', 'the server did not answer in time', { list: 100 }],
  ])('that is %s at its start goes without its tools', async (fault, message, deadlines) => {
    const { session, left, asked } = await play({ fault }, { rules: [], deadlines });
    expect(errorsOf(session)).toEqual([lost(message)]);
    expect(asked()[0]?.tools ?? []).toEqual([]);
    expect(session.of('agent.message')).toHaveLength(1);
    expect(left).toEqual([]);
  });

  it('that answers no call in time gives an error, and is asked again', async () => {
    const { session, left } = await play({ fault: 'slow' }, { deadlines: { call: 100 } });
    expect(resultsOf(session)).toEqual([failed(expect.stringContaining('timed out'))]);
    expect(errorsOf(session)).toEqual([]);
    expect(left).toEqual([]);
  });

  it.each([
    ['ends at an unknown request', 'shy', {}],
    ['is silent at one', 'silent', { connect: 2_000 }],
  ])('that %s is asked in the older way', async (_name, fault, deadlines) => {
    const { session } = await play({ fault }, { deadlines });
    expect(resultsOf(session)).toEqual([{ is_error: false, text: 'good' }]);
    expect(errorsOf(session)).toEqual([]);
  });

  it('that greets on stdout is understood none the less', async () => {
    const { session } = await play({ fault: 'chatty' }, {});
    expect(resultsOf(session)).toEqual([{ is_error: false, text: 'good' }]);
    expect(errorsOf(session)).toEqual([]);
  });

  it('gives the words of an error of its own, whatever its code', async () => {
    const { session } = await play({ fault: 'refuses' }, {});
    expect(resultsOf(session)).toEqual([failed(expect.stringContaining('out of tea'))]);
    expect(errorsOf(session)).toEqual([]);
  });

  it('tells of a result what it can', async () => {
    const { session } = await play({ fault: 'strange' }, {});
    expect(resultsOf(session)).toEqual([{ is_error: false, text: '{"type":"hologram","beam":1}' }]);
  });

  it('tells which of its tools are left out, and offers the others', async () => {
    const { session, asked } = await play({ fault: 'schemas' }, {});
    expect(asked()[0]?.tools?.map(({ name }) => name)).toEqual(['shop__good']);
    expect(resultsOf(session)).toEqual([{ is_error: false, text: 'good' }]);
    expect(errorsOf(session)).toMatchObject([
      { type: 'unknown_error', mcp_server_name: 'shop', retry_status: { type: 'retrying' } },
    ]);
    const { message } = errorsOf(session)[0] as { message: string };
    for (const words of [
      '"odd" (its input schema is not that of an object)',
      '"none" (its input schema is not that of an object)',
      '"good" (another one of the server has its name)',
      '"large" (its input schema is too large)',
    ])
      expect(message).toContain(words);
  });

  it('gives way where the Agent itself has a tool of that name', async () => {
    const own: AgentTool = {
      type: 'custom',
      name: 'shop__good',
      description: 'Ours.',
      input_schema: { type: 'object' },
    };
    const options = { rules: [], tools: [TOOLSET, own] };
    const { session, asked } = await play({ fault: '' }, options);
    expect(asked()[0]?.tools).toMatchObject([{ name: 'shop__good', description: 'Ours.' }]);
    expect(errorsOf(session)).toMatchObject([
      { message: expect.stringContaining('another tool of the Agent has its name') },
    ]);
  });

  it('that changes its tools is asked for them again', async () => {
    const { asked } = await play({ fault: 'changes' }, {});
    const offered = asked().map(({ tools = [] }) => tools.map(({ name }) => name));
    expect(offered).toEqual([['shop__good'], ['shop__good', 'shop__second']]);
  });

  it('that does not end when it is asked to is killed', async () => {
    const { session, left } = await play({ fault: 'deaf' }, {});
    expect(resultsOf(session)).toEqual([{ is_error: false, text: 'good' }]);
    expect(left).toEqual([]);
  });
});

describe('a turn whose server is reached over HTTP', () => {
  async function playHttp(fault: HttpFault, options: PlayOptions = {}) {
    const server = await startFaultyHttp(fault);
    onTestFinished(() => server.close());
    return { ...(await play(server, options)), server };
  }

  it.each(inTurn('large answers of tool servers', ['large json', 'large events'] as const))(
    'reads a %s as far as models read',
    async (fault) => {
      const { session } = await playHttp(fault);
      const [result] = resultsOf(session);
      expect(result?.is_error).toBe(false);
      expect(result?.text).toMatch(/^{"a":"x+… \(cut off\)$/);
      expect(errorsOf(session)).toEqual([]);
    },
  );

  it.each(
    inTurn('huge answers of tool servers', ['huge json', 'huge events', 'huge packed'] as const),
  )('reads no more of a %s than it may', async (fault) => {
    const { session, server } = await playHttp(fault);
    const message = 'the answer of the server is too large';
    expect(resultsOf(session)).toEqual([failed(message)]);
    expect(errorsOf(session)).toEqual([lost(message)]);
    expect(server.sent.bytes).toBeLessThan(48 * 1024 * 1024);
  });

  it.each(['cut events', 'ended events', 'other answer'] as const)(
    'does not wait for what cannot come any more: %s',
    async (fault) => {
      const { session } = await playHttp(fault);
      const message = 'the connection to the server was lost';
      expect(resultsOf(session)).toEqual([failed(message)]);
      expect(errorsOf(session)).toEqual([lost(message)]);
    },
  );

  it('comes back to a server that closes the stream of a call to go on later', async () => {
    const { session, server } = await playHttp('postponed events');
    expect(resultsOf(session)).toEqual([{ is_error: false, text: 'done' }]);
    expect(errorsOf(session)).toEqual([]);
    expect(server.heard.filter((verb) => verb === 'tools/call')).toHaveLength(1);
    expect(server.heard.filter((verb) => verb.startsWith('GET behind'))).toEqual([
      'GET behind one',
      'GET behind two',
    ]);
  });

  it.each(['forgets 404', 'forgets 400'] as const)(
    verifies('mcp.modern.client', 'makes a new session with a server that %s, and calls again'),
    async (fault) => {
      const { session, server } = await playHttp(fault);
      expect(resultsOf(session)).toEqual([{ is_error: false, text: 'done' }]);
      expect(errorsOf(session)).toEqual([]);
      expect(server.heard.filter((verb) => verb === 'initialize')).toHaveLength(2);
      expect(server.heard.filter((verb) => verb === 'tools/call')).toHaveLength(2);
    },
  );

  it.each(['probe error', 'probe page', 'probe silence'] as const)(
    'shakes hands with an older server that an unknown request baffles: %s',
    async (fault) => {
      const { session, server } = await playHttp(fault, { deadlines: { connect: 1_000 } });
      expect(resultsOf(session)).toEqual([{ is_error: false, text: 'done' }]);
      expect(server.heard.filter((verb) => verb === 'server/discover')).toHaveLength(1);
    },
  );

  it('gives a call up that cannot be come back to', async () => {
    const { session, server } = await playHttp('forgotten events');
    const message = 'the connection to the server was lost';
    expect(resultsOf(session)).toEqual([failed(message)]);
    expect(errorsOf(session)).toEqual([lost(message)]);
    expect(server.heard.filter((verb) => verb === 'GET behind one')).toHaveLength(3);
  });

  it('comes back no more behind the deadline of the call', async () => {
    const { session } = await playHttp('postponed events', { deadlines: { call: 50 } });
    expect(resultsOf(session)).toEqual([failed(expect.stringContaining('timed out'))]);
  });

  it.each(['cut json', 'page', 'error 500'] as const)(
    'tells of a server that fails: %s',
    async (fault) => {
      const { session } = await playHttp(fault);
      expect(resultsOf(session)).toEqual([failed('the server cannot be reached')]);
      expect(JSON.stringify(session.placed)).not.toContain('secret');
    },
  );

  it('gives an error when its call is not answered in time', async () => {
    const { session } = await playHttp('silence', { deadlines: { call: 100 } });
    expect(resultsOf(session)).toEqual([failed(expect.stringContaining('timed out'))]);
  });

  it('goes to no other origin, where its credentials would go as well', async () => {
    const { session, server } = await playHttp('moved', { rules: [] });
    const message = 'the server redirects to another origin; declare the address that it names';
    expect(errorsOf(session)).toEqual([lost(message)]);
    expect(server.heard).toEqual(['server/discover', 'initialize']);
  });

  it('goes on without a server that is down', async () => {
    const server = await startFaultyHttp('silence');
    await server.close();
    const { session, asked } = await play(server, { rules: [] });
    expect(errorsOf(session)).toEqual([lost('the server cannot be reached')]);
    expect(asked()[0]?.tools ?? []).toEqual([]);
  });

  it('ends the session of the server when it is over', async () => {
    const { server } = await playHttp('silence', { rules: [] });
    expect(server.heard.at(-1)).toBe('DELETE');
  });
});
