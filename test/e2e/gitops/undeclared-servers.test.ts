import { describe, expect, it, onTestFinished } from 'vitest';
import { EVERYTHING } from '../../support/stage/everything.ts';
import { startGateway } from '../../support/gateway.ts';

const using = (server: string) => ({
  mcp_servers: [{ type: 'stdio', name: 'tools', server }],
  tools: [{ type: 'mcp_toolset', mcp_server_name: 'tools' }],
});

describe('a server that the operator did not declare', () => {
  it('is refused for a single Session, too', async () => {
    const gateway = await startGateway({ server: { mcp_servers: { shop: EVERYTHING } } });
    onTestFinished(async () => void (await gateway.stop()));
    const { call } = gateway;
    const plain = { name: 'helper', model: 'acme/one' };
    const { id } = (await call('POST', '/v1/agents', { body: plain })).body;
    const create = (server: string) =>
      call('POST', '/v1/sessions', {
        body: { agent: { type: 'agent_with_overrides', id, ...using(server) } },
      });
    const session = await create('shop');
    expect(session.status).toBe(201);
    const update = await call('POST', `/v1/sessions/${session.body.id}`, {
      body: { agent: using('shpo') },
    });
    for (const { status, body } of [await create('shpo'), update]) {
      expect([status, body.error]).toEqual([
        422,
        expect.objectContaining({
          type: 'unprocessable',
          param: 'agent.mcp_servers[0].server',
          message: 'agent.mcp_servers[0].server: `shpo` is not declared in server.mcp_servers',
        }),
      ]);
    }
    const { body } = await call('GET', `/v1/sessions/${session.body.id}`);
    expect(body.agent.mcp_servers[0].server).toBe('shop');
  });
});
