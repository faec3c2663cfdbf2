import { Buffer } from 'node:buffer';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { runCli } from '../../cli/run-cli.ts';
import { emptyDirectory } from '../../support/each-file/empty-directory.ts';
import { startGateway } from '../../support/gateway.ts';

const SKILL = '---\nname: review\ndescription: Reviews.\n---\nRead.\n';
const CONFIG = {
  version: 1,
  namespace: 'team',
  providers: [{ name: 'echo', type: 'mock' }],
  models: [{ name: 'team/echo', routes: [{ provider: 'echo' }] }],
  skills: [{ name: 'review', files: { 'SKILL.md': SKILL } }],
  agents: [{ name: 'helper', model: 'team/echo' }],
  credentials: [
    {
      name: 'token',
      agent_id: '${ref:agent.helper.id}',
      scope: 'mcp',
      scope_name: 'docs',
      secret_key: 'TOKEN',
      value: '${secret:env:TOKEN}',
    },
  ],
  services: [{ name: 'desk', agent_id: '${ref:agent.helper.id}', protocols: ['rest'] }],
  deployments: [
    {
      name: 'nightly',
      agent_id: '${ref:agent.helper.id}',
      initial_events: [{ type: 'user.message', content: [{ type: 'text', text: 'go' }] }],
    },
  ],
};
const KINDS = ['skills', 'agents', 'credentials', 'services', 'deployments'];

/** Loses the client of the first creation of each kind, and lets the gateway know of it at the end. */
async function startSlowProxy(target: string) {
  const late = new Map<string, () => Promise<Response>>();
  const pass = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const { method = '', url = '', headers } = incoming;
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const { host: _host, connection: _connection, 'content-length': _length, ...rest } = headers;
    const body = chunks.length > 0 ? Buffer.concat(chunks) : undefined;
    const send = () =>
      fetch(target + url, {
        method,
        headers: rest as Record<string, string>,
        ...(body && { body }),
      });
    if (method === 'POST' && !late.has(url)) {
      late.set(url, send);
      outgoing.destroy();
      return;
    }
    const answer = await send();
    outgoing.writeHead(answer.status, { 'content-type': 'application/json' });
    outgoing.end(Buffer.from(await answer.arrayBuffer()));
  };
  const server = createServer((incoming, outgoing) => void pass(incoming, outgoing));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, late };
}

describe('a creation that takes effect long after it was given up', () => {
  it('makes no second object of any kind', async () => {
    const [gateway, cwd] = await Promise.all([startGateway(), emptyDirectory()]);
    onTestFinished(async () => void (await gateway.stop()));
    const proxy = await startSlowProxy(gateway.url);
    await writeFile(join(cwd, 'team.yaml'), JSON.stringify(CONFIG));
    const env = { GATEWAY_API_KEY: gateway.adminKey, TOKEN: 'token-123' };
    const at = (server: string) => ({ cwd, env: { ...env, GATEWAY_SERVER: server } });
    const applied = await runCli(['apply', '-f', 'team.yaml', '--yes'], at(proxy.url));
    expect([applied.code, applied.stderr]).toEqual([0, expect.any(String)]);
    const came = await Promise.all(
      [...proxy.late].map(async ([path, send]) => [path, (await send()).status] as const),
    );
    expect(Object.fromEntries(came)).toEqual({
      '/admin/v1/providers': 409,
      '/admin/v1/models': 409,
      '/admin/v1/inventories': 409,
      ...Object.fromEntries(KINDS.map((kind) => [`/admin/v1/${kind}`, 201])),
    });
    for (const kind of KINDS) {
      const { body } = await gateway.admin('GET', `/admin/v1/${kind}`);
      expect(body.data, kind).toHaveLength(1);
    }
    const again = await runCli(['plan', '-f', 'team.yaml', '--exit-code'], at(gateway.url));
    expect([again.code, again.stdout]).toEqual([0, expect.any(String)]);
  });
});
