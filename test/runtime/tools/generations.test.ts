import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createMcpToolServers } from '../../../src/runtime/tools/mcp-tool-servers.ts';
import { createUrlGuard } from '../../../src/upstream/guard/url-guard.ts';
import { verifies } from '../../requirements.ts';
import { FakeSession } from '../fake-log.ts';
import { loopBench } from '../loop-bench.ts';
import { startToolServer } from './http-server.ts';
import { startModernHttp } from './modern-http.ts';
import { toolSurroundings } from './surroundings.ts';

const surroundings = toolSurroundings();
const { session } = new FakeSession();
const { signal } = new AbortController();
const PROCESSES = {
  new: new URL('./modern-process.js', import.meta.url),
  old: new URL('./stdio-server.js', import.meta.url),
};

/** The servers of a gateway. */
function gatewayFor(port?: number, value = () => 'secret') {
  const guard = createUrlGuard({ allow: port === undefined ? [] : [`127.0.0.1:${port}`] });
  onTestFinished(() => guard.close());
  const processes = Object.entries(PROCESSES).map(
    ([name, url]) => [name, { command: process.execPath, args: [fileURLToPath(url)] }] as const,
  );
  return createMcpToolServers({
    ...surroundings,
    guard,
    version: '0.0.0',
    stdioServers: new Map(processes),
    credentials: {
      select: async () => [{ id: 'sec_1', name: 'token', value: value() }],
      report: async () => undefined,
    },
  });
}

type Where = { type: 'url'; url: string } | { type: 'stdio'; server: string };

async function once<T>(
  servers: ReturnType<typeof gatewayFor>,
  where: Where,
  work: (server: ReturnType<typeof servers.open>) => Promise<T>,
): Promise<T> {
  const server = servers.open(session, { name: 'shop', ...where });
  try {
    return await work(server);
  } finally {
    await server.close();
  }
}

describe('the client of an Agent and servers of both generations', () => {
  it(
    verifies('mcp.modern.client', 'speak MCP 2026-07-28 over HTTP, and know it the next time'),
    async () => {
      const shop = await startModernHttp();
      onTestFinished(() => shop.close());
      const servers = gatewayFor(shop.port);
      const where = { type: 'url', url: shop.url } as const;
      const input = { what: 'tea', region: 'Köln' };
      const told = await once(servers, where, async (server) => {
        const tools = await server.list(signal);
        return [tools.map(({ name }) => name), await server.call('order', input, signal)];
      });
      expect(told).toEqual([
        ['order', 'tailor'],
        { content: [{ type: 'text', text: 'ordered tea' }], isError: false },
      ]);
      await once(servers, where, (server) => server.list(signal));
      const heard = shop.heard.filter((method) => method !== 'subscriptions/listen');
      expect(heard).toEqual(['server/discover', 'tools/list', 'tools/call order', 'tools/list']);
      const call = shop.headers[shop.heard.indexOf('tools/call order')];
      expect(call?.get('mcp-protocol-version')).toBe('2026-07-28');
      expect(call?.get('mcp-param-region')).toBe('=?base64?S8O2bG4=?=');
      expect(shop.headers.every((headers) => !headers.has('mcp-session-id'))).toBe(true);
    },
  );

  it(
    verifies('mcp.modern.client', 'speak the older one over HTTP, and ask for the newer one once'),
    async () => {
      const shop = await startToolServer();
      onTestFinished(() => shop.close());
      const servers = gatewayFor(shop.port);
      const where = { type: 'url', url: shop.url } as const;
      const order = () =>
        once(servers, where, (server) => server.call('order', { what: 'tea' }, signal));
      expect(await order()).toMatchObject({ isError: false });
      const first = shop.authorizations.length;
      expect(await order()).toMatchObject({ isError: false });
      expect(shop.authorizations.length - first).toBe(first - 1);
    },
  );

  it.each(['new', 'old'] as const)(
    verifies('mcp.modern.client', 'speak what a process knows: %s'),
    async (server) => {
      const servers = gatewayFor();
      for (const time of [1, 2]) {
        const where = { type: 'stdio', server } as const;
        const told = await once(servers, where, async (one) => [
          (await one.list(signal)).some(({ name }) => name === 'whoami'),
          await one.call('whoami', {}, signal),
        ]);
        expect([time, told]).toMatchObject([time, [true, { isError: false }]]);
      }
    },
  );

  it('follow a task to its result, and give of a result what they can', async () => {
    const shop = await startModernHttp();
    onTestFinished(() => shop.close());
    const where = { type: 'url', url: shop.url } as const;
    const told = await once(gatewayFor(shop.port), where, async (server) => [
      await server.call('bake', {}, signal),
      await server.call('beam', {}, signal),
    ]);
    expect(told).toEqual([
      { content: [{ type: 'text', text: 'baked' }], isError: false },
      { content: [{ type: 'text', text: '{"type":"hologram","beam":1}' }], isError: false },
    ]);
    expect(shop.heard.slice(-3)).toEqual(['tools/call bake', 'tasks/get t1', 'tools/call beam']);
  });

  it('speak to a server that changed its generation meanwhile, in either direction', async () => {
    const shop = await startModernHttp();
    onTestFinished(() => shop.close());
    const servers = gatewayFor(shop.port);
    const where = { type: 'url', url: shop.url } as const;
    for (const isOld of [false, true, false]) {
      shop.isOld = isOld;
      const order = { what: String(isOld) };
      const told = await once(servers, where, (server) => server.call('order', order, signal));
      expect(told).toMatchObject({ isError: false });
    }
    expect(shop.orders).toEqual(['false', 'true', 'false']);
  });

  it('keep a list of tools for as long as its server allows, for one account', async () => {
    const shop = await startModernHttp({ ttlMs: 60_000 });
    onTestFinished(() => shop.close());
    let value = 'one';
    const servers = gatewayFor(shop.port, () => value);
    const where = { type: 'url', url: shop.url } as const;
    for (const [account, lists] of [
      ['one', 1],
      ['one', 1],
      ['two', 2],
    ] as const) {
      value = account;
      await once(servers, where, (server) => server.list(signal));
      expect(shop.heard.filter((method) => method === 'tools/list')).toHaveLength(lists);
    }
  });

  it('a call whose tool is not listed yet has the headers that it needs, and is made once', async () => {
    const shop = await startModernHttp();
    onTestFinished(() => shop.close());
    const input = { what: 'tea', region: 'eu' };
    const where = { type: 'url', url: shop.url } as const;
    const told = await once(gatewayFor(shop.port), where, (server) =>
      server.call('order', input, signal),
    );
    expect(told).toMatchObject({ isError: false });
    expect(shop.orders).toEqual(['tea']);
  });
});

