import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createMcpToolServers } from '../../../src/runtime/tools/mcp-tool-servers.ts';
import type { ToolCredential } from '../../../src/runtime/tools/tool-credentials.ts';
import type { ToolOutcome, ToolServer } from '../../../src/runtime/tools/tool-server.ts';
import { createUrlGuard } from '../../../src/upstream/guard/url-guard.ts';
import type { UrlGuard } from '../../../src/upstream/guard/url-guard.ts';
import { verifies } from '../../requirements.ts';
import { FakeSession } from '../fake-log.ts';
import { loopBench } from '../loop-bench.ts';
import { startToolServer } from './http-server.ts';
import { toolSurroundings } from './surroundings.ts';
import type { HttpToolServer } from './http-server.ts';

const { session } = new FakeSession();
const { signal } = new AbortController();
const WHOAMI = fileURLToPath(new URL('./stdio-server.js', import.meta.url));

const surroundings = toolSurroundings();
let shop: HttpToolServer;
let guard: UrlGuard;
const toClose: ToolServer[] = [];
const refused: string[] = [];
const taken: string[] = [];

beforeEach(async () => {
  shop = await startToolServer();
  guard = createUrlGuard({ allow: [`127.0.0.1:${shop.port}`] });
  refused.length = 0;
  taken.length = 0;
});

afterEach(async () => {
  for (const server of toClose.splice(0)) await server.close();
  await guard.close();
  await shop.close();
});

/** Credentials are chosen in this order; one that was refused is not chosen again. */
function serversWith(credentials: readonly ToolCredential[] | 'withheld' = []) {
  return createMcpToolServers({
    ...surroundings,
    guard,
    version: '0.0.0',
    stdioServers: new Map([
      ['local', { command: process.execPath, args: [WHOAMI, 'a'], env: { DECLARED: 'yes' } }],
      ['missing', { command: '/nonexistent' }],
    ]),
    credentials: {
      async select() {
        if (credentials === 'withheld') return undefined;
        return credentials.filter(({ id }) => !refused.includes(id)).slice(0, 1);
      },
      async report(_session, { id }, isRefused) {
        (isRefused ? refused : taken).push(id);
      },
    },
  });
}

function open(
  where: { url: string } | { server: string },
  credentials?: readonly ToolCredential[] | 'withheld',
): ToolServer {
  const type = 'url' in where ? 'url' : 'stdio';
  const server = serversWith(credentials).open(session, { type, name: 'shop', ...where });
  toClose.push(server);
  return server;
}

async function called(server: ToolServer, name: string): Promise<ToolOutcome> {
  const outcome = await server.call(name, {}, signal);
  if ('questions' in outcome) throw new Error('the server asks');
  return outcome;
}

const credential = (id: string, name = 'Authorization'): ToolCredential => ({
  id,
  name,
  value: `Bearer ${id}`,
});

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

describe('a server over HTTP', () => {
  it('tells its tools and what they promise', async () => {
    const tools = await open(shop).list(signal);
    expect(
      tools.map(({ name, isReadOnly, isIdempotent }) => [name, isReadOnly, isIdempotent]),
    ).toEqual([
      ['order', false, false],
      ['search', true, false],
      ['fail', false, true],
      ['wait', false, false],
    ]);
    expect(tools[0]).toMatchObject({
      description: 'Orders.',
      inputSchema: { type: 'object', properties: { what: { type: 'string' } } },
    });
  });

  it('gives results in the blocks of events', async () => {
    const server = open(shop);
    expect(await server.call('order', { what: 'tea' }, signal)).toEqual({
      content: [{ type: 'text', text: 'ordered tea' }],
      isError: false,
    });
    const { content } = await called(server, 'search');
    expect(content.slice(0, 2)).toEqual([
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
      { type: 'text', text: 'inside' },
    ]);
    expect(content[2]?.['text']).toContain('a://c');
  });

  it('an error of a tool and one of the protocol are results', async () => {
    const server = open(shop);
    expect(await server.call('fail', {}, signal)).toMatchObject({
      isError: true,
      content: [{ text: 'out of tea' }],
    });
    expect(await server.call('order', { what: 1 }, signal)).toMatchObject({ isError: true });
    expect(await server.call('nothing', {}, signal)).toMatchObject({ isError: true });
  });

  it('a call that is stopped ends at once', async () => {
    const stop = new AbortController();
    const call = open(shop).call('wait', {}, stop.signal);
    setTimeout(() => stop.abort(), 50);
    await expect(call).rejects.toThrow();
  });

  it('is not called where the guard says no', async () => {
    await expect(open({ url: 'http://127.0.0.1:9/mcp' }).list(signal)).rejects.toMatchObject({
      reason: 'connection',
    });
    expect(shop.authorizations).toEqual([]);
  });

  it('that is gone cannot be reached', async () => {
    const server = open(shop);
    await server.list(signal);
    shop.refuse = () => 500;
    await expect(server.call('order', { what: 'tea' }, signal)).rejects.toMatchObject({
      reason: 'connection',
    });
    shop.refuse = () => undefined;
    expect(await server.call('order', { what: 'tea' }, signal)).toMatchObject({ isError: false });
  });
});

