import { describe, expect, it, onTestFinished } from 'vitest';
import { verifies } from '../../requirements.ts';
import { EVERYTHING, startEverything } from '../../support/stage/everything.ts';
import { eventually, startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';

const call = (name: string, args: object = {}) => ({ name: `all__${name}`, arguments: args });

/** A model that calls several tools at once, then one, then says what it was told. */
const RULES = [
  {
    match: { text: 'everything', turn: 1 },
    reply: {
      tool_calls: [
        call('echo', { message: 'hello' }),
        call('get-sum', { a: 2, b: 40 }),
        call('get-tiny-image'),
        call('get-structured-content', { location: 'Chicago' }),
        call('get-sum', { a: 'two' }),
        call('trigger-long-running-operation', { duration: 0.2, steps: 2 }),
      ],
    },
  },
  {
    match: { text: 'everything', turn: 2 },
    reply: { tool_calls: [call('get-env')] },
  },
];

type McpServer = { type: 'url'; url: string } | { type: 'stdio'; server: string };

async function start(server: object): Promise<TestGateway> {
  const gateway = await startGateway(
    {
      server,
      providers: [{ name: 'acme', type: 'mock', mock: { rules: RULES } }],
      models: [{ name: 'acme/one', routes: [{ provider: 'acme' }] }],
    },
    { env: { GATEWAY_MASTER_KEY: 'a-master-key-of-32-characters-00' } },
  );
  onTestFinished(async () => void (await gateway.stop()));
  return gateway;
}

/** The events of one turn with the tools of the server. */
async function play({ call }: TestGateway, server: McpServer): Promise<any[]> {
  const agent = await call('POST', '/v1/agents', {
    body: {
      name: 'worker',
      model: 'acme/one',
      mcp_servers: [{ name: 'all', ...server }],
      tools: [
        {
          type: 'mcp_toolset',
          mcp_server_name: 'all',
          default_config: { permission_policy: { type: 'always_allow' } },
        },
      ],
    },
  });
  expect(agent.status, JSON.stringify(agent.body)).toBe(201);
  const body = {
    agent: agent.body.id,
    environment_id: 'env_1',
    initial_events: [{ type: 'user.message', content: [{ type: 'text', text: 'try everything' }] }],
  };
  const session = await call('POST', '/v1/sessions', { body });
  expect(session.status, JSON.stringify(session.body)).toBeLessThan(300);
  const path = `/v1/sessions/${session.body.id}`;
  await eventually(async () => (await call('GET', path)).body.status === 'idle', 20_000);
  return (await call('GET', `${path}/events?limit=100&order=asc`)).body.data;
}

function expectResults(events: any[]): void {
  const uses = events.filter(({ type }) => type === 'agent.mcp_tool_use');
  const results = events.filter(({ type }) => type === 'agent.mcp_tool_result');
  const resultOf = (name: string, nth = 0) => {
    const { id } = uses.filter((use) => use.name === name)[nth];
    return results.find((result) => result.mcp_tool_use_id === id);
  };
  expect(resultOf('echo')).toMatchObject({
    is_error: false,
    content: [{ type: 'text', text: 'Echo: hello' }],
  });
  expect(resultOf('get-sum').content[0].text).toContain('42');
  expect(resultOf('get-tiny-image').content).toContainEqual(
    expect.objectContaining({
      type: 'image',
      source: expect.objectContaining({ type: 'base64', media_type: 'image/png' }),
    }),
  );
  expect(resultOf('get-structured-content').content[0].text).toContain('temperature');
  expect(resultOf('get-sum', 1)).toMatchObject({ is_error: true });
  expect(resultOf('trigger-long-running-operation')).toMatchObject({ is_error: false });
  expect(resultOf('get-env')).toMatchObject({ is_error: false });
  expect(uses.every(({ mcp_server_name: name }) => name === 'all')).toBe(true);
  expect(events.filter(({ type }) => type === 'session.error')).toEqual([]);
  expect(events.filter(({ type }) => type === 'agent.message')).toHaveLength(1);
  expect(events.at(-1)).toMatchObject({ stop_reason: { type: 'end_turn' } });
}

describe('the example server of MCP as a source of tools', () => {
  it(
    verifies('sessions.turn.mcp-tools', 'is called over stdio, with what was declared for it'),
    async () => {
      const all = { ...EVERYTHING, env: { GREETING: 'welcome' } };
      const gateway = await start({ mcp_servers: { all } });
      const events = await play(gateway, { type: 'stdio', server: 'all' });
      expectResults(events);
      const told = events.filter(({ type }) => type === 'agent.mcp_tool_result').at(-1);
      const environment = JSON.parse(told.content[0].text);
      expect(environment).toMatchObject({ GREETING: 'welcome' });
      const passed = ['PATH', 'HOME', 'USER', 'LANG', 'LC_ALL', 'TZ', 'TMPDIR'];
      const others = Object.keys(environment).filter((name) => !passed.includes(name));
      expect(others.toSorted()).toEqual(['AGENT_GATEWAY_HARNESS', 'GREETING']);
    },
  );

  it(
    verifies('sessions.turn.mcp-tools', 'is called over streamable HTTP, and left again'),
    async () => {
      const server = await startEverything();
      const gateway = await start({ outbound: { allow: [`127.0.0.1:${server.port}`] } });
      expectResults(await play(gateway, { type: 'url', url: server.url }));
      await eventually(() => server.said().includes('removing from transports map'));
    },
  );
});
