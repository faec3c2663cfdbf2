import { describe, expect, it, onTestFinished } from 'vitest';
import { verifies } from '../../requirements.ts';
import { inTurn } from '../../runs.ts';
import { storePlaces } from '../../store/support/store-places.ts';
import { eventually, startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { startSmtpServer } from '../../support/stage/smtp-server.ts';
import { sendJson, startUpstream } from '../../support/stage/upstream.ts';
import { directoryOfTest } from '../../support/process/directory-of-test.ts';

const PASSWORD = 'hush-hush-0123';
const TIMEOUT_MS = 150_000;
const ANSWER = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'up',
  choices: [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
};

/** A provider that fails as long as it is told to. */
async function startProvider() {
  const state = { fails: true };
  const upstream = await startUpstream((response, { body }) => {
    const isShaky = body.toString().includes('"shaky"');
    if (isShaky && state.fails) sendJson(response, 500, { error: { message: 'broken' } });
    else sendJson(response, 200, ANSWER);
  });
  onTestFinished(() => upstream.close());
  return { state, url: upstream.url };
}

interface Told {
  readonly id: string;
  readonly text: string;
}

/** Receivers of all three kinds, which take nothing until they are told to. */
async function startReceivers() {
  const state = { takes: false };
  const taken: Record<'webhook' | 'chat', Told[]> = { webhook: [], chat: [] };
  const refused: Record<'webhook' | 'chat', Told[]> = { webhook: [], chat: [] };
  const http = await startUpstream((response, { url, headers, body }) => {
    const said = JSON.parse(body.toString());
    const one = url.startsWith('/bots')
      ? { kind: 'chat' as const, id: '', text: String(said.text) }
      : { kind: 'webhook' as const, id: String(headers['webhook-id']), text: said.data.text };
    (state.takes ? taken : refused)[one.kind].push(one);
    sendJson(response, state.takes ? 200 : 503, {});
  });
  const smtp = await startSmtpServer({ auth: `gateway:${PASSWORD}` });
  smtp.refusal = '451 later';
  onTestFinished(() => Promise.all([http.close(), smtp.close()]).then(() => undefined));
  return {
    url: http.url,
    smtp,
    refused,
    taken,
    heal() {
      state.takes = true;
      smtp.refusal = undefined;
    },
    /** Texts that a target has taken, in an order of their own. */
    told: () => ({
      webhook: taken.webhook.map(({ text }) => nameOf(text)).sort(),
      chat: taken.chat.map(({ text }) => nameOf(text)).sort(),
      mail: smtp.taken.map(({ text }) => nameOf(subjectOf(text))).sort(),
    }),
  };
}

function subjectOf(mail: string): string {
  return /^Subject: (.*(?:\n .*)*)/m.exec(mail)?.[1]?.replaceAll('\n', '') ?? '';
}

/** What an alert is about, without what differs from run to run. */
function nameOf(text: string): string {
  const budget = /^Budget (\w+): (?:(\d+) %|.*(expected))/.exec(text);
  if (budget) return `${budget[1]} ${budget[2] ?? 'forecast'}`;
  if (/^Provider .*fails/.test(text)) return 'outage';
  if (/^Provider .*serves again/.test(text)) return 'recovery';
  return /^(Schedule|Unpriced)/.exec(text)?.[1]?.toLowerCase() ?? text;
}

/** A zone where it is about noon, so that a day has a forecast. */
function zoneAtNoon(now = new Date()): string {
  const ahead = 12 - now.getUTCHours();
  return ahead === 0 ? 'Etc/GMT' : `Etc/GMT${ahead > 0 ? '-' : '+'}${Math.abs(ahead)}`;
}

type Receivers = Awaited<ReturnType<typeof startReceivers>>;

function configOf(receivers: Receivers, provider: string, store: object): object {
  const own = (name: string, pricing: object) => ({
    name: `own/${name}`,
    routes: [{ provider: 'own', upstream_model: name, ...pricing }],
  });
  return {
    server: {
      store,
      outbound: { allow: ['127.0.0.1'] },
      notifications: {
        webhooks: { ours: { url: `${receivers.url}/bots`, format: 'slack', success: 'status' } },
      },
      alerts: {
        webhooks: [`${receivers.url}/hook`],
        chats: [`${receivers.url}/bots/one`],
        mails: {
          ops: {
            to: 'ops@example.com',
            from: 'gateway@example.com',
            smtp: {
              host: '127.0.0.1',
              port: receivers.smtp.port,
              tls: 'off',
              user: 'gateway',
              password: '${secret:env:MAIL_PASSWORD}',
            },
          },
        },
      },
    },
    providers: [
      {
        name: 'own',
        type: 'custom',
        base_url: `${provider}/v1`,
        api_key: '${secret:env:MAIL_PASSWORD}',
        protocols: { chat: { path: '/chat/completions' } },
      },
    ],
    models: [
      own('dear', { pricing: { per_call: '0.15' } }),
      own('shaky', { pricing: 'free' }),
      own('unpriced', {}),
    ],
    budgets: [
      { name: 'warned', amount: '0.20', per: 'lifetime', on_exceed: 'warn' },
      {
        name: 'daily',
        amount: '0.50',
        per: 'day',
        timezone: zoneAtNoon(),
        on_exceed: 'warn',
        match: { models: ['own/dear'] },
      },
    ],
  };
}

async function failSchedule(gateway: TestGateway, key: string): Promise<void> {
  const post = async (path: string, body: object) => {
    const answer = await gateway.call('POST', path, { key, body });
    expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
    return answer.body;
  };
  const agent = await post('/v1/agents', { name: 'gone', model: 'own/dear' });
  const deployment = await post('/v1/deployments', {
    name: 'daily',
    agent_id: agent.id,
    initial_events: [{ type: 'user.message', content: [{ type: 'text', text: 'Go.' }] }],
  });
  await post(`/v1/agents/${agent.id}/archive`, {});
  await post(`/v1/deployments/${deployment.id}/runs`, {});
}

const places = storePlaces();

/** Stores of one host and of several. */
const drivers = ['lmdb', 'postgres'].filter((one) => places.drivers.includes(one));

describe.each(inTurn('alerts once', drivers))('alerts on %s', (driver) => {
  it(
    verifies(
      'alerts.once',
      'of every kind reach each webhook, chat and mail once, with two processes and a kill before anything is delivered',
    ),
    async () => {
      const provider = await startProvider();
      const receivers = await startReceivers();
      const directory = await directoryOfTest();
      const config = configOf(receivers, provider.url, await places.fresh(driver));
      const start = async (): Promise<TestGateway> => {
        const options = { binary: true, directory, env: { MAIL_PASSWORD: PASSWORD } };
        const gateway = await startGateway(config, options);
        onTestFinished(async () => void (await gateway.stop()));
        return gateway;
      };
      const nodes = [await start(), await start()] as const;
      const key = nodes[0].clientKey;
      for (const gateway of nodes)
        for (const model of ['own/dear', 'own/unpriced'])
          expect((await gateway.chat(model, { key })).status, model).toBe(200);
      for (let calls = 0; calls < 12; calls++)
        expect((await nodes[calls % 2]!.chat('own/shaky', { key })).status).toBeGreaterThan(499);
      await failSchedule(nodes[0], key);
      const begun = [
        'daily 50',
        'daily forecast',
        'outage',
        'schedule',
        'unpriced',
        'warned 100',
        'warned 50',
        'warned 80',
      ];
      // Each target was tried with each alert, and has taken none.
      const { refused, smtp } = receivers;
      await eventually(() => {
        const webhooks = new Set(refused.webhook.map(({ id }) => id));
        const chats = new Set(refused.chat.map(({ text }) => nameOf(text)));
        const least = Math.min(webhooks.size, chats.size, new Set(smtp.refused).size);
        return least >= begun.length;
      }, 40_000);
      expect(receivers.told()).toEqual({ webhook: [], chat: [], mail: [] });
      for (const { child } of nodes) child?.kill('SIGKILL');

      receivers.heal();
      provider.state.fails = false;
      const later = [await start(), await start()] as const;
      const all = [...begun, 'recovery'].sort();
      await eventually(async () => {
        await later[0].chat('own/shaky', { key });
        await later[1].chat('own/unpriced', { key });
        const { webhook, chat, mail } = receivers.told();
        return Math.min(webhook.length, chat.length, mail.length) >= all.length;
      }, 90_000);
      expect(receivers.told()).toEqual({ webhook: all, chat: all, mail: all });
      expect(new Set(receivers.taken.webhook.map(({ id }) => id)).size).toBe(all.length);
      expect(new Set(smtp.taken.map(({ id }) => id)).size).toBe(all.length);
      expect(smtp.taken[0]).toMatchObject({ to: ['ops@example.com'] });
      for (const gateway of [...nodes, ...later]) expect(gateway.log()).not.toContain(PASSWORD);
    },
    TIMEOUT_MS,
  );
});
