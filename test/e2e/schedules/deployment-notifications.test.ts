import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { verifies } from '../../requirements.ts';
import { startChatReceiver } from '../../scheduler/notify/chat-receiver.ts';
import type { ChatReceiver, ReceivedMessage } from '../../scheduler/notify/chat-receiver.ts';
import { startGateway } from '../../support/gateway.ts';
import type { Answer, TestGateway } from '../../support/gateway.ts';
import { createHastyClock } from '../../support/time/hasty-clock.ts';

const SECRET = 'canary-hook-91c2';
const OK: { status: number; body: string } = { status: 200, body: 'ok' };
const SLOW = 100_000;

let receiver: ChatReceiver;
let gateway: TestGateway;
let agent: string;
/** Ahead of the hasty clock by so much. */
let aheadMs = 0;
const clock = createHastyClock();

beforeAll(async () => {
  receiver = await startChatReceiver();
  gateway = await startGateway(
    {
      server: {
        notifications: { webhooks: { ours: { url: `${receiver.url}/bots`, format: 'slack' } } },
        log: { level: 'debug' },
      },
      providers: [{ name: 'mock', type: 'mock' }],
      models: [{ name: 'mock/echo', routes: [{ provider: 'mock' }] }],
    },
    { clock: { ...clock, now: () => clock.now() + aheadMs } },
  );
  agent = (await call('POST', '/v1/agents', { name: 'helper', model: 'mock/echo' })).body.id;
});
afterAll(async () => {
  await gateway.stop();
  await receiver.close();
});
beforeEach(() => receiver.answer(OK));

const call = (method: string, path: string, body?: unknown): Promise<Answer> =>
  gateway.call(method, path, { body });

const make = (rest: object = {}): Promise<Answer> =>
  call('POST', '/v1/deployments', {
    name: 'Morning report',
    agent_id: agent,
    initial_events: [{ type: 'user.message', content: [{ type: 'text', text: 'Report.' }] }],
    notification_settings: { chat_webhook_url: `${receiver.url}/bots/${SECRET}` },
    ...rest,
  });
const made = async (rest: object = {}): Promise<string> => (await make(rest)).body.id;

const linesOf = ({ body }: ReceivedMessage): string[] => body.text.split('\n');
/** What the chat is told of a run. */
const announcement = async (run: string): Promise<string[]> =>
  linesOf(await receiver.waitFor((message) => linesOf(message).includes(`Run: ${run}`)));

