import type * as DnsPromises from 'node:dns/promises';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { RequestListener, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { verifies } from '../../requirements.ts';
import { inTurn } from '../../runs.ts';
import { eventually, startGateway } from '../../support/gateway.ts';
import type { Answer, TestGateway } from '../../support/gateway.ts';

/** What names of the test resolve to; a second address comes with the second look. */
const NAMES = vi.hoisted((): Record<string, string[][]> => ({
  'loopback.example': [['127.0.0.1']],
  'private.example': [['10.1.2.3']],
  'metadata.example': [['169.254.169.254']],
  'mapped.example': [['::ffff:127.0.0.1']],
  'mixed.example': [['93.184.216.34', '127.0.0.1']],
  'rebound.example': [['93.184.216.34'], ['127.0.0.1']],
}));
const looks = vi.hoisted(() => new Map<string, number>());

vi.mock('node:dns/promises', async (original) => {
  const dns = await original<typeof DnsPromises>();
  const lookup = async (host: string, options: object): Promise<unknown> => {
    const answers = NAMES[host];
    if (!answers) return dns.lookup(host, options);
    const look = looks.get(host) ?? 0;
    looks.set(host, look + 1);
    const found = answers[Math.min(look, answers.length - 1)] ?? [];
    return found.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
  };
  return { ...dns, default: { ...dns, lookup }, lookup };
});

/** A server of this machine and the requests that it got. */
interface Local {
  readonly port: number;
  readonly hits: string[];
  close(): void;
}

async function startLocal(play: RequestListener): Promise<Local> {
  const hits: string[] = [];
  const server: Server = createServer((request, response) => {
    hits.push(`${request.method} ${request.headers.host}${request.url}`);
    request.resume();
    play(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    hits,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

const partsOf = (url: string): object => ({
  model: 'acme/one',
  mcp_servers: [{ name: 'tools', type: 'url', url }],
  tools: [{ type: 'mcp_toolset', mcp_server_name: 'tools' }],
});
const agentOf = (url: string): object => ({ name: 'reader', ...partsOf(url) });
const EVENTS = [{ type: 'user.message', content: [{ type: 'text', text: 'go' }] }];

describe('a URL that a caller names', () => {
  /** What must never be called, what may be, and what leads from there to what must not. */
  let trap: Local;
  let allowed: Local;
  let redirecting: Local;
  let gateway: TestGateway;
  beforeAll(async () => {
    trap = await startLocal((_request, response) => response.end('{}'));
    allowed = await startLocal((_request, response) => response.writeHead(404).end('{}'));
    redirecting = await startLocal((_request, response) =>
      response.writeHead(307, { location: `http://127.0.0.1:${trap.port}/behind` }).end(),
    );
    gateway = await startGateway({
      server: {
        outbound: { allow: [allowed, redirecting].map(({ port }) => `127.0.0.1:${port}`) },
      },
      providers: [{ name: 'mock', type: 'mock' }],
      models: [{ name: 'acme/one', routes: [{ provider: 'mock' }] }],
    });
  });
  afterAll(async () => {
    await gateway.stop();
    for (const local of [trap, allowed, redirecting]) local.close();
  });
  beforeEach(() => looks.clear());

  const send = (method: string, path: string, body?: object): Promise<Answer> =>
    gateway.call(method, path, body ? { body } : {});

  async function make(path: string, body: object): Promise<any> {
    const made = await send('POST', path, body);
    expect(made.status, JSON.stringify(made.body)).toBe(201);
    return made.body;
  }

  /** The turn is over, whatever came of the tools. */
  async function settled(session: string): Promise<void> {
    const path = `/v1/sessions/${session}`;
    await eventually(async () => {
      const { body } = await send('GET', `${path}/events?limit=100`);
      return body.data.some(({ type }: { type: string }) => type === 'session.status_idle');
    });
  }

  async function turnOf(agent: string): Promise<void> {
    await settled((await make('/v1/sessions', { agent, initial_events: EVENTS })).id);
  }

  const plain = () => make('/v1/agents', { name: 'plain', model: 'acme/one' });
  const schedule = async (extra: object): Promise<object> => ({
    name: 'Daily',
    agent_id: (await plain()).id,
    initial_events: EVENTS,
    ...extra,
  });
  const webhook = (url: string) => ({ notification_settings: { chat_webhook_url: url } });

  /** Refused when it is named, with 400 or 422; `undefined`: refused when it would be called. */
  type Door = (url: string) => Promise<Answer | undefined>;
  const changing =
    (method: string): Door =>
    async (url) => {
      const { id } = await make('/v1/deployments', await schedule({}));
      return send(method, `/v1/deployments/${id}`, webhook(url));
    };
  const changingAgent =
    (method: string): Door =>
    async (url) => {
      const { id, version } = await plain();
      const changed = await send(method, `/v1/agents/${id}`, { ...partsOf(url), version });
      if (changed.status >= 400) return changed;
      await turnOf(id);
      return undefined;
    };
  /** Makes it, then runs it, which starts a Session. */
  const running =
    (path: string, run: string, rest: object): Door =>
    async (url) => {
      const runtime = { type: 'agent', ...partsOf(url) };
      const made = await send('POST', path, { name: 'Declared', runtime, ...rest });
      if (made.status >= 400) return made;
      const body = path === '/v1/endpoints' ? { input: 'go' } : {};
      const started = await send('POST', `${path}/${made.body.id}/${run}`, body);
      expect(started.status, JSON.stringify(started.body)).toBeLessThan(300);
      await settled(started.body.session_id);
      return undefined;
    };
  const SCHEDULED = { initial_events: EVENTS };

  const DOORS: Record<string, Door> = {
    'the url of an asset': (url) => send('POST', '/v1/assets', { url, asset_type: 'Image' }),
    'the webhook_url of a run': (webhook_url) =>
      send('POST', '/v1/run', { model: 'acme/one', input: { messages: [] }, webhook_url }),
    'the chat webhook of a new Schedule': async (url) =>
      send('POST', '/v1/deployments', await schedule(webhook(url))),
    'the chat webhook of a Schedule by PATCH': changing('PATCH'),
    'the chat webhook of a Schedule by POST': changing('POST'),
    'a tool server of a new Agent': async (url) => {
      const made = await send('POST', '/v1/agents', agentOf(url));
      if (made.status >= 400) return made;
      await turnOf(made.body.id);
      return undefined;
    },
    'a tool server of an Agent by PATCH': changingAgent('PATCH'),
    'a tool server of an Agent by POST': changingAgent('POST'),
    'a tool server of a declarative Schedule at /runs': running(
      '/v1/deployments',
      'runs',
      SCHEDULED,
    ),
    'a tool server of a declarative Schedule at /run': running('/v1/deployments', 'run', SCHEDULED),
    'a tool server of a declarative Service': running('/v1/endpoints', 'run', {
      protocols: ['rest'],
    }),
  };

  /** Spellings of addresses that are nobody's business; the port is the trap's where that can be. */
  const ADDRESSES: Record<string, (port: number) => string[]> = {
    'a scheme': () => ['ftp://93.184.216.34/a', 'file:///etc/passwd', 'data:text/plain,x'],
    loopback: (port) => [
      ...['127.0.0.1', 'localhost', '[::1]', '0.0.0.0', '127.1'].map((h) => `http://${h}:${port}/`),
      `http://user:canary@127.0.0.1:${port}/`,
    ],
    'a private network': () => [
      'http://10.0.0.1/',
      'http://172.16.0.1/',
      'http://192.168.0.1/',
      'http://[fd00::1]/',
    ],
    'a link': () => ['http://169.254.1.1/', 'http://[fe80::1]/'],
    metadata: () => [
      'http://169.254.169.254/latest/meta-data',
      'http://metadata.google.internal/',
      'http://168.63.129.16/',
    ],
    'mapped IPv6': (port) => [
      `http://[::ffff:127.0.0.1]:${port}/`,
      `http://[::ffff:7f00:1]:${port}/`,
      `http://[64:ff9b::7f00:1]:${port}/`,
      'http://[::ffff:169.254.169.254]/',
    ],
    'other numbers': (port) => [
      `http://2130706433:${port}/`,
      `http://0177.0.0.1:${port}/`,
      `http://0x7f.0.0.1:${port}/`,
      `http://0x7f000001:${port}/`,
    ],
    'a name': (port) =>
      Object.keys(NAMES)
        .filter((name) => name !== 'rebound.example')
        .map((name) => `http://${name}:${port}/`),
  };

  /** Every door meets a kind, another one in each commit, and the first door every kind. */
  const turn = new Set(inTurn('kinds of addresses', Object.keys(ADDRESSES)));
  const rows = Object.entries(DOORS).flatMap(([door, open], index) =>
    Object.entries(ADDRESSES)
      .filter(([kind]) => index === 0 || turn.has(kind))
      .map(([kind, urls]) => ({ door, kind, open, urls })),
  );

  it.each(rows)(
    verifies('ops.ssrf.guard', 'is refused as $door when it is $kind'),
    async ({ open, urls }) => {
      const refuse = async (url: string): Promise<void> => {
        const answer = await open(url);
        if (!answer) return;
        expect([400, 422], `${url} ${JSON.stringify(answer.body)}`).toContain(answer.status);
        expect(JSON.stringify(answer.body)).not.toContain('canary');
      };
      await Promise.all(urls(trap.port).map(refuse));
      expect(trap.hits).toEqual([]);
    },
  );

  it.each(Object.entries(DOORS))(
    verifies('ops.ssrf.guard', 'leads nowhere as %s: neither by a redirect nor by a second look'),
    async (_door, open) => {
      await open(`http://127.0.0.1:${redirecting.port}/`);
      await open(`http://rebound.example:${trap.port}/`);
      expect(trap.hits).toEqual([]);
    },
  );

  it('is called where only the configuration of the server allows it', async () => {
    const url = `http://127.0.0.1:${allowed.port}/mine`;
    for (const door of [
      'the url of an asset',
      'a tool server of a new Agent',
      'the webhook_url of a run',
    ]) {
      const before = allowed.hits.length;
      await DOORS[door]?.(url);
      await eventually(() => allowed.hits.length > before);
    }
    expect(trap.hits).toEqual([]);
    await eventually(() => redirecting.hits.length >= 2);
  });

  it(
    verifies('ops.ssrf.guard', 'is never fetched where it is a picture of a request'),
    async () => {
      const url = `http://127.0.0.1:${trap.port}/picture.png`;
      const chat = {
        model: 'acme/one',
        messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }],
      };
      await send('POST', '/v1/chat/completions', chat);
      await send('POST', '/v1/messages', {
        model: 'acme/one',
        max_tokens: 9,
        messages: [{ role: 'user', content: [{ type: 'image', source: { type: 'url', url } }] }],
      });
      for (const version of ['v1', 'v1beta'])
        await send('POST', `/${version}/models/one:generateContent`, {
          contents: [{ parts: [{ fileData: { fileUri: url, mimeType: 'image/png' } }] }],
        });
      expect(trap.hits).toEqual([]);
    },
  );
});