describe('a server of tools that asks', () => {
  const rules = [
    { match: { turn: 1 }, reply: { tool_calls: [{ name: 'shop__tailor', arguments: {} }] } },
  ];

  type Answer = { content?: object[]; is_error?: boolean };

  /** A turn until it asks, and the rest of it in another process, with the answer or an interrupt. */
  async function play(answer: Answer | 'interrupt') {
    const shop = await startModernHttp();
    onTestFinished(() => shop.close());
    const fake = new FakeSession({
      tools: [
        {
          type: 'mcp_toolset',
          mcp_server_name: 'shop',
          default_config: { permission_policy: { type: 'always_allow' } },
        },
      ],
      mcp_servers: [{ type: 'url', name: 'shop', url: shop.url }],
    });
    const go = () =>
      loopBench({ rules, servers: gatewayFor(shop.port) }).loop.run(fake.open(), signal);
    fake.message('make me a coat');
    await go();
    const [question] = fake.of('agent.custom_tool_use');
    const [rest] = fake.of('session.status_idle');
    expect(rest?.['stop_reason']).toEqual({ type: 'requires_action', event_ids: [question?.id] });
    const answering = {
      type: 'user.custom_tool_result',
      custom_tool_use_id: question?.id,
    } as const;
    fake.send(answer === 'interrupt' ? { type: 'user.interrupt' } : { ...answering, ...answer });
    await go();
    expect(fake.of('session.status_idle').at(-1)?.['stop_reason']).toEqual({ type: 'end_turn' });
    return { fake, shop, question };
  }

  const text = (words: string) => ({ content: [{ type: 'text', text: words }] });

  it(
    verifies(
      'mcp.modern.input-required',
      'waits for the client, whose answer reaches the call once',
    ),
    async () => {
      const { fake, shop, question } = await play(text('{"size":"M","gift":true}'));
      expect(question).toMatchObject({
        name: 'mcp_elicitation',
        mcp_server_name: 'shop',
        mcp_tool_use_id: fake.of('agent.mcp_tool_use')[0]?.id,
        input: { message: 'Which size?', requested_schema: { required: ['size'] } },
      });
      const answer = { action: 'accept', content: { size: 'M', gift: true } };
      expect(shop.orders).toEqual([JSON.stringify([answer, 'sealed by the shop'])]);
      // It is no client's to read.
      expect(JSON.stringify(question)).not.toContain('sealed by the shop');
      expect(fake.of('agent.mcp_tool_result')).toMatchObject([
        { is_error: false, content: [{ text: 'made' }] },
      ]);
    },
  );

  it('hears of an answer that declines, and of one that is no form', async () => {
    for (const [answer, action] of [
      [{ is_error: true }, 'decline'],
      [text('medium'), 'cancel'],
    ] as const) {
      const { shop } = await play(answer);
      expect(shop.orders).toEqual([JSON.stringify([{ action }, 'sealed by the shop'])]);
    }
  });

  it('is not called again where the client interrupts instead', async () => {
    const { fake, shop } = await play('interrupt');
    expect(shop.orders).toEqual([]);
    expect(fake.of('agent.mcp_tool_result')).toMatchObject([
      { is_error: true, content: [{ text: expect.stringContaining('interrupted') }] },
    ]);
  });
});