describe('credentials', () => {
  it('are sent as the header that they name, else as a bearer token', async () => {
    await open(shop, [credential('one')]).list(signal);
    expect(new Set(shop.authorizations)).toEqual(new Set(['Bearer one']));
    shop.authorizations.length = 0;
    await open(shop, [{ id: 'sec_2', name: 'SHOP_TOKEN', value: 'two' }]).list(signal);
    expect(new Set(shop.authorizations)).toEqual(new Set(['Bearer two']));
  });

  it.each([401, 403, 429])(
    'one that the server answers with %i gives way to the next, and the call is made once',
    async (status) => {
      shop.refuse = (authorization) => (authorization === 'Bearer one' ? status : undefined);
      const server = open(shop, [credential('one'), credential('two')]);
      expect(await server.call('order', { what: 'tea' }, signal)).toMatchObject({ isError: false });
      expect(refused).toEqual(['one']);
      expect(taken).toEqual(['two']);
      expect(shop.orders).toEqual(['tea']);
    },
  );

  it('are all refused: the failure says so', async () => {
    shop.refuse = () => 401;
    const server = open(shop, [credential('one'), credential('two')]);
    await expect(server.list(signal)).rejects.toMatchObject({ reason: 'authentication' });
    expect(refused).toEqual(['one', 'two']);
  });

  it.each([401, 403])(
    'are withheld from a server that is not the own of the Agent, whose %i tells why',
    async (status) => {
      expect(await open(shop, 'withheld').list(signal)).toHaveLength(4);
      shop.refuse = () => status;
      await expect(open(shop, 'withheld').list(signal)).rejects.toMatchObject({
        reason: 'authentication',
        message: expect.stringContaining('the servers alone that the Agent itself declares'),
      });
      expect(new Set(shop.authorizations)).toEqual(new Set([undefined]));
    },
  );
});

describe('a server that is a process', () => {
  it('runs as the operator declared it, with its secrets, until it is closed', async () => {
    const server = open({ server: 'local' }, [
      // Too short to be masked in what the server says.
      { id: 'sec_1', name: 'SHOP_TOKEN', value: 'plain' },
    ]);
    const { content } = await called(server, 'whoami');
    const told = JSON.parse(String(content[0]?.['text'])) as { pid: number };
    expect(told).toMatchObject({ args: ['a'], declared: 'yes', token: 'plain' });
    await server.close();
    // It is gone only after its parent has heard of its end.
    await expect.poll(() => isThere(told.pid)).toBe(false);
  });

  it('gets no variable whose name makes a program run code, whoever kept it', async () => {
    const credentials = [{ id: 'sec_1', name: 'NODE_OPTIONS', value: '--require=/tmp/x.js' }];
    const { content } = await called(open({ server: 'local' }, credentials), 'whoami');
    expect(String(content[0]?.['text'])).not.toContain('require');
  });

  it('that dies during a call is lost, and started anew for the next', async () => {
    const server = open({ server: 'local' });
    await expect(server.call('die', {}, signal)).rejects.toMatchObject({ reason: 'connection' });
    expect(await server.call('whoami', {}, signal)).toMatchObject({ isError: false });
  });

  it.each(['missing', 'undeclared', '/bin/sh'])('%s cannot be reached', async (name) => {
    await expect(open({ server: name }).list(signal)).rejects.toMatchObject({
      reason: 'connection',
    });
  });
});

describe('a turn with a server over HTTP', () => {
  const rules = [
    {
      match: { turn: 1 },
      reply: { tool_calls: [{ name: 'shop__order', arguments: { what: 'tea' } }] },
    },
  ];
  const toolset = {
    type: 'mcp_toolset',
    mcp_server_name: 'shop',
    default_config: { permission_policy: { type: 'always_allow' } },
  } as const;

  const play = async (credentials: readonly ToolCredential[]): Promise<FakeSession> => {
    const bench = loopBench({ rules, servers: serversWith(credentials) });
    const fake = new FakeSession({
      tools: [toolset],
      mcp_servers: [{ type: 'url', name: 'shop', url: shop.url }],
    });
    fake.message('hello');
    await bench.loop.run(fake.open(), signal);
    return fake;
  };

  it(
    verifies('sessions.turn.mcp-tools', 'runs its tools with the credential that was selected'),
    async () => {
      const fake = await play([credential('one')]);
      expect(fake.of('agent.mcp_tool_use')).toMatchObject([
        { mcp_server_name: 'shop', name: 'order', input: { what: 'tea' } },
      ]);
      expect(fake.of('agent.mcp_tool_result')).toMatchObject([
        { is_error: false, content: [{ type: 'text', text: 'ordered tea' }] },
      ]);
      expect(new Set(shop.authorizations)).toEqual(new Set(['Bearer one']));
    },
  );

  it(
    verifies('sessions.turn.mcp-tools', 'tells of a server that refuses or cannot be reached'),
    async () => {
      for (const [status, type] of [
        [401, 'mcp_authentication_failed_error'],
        [500, 'mcp_connection_failed_error'],
      ] as const) {
        shop.refuse = () => status;
        const fake = await play([credential(String(status))]);
        expect(fake.of('session.error')).toMatchObject([
          { error: { type, mcp_server_name: 'shop' } },
        ]);
        expect(fake.session.status).toBe('idle');
      }
    },
  );
});
