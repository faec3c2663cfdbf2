import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createServer } from 'node:tls';
import { afterAll, expect, it, onTestFinished } from 'vitest';
import { verifies } from '../../requirements.ts';
import { inTurn } from '../../runs.ts';
import { adminEnv, runBinary } from '../../support/binary.ts';
import { createAuthority } from '../../support/certificates.ts';
import type { Issued } from '../../support/certificates.ts';
import { eventually, startGateway } from '../../support/gateway.ts';
import { startConnectProxy } from '../../support/stage/connect-proxy.ts';
import { startEverything } from '../../support/stage/everything.ts';
import { PNG } from '../../support/stage/media-studio.ts';
import { sendJson, startUpstream } from '../../support/stage/upstream.ts';
import { directoryOfTest } from '../../support/process/directory-of-test.ts';

/**
 * Of a network that exists in documentation alone: what arrives came through the proxy of this test, or
 * by the detour for what is to go straight.
 */
const PLACES = {
  provider: '192.0.2.10',
  api: '192.0.2.11',
  tools: '192.0.2.12',
  webhook: '192.0.2.13',
  chat: '192.0.2.14',
  alerts: '192.0.2.15',
  asset: '192.0.2.16',
  prices: '192.0.2.17',
  doctor: '192.0.2.18',
  mediaStore: '192.0.2.19',
  catalog: '192.0.2.20',
} as const;
const CREDENTIALS = 'scout:hush-hush';
const SLOW_MS = 120_000;

const LIST = JSON.stringify([
  {
    id: 'openai',
    name: 'OpenAI',
    models: [{ id: 'm', match: { equals: 'm' }, prices: { input_mtok: 1, output_mtok: 2 } }],
  },
]);

const answerTo = (text: string): object => ({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [
    {
      index: 0,
      message: { role: 'assistant', content: text },
      finish_reason: 'stop',
    },
  ],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
});

const WAYS = [
  { way: 'HTTP_PROXY', scheme: 'http', isDirect: false },
  { way: 'HTTPS_PROXY, itself reached over TLS', scheme: 'https', isDirect: false },
  { way: 'NO_PROXY, past the proxy', scheme: 'http', isDirect: true },
];

const authority = createAuthority('Of this network');
afterAll(() => authority.dispose());