describe('the chat of a Schedule', () => {
  it(
    verifies(
      'deployments.notification.on-run',
      'is told of a run by hand, whether it has a Session or came to nothing',
    ),
    async () => {
      const id = await made();
      const run = (await call('POST', `/v1/deployments/${id}/runs`)).body;
      expect(await announcement(run.id)).toEqual([
        'Schedule Morning report: succeeded',
        `Schedule id: ${id}`,
        `Run: ${run.id}`,
        'Trigger: manual',
        `Session: ${run.session_id}`,
        expect.stringMatching(/^Time: \d{4}-\d\d-\d\dT/),
      ]);
      const doomed = (await call('POST', '/v1/agents', { name: 'doomed', model: 'mock/echo' }))
        .body;
      const failing = await made({ agent_id: doomed.id });
      await call('POST', `/v1/agents/${doomed.id}/archive`);
      const failed = (await call('POST', `/v1/deployments/${failing}/runs`)).body;
      expect(failed.error.type).toBe('agent_archived_error');
      expect(await announcement(failed.id)).toEqual([
        'Schedule Morning report: failed',
        `Schedule id: ${failing}`,
        `Run: ${failed.id}`,
        'Trigger: manual',
        `Error: agent_archived_error: ${failed.error.message}`,
        expect.stringMatching(/^Time: /),
      ]);
    },
  );

  it(
    verifies('deployments.notification.on-run', 'is told of a run that was due'),
    async () => {
      // A few seconds before the next minute.
      aheadMs = 60_000 - (clock.now() % 60_000) - 4_000;
      const schedule = { type: 'cron', expression: '* * * * *', timezone: 'UTC' };
      const id = await made({ schedule });
      const told = await receiver.waitFor((one) => linesOf(one).includes(`Schedule id: ${id}`));
      await call('POST', `/v1/deployments/${id}/archive`);
      const [run] = (await call('GET', `/v1/deployments/${id}/runs`)).body.data.reverse();
      expect(run.trigger_context.type).toBe('schedule');
      expect(linesOf(told)).toEqual([
        'Schedule Morning report: succeeded',
        `Schedule id: ${id}`,
        `Run: ${run.id}`,
        `Trigger: schedule, due ${run.trigger_context.scheduled_at}`,
        `Session: ${run.session_id}`,
        expect.stringMatching(/^Time: /),
      ]);
    },
    SLOW,
  );

  it(
    verifies(
      'deployments.notification.on-run',
      'is told again when it did not take the message, and the run is what it was',
    ),
    async () => {
      receiver.answer({ status: 503, body: 'busy' }, OK);
      const id = await made();
      const before = (await call('POST', `/v1/deployments/${id}/runs`)).body;
      const told = (one: ReceivedMessage) => linesOf(one).includes(`Run: ${before.id}`);
      await receiver.waitFor(() => receiver.received.filter(told).length === 2);
      expect((await call('GET', `/v1/deployment_runs/${before.id}`)).body).toEqual(before);
    },
    SLOW,
  );

  it(
    verifies(
      'deployments.notification.test',
      'deployments.notification.test-outcome',
      'gets the test message, and its own answer says whether it was delivered',
    ),
    async () => {
      const id = await made();
      const test = (body?: unknown) =>
        call('POST', `/v1/deployments/${id}/notifications/chat/test`, body);
      const before = receiver.received.length;
      expect(await test()).toMatchObject({ status: 200, body: { delivered: true } });
      expect(await test({})).toMatchObject({ status: 200, body: { delivered: true } });
      const [first, second] = receiver.received.slice(before);
      expect(second?.body).toEqual(first?.body);
      expect((await test({ text: 'mine' })).status).toBe(400);
      expect((await test([])).status).toBe(400);
      expect(receiver.received).toHaveLength(before + 2);
      for (const answer of [
        { status: 200, body: 'invalid_token' },
        { status: 404, body: 'ok' },
        'hang up',
      ] as const) {
        receiver.answer(answer);
        const refused = await test();
        expect(refused.status).toBe(502);
        expect(refused.headers.get('x-should-retry')).toBe('false');
        expect(JSON.stringify(refused.body)).not.toContain(SECRET);
      }
    },
  );

  it(
    verifies(
      'deployments.notification.one-key',
      'deployments.notification.test-outcome',
      'is left alone once its webhook is removed by either null',
    ),
    async () => {
      for (const nothing of [null, { chat_webhook_url: null }]) {
        const id = await made();
        const path = `/v1/deployments/${id}`;
        const { body } = await call('PATCH', path, { notification_settings: nothing });
        expect(body.chat_webhook_configured).toBe(false);
        expect((await call('POST', `${path}/notifications/chat/test`)).status).toBe(409);
        expect((await call('POST', `${path}/runs`)).body.session_id).toMatch(/^sess_/);
        const told = receiver.received.filter((one) => linesOf(one).includes(`Schedule id: ${id}`));
        expect(told).toEqual([]);
      }
    },
  );

  it(
    verifies(
      'deployments.notification.official-path',
      'may be at a path of a known provider or of the operator, and nowhere else',
    ),
    async () => {
      const from = (chat_webhook_url: string) =>
        make({ notification_settings: { chat_webhook_url } });
      const slack = await from('https://hooks.slack.com/services/T0/B0/abc');
      expect(slack).toMatchObject({ status: 201, body: { chat_webhook_configured: true } });
      for (const url of [
        `${receiver.url}/other/${SECRET}`,
        'http://hooks.slack.com/services/T0/B0/abc',
        'https://hooks.slack.com/api/T0/B0/abc',
        'https://example.org/services/T0/B0/abc',
        'https://169.254.169.254/services/T0/B0/abc',
        'not a url',
      ]) {
        const refused = await from(url);
        expect(refused.status, url).toBe(422);
        expect(JSON.stringify(refused.body)).not.toContain(SECRET);
      }
    },
  );

  it(
    verifies(
      'deployments.notification.write-only',
      'has its webhook in no answer, no log line and no plain byte of the store',
    ),
    async () => {
      const id = await made();
      const answers = [
        await make({ name: 'Another' }),
        await call('GET', `/v1/deployments/${id}`),
        await call('GET', '/v1/deployments'),
        await call('PATCH', `/v1/deployments/${id}`, { name: 'Renamed' }),
        await gateway.admin('GET', `/admin/v1/deployments/${id}`),
      ];
      for (const { status, body } of answers) {
        expect(status).toBeLessThan(300);
        expect(JSON.stringify(body)).not.toContain(SECRET);
      }
      expect(answers[1]?.body).toMatchObject({ chat_webhook_configured: true });
      expect(answers[1]?.body).not.toHaveProperty('notification_settings');
      const rows = await gateway.gateway?.store.list({ prefix: [], limit: 10_000 });
      expect(rows?.length).toBeGreaterThan(0);
      expect(JSON.stringify(rows)).not.toContain(SECRET);
      expect(gateway.log()).not.toContain(SECRET);
    },
  );
});
