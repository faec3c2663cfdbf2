import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verifies } from '../../requirements.ts';
import { eventually, startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';

const FIRST = 'canary-first-51aa-9920';
const SECOND = 'canary-second-77cd-1043';
const THIRD = 'canary-third-02bf-6651';

/** An official MCP server whose tool tells all that it is sent. */
async function startEcho() {
  const seen: string[] = [];
  const refuse = new Map<string, number>();
  const http = createServer((request, response) => {
    const token = request.headers.authorization?.replace('Bearer ', '') ?? '';
    const status = refuse.get(token);
    if (status !== undefined) {
      seen.push(`${status} ${token}`);
      response.writeHead(status, { 'content-type': 'text/plain' }).end(`no ${token} here`);
      return;
    }
    const server = new McpServer({ name: 'echo', version: '1.0.0' });
    server.registerTool('whoami', {}, () => {
      seen.push(token);
      return { content: [{ type: 'text', text: `You are ${token}.` }] };
    });
    server.registerTool('fail', {}, () => {
      throw new Error(`no luck with ${token}`);
    });
    const transport = new StreamableHTTPServerTransport({});
    response.on('close', () => void transport.close());
    void server
      .connect(transport as Transport)
      .then(() => transport.handleRequest(request, response));
  });
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  const { port } = http.address() as AddressInfo;
  const stop = async (): Promise<void> => {
    http.close();
    http.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${port}/mcp`, seen, refuse, stop };
}

let echo: Awaited<ReturnType<typeof startEcho>>;
let gateway: TestGateway;
let agent: string;
let ids: string[];
/** Everything that a client was shown. */
const shown: string[] = [];

beforeAll(async () => {
  echo = await startEcho();
  const calls = (name: string) => ({ tool_calls: [{ name: `echo__${name}`, arguments: {} }] });
  gateway = await startGateway({
    server: { outbound: { allow: ['127.0.0.1'] }, log: { level: 'debug', content: true } },
    providers: [
      {
        name: 'acme',
        type: 'mock',
        mock: {
          rules: [
            { match: { text: 'who', turn: 1 }, reply: calls('whoami') },
            { match: { text: 'fail', turn: 1 }, reply: calls('fail') },
          ],
        },
      },
    ],
    models: [{ name: 'acme/one', routes: [{ provider: 'acme' }] }],
  });
  const always = { permission_policy: { type: 'always_allow' } };
  const made = await gateway.call('POST', '/v1/agents', {
    body: {
      name: 'caller',
      model: 'acme/one',
      mcp_servers: [{ type: 'url', name: 'echo', url: echo.url }],
      tools: [{ type: 'mcp_toolset', mcp_server_name: 'echo', default_config: always }],
    },
  });
  agent = made.body.id;
  ids = [await keep(FIRST, 2), await keep(SECOND, 1)];
});
afterAll(async () => {
  await gateway.stop();
  await echo.stop();
});

async function keep(value: string, weight: number): Promise<string> {
  const body = { agent_id: agent, scope: 'mcp', scope_name: 'echo', secret_key: 'token' };
  const { body: made } = await gateway.call('POST', '/v1/credentials', {
    body: { ...body, value, weight },
  });
  return made.data.id;
}

async function turn(text: string): Promise<any[]> {
  const { body } = await gateway.call('POST', '/v1/sessions', {
    body: {
      agent,
      initial_events: [{ type: 'user.message', content: [{ type: 'text', text }] }],
    },
  });
  return eventually(async () => {
    const page = await gateway.call('GET', `/v1/sessions/${body.id}/events`);
    if (page.body.data.at(-1)?.type !== 'session.status_idle') return undefined;
    shown.push(JSON.stringify(page.body));
    return page.body.data;
  });
}

/** What the server was called with in a turn of its own. */
async function used(): Promise<string[]> {
  echo.seen.length = 0;
  await turn('who');
  return [...echo.seen];
}

async function stateOf(id: string | undefined) {
  const { body } = await gateway.call('GET', `/v1/credentials/${id}`);
  shown.push(JSON.stringify({ ...body.data, value_hint: '' }));
  return body.data;
}

describe('the credentials of an Agent, at a real MCP server', () => {
  it(
    verifies('credentials.select.weighted', 'take turns by weight from Session to Session'),
    async () => {
      const turns: string[] = [];
      for (let count = 0; count < 6; count++) turns.push(...(await used()));
      expect(turns.filter((value) => value === FIRST)).toHaveLength(4);
      expect(turns.filter((value) => value === SECOND)).toHaveLength(2);
    },
  );

  it.each([401, 403, 429])(
    verifies(
      'credentials.select.failure-cooldown',
      'one that is refused with %i is counted, cools down and gives way to the next',
    ),
    async (status) => {
      const [first] = ids;
      echo.refuse.set(FIRST, status);
      const from = Date.now();
      const tried = await eventually(async () => {
        const seen = await used();
        return seen[0] === `${status} ${FIRST}` && seen;
      });
      // The call itself is made once.
      expect(tried.filter((value) => value === SECOND)).toEqual([SECOND]);
      const { failure_count: failures, cooldown_until: until } = await stateOf(first);
      expect(failures).toBe(1);
      expect(Date.parse(until) - from).toBeGreaterThanOrEqual(30_000);
      expect(await used()).toEqual([SECOND]);

      echo.refuse.clear();
      const rotated = await gateway.call('POST', `/v1/credentials/${first}/rotate`, {
        body: { value: FIRST },
      });
      expect(rotated.body.data).toMatchObject({ failure_count: 0, cooldown_until: null });
    },
  );

  it(
    verifies('credentials.rotate', 'the next call after a rotation has the new value'),
    async () => {
      const [first, second] = ids;
      const disable = { body: { status: 'disabled' } };
      await gateway.call('PATCH', `/v1/credentials/${second}`, disable);
      expect(await used()).toEqual([FIRST]);
      await gateway.call('POST', `/v1/credentials/${first}/rotate`, { body: { value: THIRD } });
      expect(await used()).toEqual([THIRD]);
      await gateway.call('PATCH', `/v1/credentials/${first}`, disable);
      expect(await used()).toEqual(['']);
    },
  );

  it(
    verifies(
      'credentials.value.write-only',
      'credentials.hint-not-logged',
      'are in no event, no error and no log, whatever the server says',
    ),
    async () => {
      for (const id of ids)
        await gateway.call('PATCH', `/v1/credentials/${id}`, { body: { status: 'active' } });
      const results: unknown[] = [];
      for (const text of ['who', 'fail', 'who', 'fail']) {
        const events = await turn(text);
        results.push(events.find(({ type }) => type === 'agent.mcp_tool_result').content[0].text);
      }
      expect(results).toContainEqual('You are [redacted].');
      expect(results).toContainEqual(expect.stringMatching(/no luck/));
      for (const value of ['', FIRST, SECOND, THIRD]) echo.refuse.set(value, 403);
      const events = await turn('who');
      expect(events.map(({ type }) => type)).toContain('session.error');
      for (const id of ids) expect(await stateOf(id)).toMatchObject({ failure_count: 1 });

      const hints = [FIRST, SECOND, THIRD].map((value) => `${value.slice(0, 3)}…`);
      for (const text of [...shown, gateway.log()])
        for (const value of [FIRST, SECOND, THIRD, ...hints]) expect(text).not.toContain(value);
    },
  );
});