/** Ends TLS in front of a server. */
async function startTlsFront(issued: Issued, port: number): Promise<number> {
  const server = createServer(issued, (socket) => {
    const inner = connect({ host: '127.0.0.1', port });
    socket.on('error', () => inner.destroy()).pipe(inner);
    inner.on('error', () => socket.destroy()).pipe(socket);
    onTestFinished(() => void socket.destroy());
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

/** Leads connections of a process to the places to where they are played. */
const detourOf = (toolsPort: number, otherPort: number): string => `import net from 'node:net';
const { connect } = net.Socket.prototype;
net.Socket.prototype.connect = function (...words) {
  const given = Array.isArray(words[0]) ? words[0] : words;
  const { host } = given[0] ?? {};
  const port = host === '${PLACES.tools}' ? ${toolsPort} : ${otherPort};
  if (String(host).startsWith('192.0.2.')) given[0] = { ...given[0], host: '127.0.0.1', port };
  return connect.apply(this, words);
};`;

it.each(inTurn('ways of everything outbound', WAYS))(
  verifies('net.proxy.env', 'everything outbound goes by $way, and nothing by another way'),
  { timeout: SLOW_MS },
  async ({ scheme, isDirect }) => {
    const kept = new Map<string, Buffer>();
    const target = await startUpstream((response, { method, url, headers, body }) => {
      if (headers.host === '192.0.2.19') {
        if (method === 'PUT') kept.set(url, body);
        const found = kept.get(url);
        response
          .writeHead(found || method !== 'GET' ? 200 : 404)
          .end(method === 'GET' ? found : '');
      } else if (url === '/v1/models') sendJson(response, 200, { data: [{ id: 'seen-far-away' }] });
      else if (url === '/photo.png') response.setHeader('content-type', 'image/png').end(PNG);
      else if (url === '/prices.json') response.end(LIST);
      else sendJson(response, 200, answerTo('hi'));
    });
    onTestFinished(() => target.close());
    const tools = await startEverything();
    const isSecure = scheme === 'https';
    const issued = authority.issue('127.0.0.1', ...Object.values(PLACES));
    const front = async (port: number) => (isSecure ? startTlsFront(issued, port) : port);
    const toolsPort = await front(tools.port);
    const otherPort = await front(Number(new URL(target.url).port));
    const proxy = await startConnectProxy({
      ...(isSecure && { issued }),
      credentials: CREDENTIALS,
      resolve: (place) =>
        place.startsWith(`${PLACES.tools}:`) ? `127.0.0.1:${toolsPort}` : `127.0.0.1:${otherPort}`,
    });
    onTestFinished(() => proxy.close());
    const hostsSeen = () => new Set(target.seen.map(({ headers }) => headers.host));
    const directory = await directoryOfTest();
    const [trusted, detour] = [join(directory, 'ca.pem'), join(directory, 'detour.mjs')];
    await writeFile(trusted, authority.ca);
    await writeFile(detour, detourOf(toolsPort, otherPort));
    const env = {
      [isSecure ? 'HTTPS_PROXY' : 'HTTP_PROXY']: proxy.authorizedUrl,
      NODE_EXTRA_CA_CERTS: trusted,
      ...(isDirect && { NO_PROXY: '192.0.2.0/24', NODE_OPTIONS: `--import=${detour}` }),
    };
    const openAi = { type: 'custom', auth: { type: 'none' } };
    const gateway = await startGateway(
      {
        server: {
          outbound: {
            allow: [PLACES.tools, PLACES.webhook, PLACES.asset, PLACES.alerts],
          },
          media: { driver: 'http', options: { base: `${scheme}://${PLACES.mediaStore}/kept` } },
          notifications: {
            webhooks: { ours: { url: `${scheme}://${PLACES.chat}/bots`, format: 'slack' } },
          },
          alerts: { webhooks: [`${scheme}://${PLACES.alerts}/alerts`] },
        },
        providers: [
          { name: 'far', base_url: `${scheme}://${PLACES.provider}/v1`, ...openAi },
          {
            name: 'catalog',
            base_url: `${scheme}://${PLACES.catalog}/v1`,
            ...openAi,
            models: 'all',
          },
          {
            name: 'mock',
            type: 'mock',
            mock: {
              rules: [
                {
                  match: { text: 'sum', turn: 1 },
                  reply: { tool_calls: [{ name: 'all__get-sum', arguments: { a: 2, b: 40 } }] },
                },
              ],
            },
          },
        ],
        models: [
          {
            name: 'far/one',
            routes: [{ provider: 'far', upstream_model: 'm', pricing: { per_call: '0.15' } }],
          },
          { name: 'mock/one', routes: [{ provider: 'mock' }] },
        ],
        budgets: [{ name: 'warned', amount: '0.20', per: 'lifetime', on_exceed: 'warn' }],
        apis: [{ name: 'things', base_url: `${scheme}://${PLACES.api}`, auth: { type: 'none' } }],
      },
      { binary: true, env, directory },
    );
    onTestFinished(async () => void (await gateway.stop()));
    const post = async (path: string, body: object): Promise<any> => {
      const made = await gateway.call('POST', path, { body });
      expect(made.status, `${path} ${JSON.stringify(made.body)} ${gateway.log()}`).toBeLessThan(
        300,
      );
      return made.body;
    };

    expect((await gateway.chat('far/one')).status).toBe(200);
    await post('/v1/api/things/made', {});

    const events = [{ type: 'user.message', content: [{ type: 'text', text: 'sum' }] }];
    const agent = await post('/v1/agents', {
      name: 'worker',
      model: 'mock/one',
      mcp_servers: [{ name: 'all', type: 'url', url: `${scheme}://${PLACES.tools}/mcp` }],
      tools: [
        {
          type: 'mcp_toolset',
          mcp_server_name: 'all',
          default_config: { permission_policy: { type: 'always_allow' } },
        },
      ],
    });
    const session = await post('/v1/sessions', { agent: agent.id, initial_events: events });
    const result = await eventually(async () => {
      const { body } = await gateway.call('GET', `/v1/sessions/${session.id}/events?limit=100`);
      return body.data.find(({ type }: { type: string }) => type === 'agent.mcp_tool_result');
    });
    expect(JSON.stringify(result)).toContain('42');

    await post('/v1/run', {
      model: 'far/one',
      input: { messages: [{ role: 'user', content: 'hi' }] },
      webhook_url: `${scheme}://${PLACES.webhook}/hook`,
    });
    const schedule = await post('/v1/deployments', {
      name: 'Daily',
      agent_id: agent.id,
      initial_events: events,
      notification_settings: { chat_webhook_url: `${scheme}://${PLACES.chat}/bots/one` },
    });
    await post(`/v1/deployments/${schedule.id}/runs`, {});
    await post('/v1/assets', { url: `${scheme}://${PLACES.asset}/photo.png`, asset_type: 'Image' });

    const cwd = gateway.directory;
    const line = (...words: string[]) =>
      runBinary(words, { cwd, env: { HOME: cwd, ...adminEnv(gateway), ...env } });
    const sum = createHash('sha256').update(LIST).digest('hex');
    const url = `${scheme}://${PLACES.prices}/prices.json`;
    const updated = await line('prices', 'update', url, '--sha256', sum);
    expect(updated.code, updated.stderr).toBe(0);
    if (!isDirect) {
      const anonymous = {
        ...adminEnv(gateway),
        ...env,
        HTTP_PROXY: proxy.url,
        HTTPS_PROXY: proxy.url,
      };
      const words = ['prices', 'update', url, '--sha256', sum];
      const refused = await runBinary(words, { cwd, env: { HOME: cwd, ...anonymous } });
      expect(refused.stderr).toContain(`PROXY_REFUSED, proxy ${proxy.url} answered 407`);
    }
    const elsewhere = join(cwd, 'elsewhere.yaml');
    const provider = { name: 'far', base_url: `${scheme}://${PLACES.doctor}/v1`, ...openAi };
    await writeFile(elsewhere, JSON.stringify({ version: 1, providers: [provider] }));
    const doctor = await line('doctor', '-c', elsewhere);
    expect(doctor.stdout).toContain(
      `${scheme}://192.0.2.18 answers${isDirect ? '' : ` through the proxy ${proxy.url}`}`,
    );

    const names = Object.entries(PLACES).filter(([name]) => name !== 'tools');
    const missing = () => names.filter(([, at]) => !hostsSeen().has(at)).map(([name]) => name);
    await eventually(() => missing().length === 0, 20_000).catch(() => undefined);
    expect(missing(), gateway.log()).toEqual([]);
    const port = isSecure ? 443 : 80;
    const all = Object.values(PLACES).map((place) => `${place}:${port}`);
    expect(new Set(proxy.asked)).toEqual(new Set(isDirect ? [] : all));
    expect(proxy.others).toEqual([]);
    expect(kept.size).toBe(1);
    expect(target.seen.find(({ url: at }) => at === '/hook')?.headers).toHaveProperty(
      'webhook-signature',
    );
  },
);
