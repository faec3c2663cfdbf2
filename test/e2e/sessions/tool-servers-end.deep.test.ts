import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { findByEnvironment, readProcessTable } from '../../../src/runtime/reaper/process-table.ts';
import { eventually, newDirectory, startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';

/** Answers no call, ignores SIGTERM, and has a child in a session of its own. */
const STUBBORN = fileURLToPath(new URL('../../runtime/tools/faulty-server.js', import.meta.url));

interface AtWork {
  readonly gateway: TestGateway;
  /** Path of the Session. */
  readonly path: string;
  /** Living processes of the server. */
  processes(): Promise<number>;
}

/** A turn in the middle of a call of a server that does not want to end. */
async function startCall(binary: boolean): Promise<AtWork> {
  const mark = await newDirectory();
  const stubborn = {
    command: process.execPath,
    args: [STUBBORN, 'stubborn'],
    env: { STUBBORN_MARK: mark },
  };
  const rules = [{ match: { turn: 1 }, reply: { tool_calls: [{ name: 'it__good' }] } }];
  const gateway = await startGateway(
    {
      // A stop waits so long for the turn, which never ends.
      server: { mcp_servers: { stubborn }, drain: '500ms' },
      providers: [{ name: 'acme', type: 'mock', mock: { rules } }],
      models: [{ name: 'acme/one', routes: [{ provider: 'acme' }] }],
    },
    { binary },
  );
  const members = async () =>
    findByEnvironment(await readProcessTable(), [`STUBBORN_MARK=${mark}`]);
  onTestFinished(async () => {
    await gateway.stop();
    for (const { pid } of await members()) process.kill(pid, 'SIGKILL');
    await rm(mark, { recursive: true, force: true });
  });
  const { body: agent } = await gateway.call('POST', '/v1/agents', {
    body: {
      name: 'worker',
      model: 'acme/one',
      mcp_servers: [{ name: 'it', type: 'stdio', server: 'stubborn' }],
      tools: [
        {
          type: 'mcp_toolset',
          mcp_server_name: 'it',
          default_config: { permission_policy: { type: 'always_allow' } },
        },
      ],
    },
  });
  const { body: session } = await gateway.call('POST', '/v1/sessions', {
    body: {
      agent: agent.id,
      environment_id: 'env_1',
      initial_events: [{ type: 'user.message', content: [{ type: 'text', text: 'go' }] }],
    },
  });
  const processes = async () => (await members()).length;
  await eventually(async () => (await processes()) === 2, 30_000);
  return { gateway, path: `/v1/sessions/${session.id}`, processes };
}

describe('the process of an MCP server in the middle of a call', () => {
  it('is gone with all that it started when the gateway is killed', async () => {
    const { gateway, processes } = await startCall(true);
    gateway.child?.kill('SIGKILL');
    await once(gateway.child!, 'exit');
    await eventually(async () => (await processes()) === 0, 20_000);
  });

  it('is gone when the turn is interrupted, which does not wait for it', async () => {
    const { gateway, path, processes } = await startCall(false);
    const events = [{ type: 'user.interrupt' }];
    await gateway.call('POST', `${path}/events`, { body: { events } });
    await eventually(async () => (await gateway.call('GET', path)).body.status === 'idle', 20_000);
    const { data } = (await gateway.call('GET', `${path}/events?limit=100&order=asc`)).body;
    const results = data.filter(({ type }: any) => type === 'agent.mcp_tool_result');
    expect(results).toMatchObject([{ is_error: true }]);
    await eventually(async () => (await processes()) === 0, 20_000);
  });

  it('is gone when the gateway stops', async () => {
    const { gateway, processes } = await startCall(false);
    await gateway.stop();
    expect(await processes()).toBe(0);
  });
});
