import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { verifies } from '../../requirements.ts';
import { adminEnv, runBinary } from '../../support/binary.ts';
import { eventually, startGateway } from '../../support/gateway.ts';
import { startConnectProxy } from '../../support/stage/connect-proxy.ts';
import { startEverything } from '../../support/stage/everything.ts';
import { PNG } from '../../support/stage/media-studio.ts';
import { sendJson, startUpstream } from '../../support/stage/upstream.ts';

/**
 * Of a network that exists in documentation alone: only the proxy of this test leads there, so that what
 * arrives cannot have gone straight.
 */
const PLACES = {
  provider: '192.0.2.10:80',
  api: '192.0.2.11:80',
  tools: '192.0.2.12:80',
  webhook: '192.0.2.13:80',
  chat: '192.0.2.14:80',
  alerts: '192.0.2.15:80',
  asset: '192.0.2.16:80',
  prices: '192.0.2.17:80',
  doctor: '192.0.2.18:80',
  mediaStore: '192.0.2.19:80',
  catalog: '192.0.2.20:80',
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

it(
  verifies(
    'net.proxy.env',
    'everything outbound arrives through a proxy with authentication, and nothing past it',
  ),
  { timeout: SLOW_MS },
  async () => {
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
    const proxy = await startConnectProxy({
      credentials: CREDENTIALS,
      resolve: (place) =>
        place === PLACES.tools ? `127.0.0.1:${tools.port}` : new URL(target.url).host,
    });
    onTestFinished(() => proxy.close());
    const hostsSeen = () => new Set(target.seen.map(({ headers }) => headers.host));
    const env = { HTTP_PROXY: proxy.authorizedUrl };
    const openAi = { type: 'custom', auth: { type: 'none' } };
    const gateway = await startGateway(
      {
        server: {
          outbound: {
            allow: [PLACES.tools, PLACES.webhook, PLACES.asset, PLACES.alerts],
          },
          media: { driver: 'http', options: { base: `http://${PLACES.mediaStore}/kept` } },
          notifications: {
            webhooks: { ours: { url: `http://${PLACES.chat}/bots`, format: 'slack' } },
          },
          alerts: { webhooks: [`http://${PLACES.alerts}/alerts`] },
        },
        providers: [
          { name: 'far', base_url: `http://${PLACES.provider}/v1`, ...openAi },
          { name: 'catalog', base_url: `http://${PLACES.catalog}/v1`, ...openAi, models: 'all' },
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
        apis: [{ name: 'things', base_url: `http://${PLACES.api}`, auth: { type: 'none' } }],
      },
      { binary: true, env },
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
      mcp_servers: [{ name: 'all', type: 'url', url: `http://${PLACES.tools}/mcp` }],
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
      webhook_url: `http://${PLACES.webhook}/hook`,
    });
    const schedule = await post('/v1/deployments', {
      name: 'Daily',
      agent_id: agent.id,
      initial_events: events,
      notification_settings: { chat_webhook_url: `http://${PLACES.chat}/bots/one` },
    });
    await post(`/v1/deployments/${schedule.id}/runs`, {});
    await post('/v1/assets', { url: `http://${PLACES.asset}/photo.png`, asset_type: 'Image' });

    const cwd = gateway.directory;
    const line = (...words: string[]) =>
      runBinary(words, { cwd, env: { HOME: cwd, ...adminEnv(gateway), ...env } });
    const sum = createHash('sha256').update(LIST).digest('hex');
    const url = `http://${PLACES.prices}/prices.json`;
    const updated = await line('prices', 'update', url, '--sha256', sum);
    expect(updated.code, updated.stderr).toBe(0);
    const elsewhere = join(cwd, 'elsewhere.yaml');
    const provider = { name: 'far', base_url: `http://${PLACES.doctor}/v1`, ...openAi };
    await writeFile(elsewhere, JSON.stringify({ version: 1, providers: [provider] }));
    const doctor = await line('doctor', '-c', elsewhere);
    expect(doctor.stdout).toContain(`http://192.0.2.18 answers through the proxy ${proxy.url}`);

    const names = Object.entries(PLACES).filter(([name]) => name !== 'tools');
    const missing = () =>
      names.filter(([, at]) => !hostsSeen().has(at.replace(':80', ''))).map(([name]) => name);
    await eventually(() => missing().length === 0, 20_000).catch(() => undefined);
    expect(missing(), gateway.log()).toEqual([]);
    expect(new Set(proxy.asked)).toEqual(new Set(Object.values(PLACES)));
    expect(proxy.others).toEqual([]);
    expect(kept.size).toBe(1);
    expect(target.seen.find(({ url: at }) => at === '/hook')?.headers).toHaveProperty(
      'webhook-signature',
    );
  },
);
