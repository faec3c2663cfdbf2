import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { Webhook } from 'standardwebhooks';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/core/time/clock.ts';
import { verifies } from '../../requirements.ts';
import { eventually, startGateway } from '../../support/gateway.ts';
import type { Answer, TestGateway } from '../../support/gateway.ts';
import { AWAKE, startWebhookReceiver } from '../../webhooks/webhook-receiver.ts';
import type { ReceivedWebhook, WebhookReceiver } from '../../webhooks/webhook-receiver.ts';

const INPUT = { messages: [{ role: 'user', content: 'hello' }] };
const CANARY = 'canary-token-5d1';
const SLOW = 60_000;

describe('the webhook of a run', () => {
  let receiver: WebhookReceiver;
  let gateway: TestGateway;
  let secret: string;
  /** Ahead of the clock of the machine by so much. */
  let aheadMs = 0;
  let paths = 0;

  beforeAll(async () => {
    receiver = await startWebhookReceiver();
    gateway = await startGateway(
      {
        server: { outbound: { allow: [receiver.host] }, log: { level: 'debug' } },
        providers: [{ name: 'mock', type: 'mock' }],
        models: [
          { name: 'v/chat', routes: [{ provider: 'mock' }] },
          { name: 'v/gone', routes: [{ provider: 'mock', enabled: false }] },
        ],
      },
      {
        clock: {
          ...systemClock,
          now: () => Date.now() + aheadMs,
          monotonic: () => performance.now() + aheadMs,
        },
      },
    );
    secret = await rotate();
  });
  afterAll(async () => {
    await gateway.stop();
    await receiver.close();
  });
  afterEach(() => receiver.answer(200));

  const rotate = async (): Promise<string> => {
    const answer = await gateway.call('POST', '/v1/webhooks/secret/rotate');
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    return answer.body.secret;
  };
  const newPath = (): string => `/hook/${++paths}`;
  const run = (url: string, model = 'v/chat'): Promise<Answer> =>
    gateway.call('POST', '/v1/run', { body: { model, input: INPUT, webhook_url: url } });
  const runTo = async (path: string, model?: string): Promise<string> => {
    const made = await run(receiver.url + path, model);
    expect(made.status, JSON.stringify(made.body)).toBe(202);
    return made.body.id;
  };
  const deliveryOf = async (run: string) => {
    const { body } = await gateway.call('GET', '/v1/webhooks/deliveries?limit=100');
    return body.data.find(({ subject }: { subject: string }) => subject === run);
  };
  const deliveryThat = (run: string, fits: (delivery: any) => boolean): Promise<any> =>
    eventually(async () => {
      const delivery = await deliveryOf(run);
      return delivery && fits(delivery) && delivery;
    });
  /** Goes on behind the pause, however long it is. */
  const afterPause = async <T>(wait: () => Promise<T>): Promise<T> => {
    aheadMs += 2 * 3_600_000;
    // A job that became due by a step of the clock is noticed with the next one that is added.
    await gateway.call('POST', '/v1/run', {
      body: { model: 'v/chat', input: INPUT, webhook_url: receiver.url + AWAKE },
    });
    return wait();
  };
  const headersOf = ({ headers }: ReceivedWebhook): Record<string, string> => ({
    'webhook-id': headers['webhook-id'] ?? '',
    'webhook-timestamp': headers['webhook-timestamp'] ?? '',
    'webhook-signature': headers['webhook-signature'] ?? '',
  });

  it(
    verifies(
      'run.webhook.delivered',
      'run.webhook.signature',
      'is one signed message that the official verifiers accept',
    ),
    async () => {
      const path = newPath();
      const id = await runTo(path);
      const [message] = (await receiver.waitFor(path)) as [ReceivedWebhook];
      expect(message.headers['content-type']).toBe('application/json');
      expect(message.body).toEqual({
        type: 'run.succeeded',
        id: message.headers['webhook-id'],
        created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
        data: (await gateway.call('GET', `/v1/run/${id}`)).body,
      });
      expect(message.body.data).toMatchObject({
        id,
        status: 'succeeded',
        output: { object: 'chat.completion' },
      });

      const { text } = message;
      const headers = headersOf(message);
      expect(new Webhook(secret).verify(text, headers)).toEqual(message.body);
      const openai = new OpenAI({ apiKey: 'x', webhookSecret: secret });
      expect(await openai.webhooks.unwrap(text, headers)).toEqual(message.body);
      const anthropic = new Anthropic({ apiKey: 'x', webhookKey: secret });
      expect(anthropic.beta.webhooks.unwrap(text, { headers })).toEqual(message.body);
      expect(() => new Webhook(secret).verify(`${text} `, headers)).toThrow();
      const other = `whsec_${Buffer.alloc(32).toString('base64')}`;
      expect(() => new Webhook(other).verify(text, headers)).toThrow();

      expect(await deliveryThat(id, ({ status }) => status === 'delivered')).toEqual({
        id: message.headers['webhook-id'],
        type: 'webhook_delivery',
        event: 'run.succeeded',
        subject: id,
        url: receiver.url + path,
        status: 'delivered',
        attempts: [
          { at: expect.any(String), status: 200, outcome: 'delivered', ms: expect.any(Number) },
        ],
        created_at: expect.any(String),
      });
      expect(receiver.received.filter((one) => one.path === path)).toHaveLength(1);
    },
    SLOW,
  );

  it(
    verifies('run.webhook.signature', 'is signed by both secrets while they are rotated'),
    async () => {
      const former = secret;
      secret = await rotate();
      expect(secret).not.toBe(former);
      const path = newPath();
      await runTo(path);
      const [message] = (await receiver.waitFor(path)) as [ReceivedWebhook];
      expect(message.headers['webhook-signature']?.split(' ')).toHaveLength(2);
      for (const one of [former, secret])
        expect(new Webhook(one).verify(message.text, headersOf(message))).toEqual(message.body);

      aheadMs += 25 * 3_600_000;
      const later = newPath();
      await runTo(later);
      const [second] = (await receiver.waitFor(later)) as [ReceivedWebhook];
      expect(second.headers['webhook-signature']?.split(' ')).toHaveLength(1);
    },
    SLOW,
  );

  it(
    verifies('run.webhook.signature', 'says that a run failed'),
    async () => {
      const path = newPath();
      const id = await runTo(path, 'v/gone');
      const [message] = (await receiver.waitFor(path)) as [ReceivedWebhook];
      expect(message.body).toMatchObject({
        type: 'run.failed',
        data: { id, status: 'failed', output: null, error: { code: 'model_not_found' } },
      });
    },
    SLOW,
  );

  it(
    verifies(
      'run.webhook.retry',
      'comes again after failures with one id, up to five times, at growing distances',
    ),
    async () => {
      const path = newPath();
      receiver.answer(500, 'hang up', 429, 200);
      const id = await runTo(path);
      await deliveryThat(id, ({ attempts }) => attempts.length === 1);
      for (const count of [2, 3, 4]) {
        await afterPause(() => receiver.waitFor(path, count));
        await deliveryThat(id, ({ attempts }) => attempts.length === count);
      }
    },
    SLOW,
  );

  it(
    verifies('run.webhook.retry', 'is not sent where a redirect points to, which is a failure'),
    async () => {
      const path = newPath();
      receiver.answer({ redirect: `${receiver.url}/elsewhere` });
      const id = await runTo(path);
      const { status, attempts } = await deliveryThat(id, (one) => one.attempts.length > 0);
      expect({ status, attempts }).toMatchObject({
        status: 'pending',
        attempts: [{ status: 307, outcome: 'redirect' }],
      });
      expect(receiver.received.some((one) => one.path === '/elsewhere')).toBe(false);
    },
    SLOW,
  );

  it(
    verifies(
      'run.webhook.ssrf',
      'may not point into private networks, whatever it is written like',
    ),
    async () => {
      const refused = [
        'ftp://example.com/x',
        'file:///etc/passwd',
        'not a url',
        'http://127.0.0.1:9/x',
        'http://localhost/x',
        'http://169.254.169.254/latest/meta-data',
        'http://10.0.0.8/x',
        'http://192.168.1.1/x',
        'http://[::1]/x',
        'http://[::ffff:127.0.0.1]/x',
        'http://2130706433/x',
        'http://0x7f.1/x',
        'http://metadata.google.internal/x',
        'http://user:password@93.184.216.34/x',
        `http://93.184.216.34/${'x'.repeat(3_000)}`,
      ];
      for (const url of refused) {
        const answer = await run(url);
        expect(answer.status, url).toBe(400);
        expect(answer.body.error).toContain('webhook_url');
      }
    },
  );

  it(
    'keeps what is secret to itself',
    async () => {
      const path = `${newPath()}?token=${CANARY}`;
      const id = await runTo(path);
      await receiver.waitFor(path);
      const delivery = await deliveryThat(id, ({ status }) => status === 'delivered');
      expect(delivery.url).toBe(`${receiver.url}${path.split('?')[0]}?…`);
      expect(JSON.stringify((await gateway.call('GET', `/v1/run/${id}`)).body)).not.toContain(
        CANARY,
      );
      expect(gateway.log()).not.toContain(CANARY);
      expect(gateway.log()).not.toContain(secret);
    },
    SLOW,
  );

  it(
    'is delivered once more by hand, and shown to its own organization alone',
    async () => {
      const path = newPath();
      const id = await runTo(path);
      const first = await deliveryThat(id, ({ status }) => status === 'delivered');
      const at = `/v1/webhooks/deliveries/${first.id}`;
      const again = await gateway.call('POST', `${at}/redeliver`);
      expect(again.status, JSON.stringify(again.body)).toBe(202);
      expect(again.body).toMatchObject({ id: first.id, status: 'pending' });
      const messages = await receiver.waitFor(path, 2);
      expect(new Set(messages.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
      expect(messages[1]?.text).toBe(messages[0]?.text);
      await deliveryThat(id, ({ attempts }) => attempts.length === 2);

      const organization = await gateway.admin('POST', '/admin/v1/organizations', {
        name: 'others',
      });
      const made = await gateway.admin('POST', '/admin/v1/keys', {
        name: 'others',
        organization: organization.body.id,
      });
      const key = made.body.value;
      expect((await gateway.call('GET', at, { key })).status).toBe(404);
      expect((await gateway.call('POST', `${at}/redeliver`, { key })).status).toBe(404);
      const theirs = await gateway.call('GET', '/v1/webhooks/deliveries', { key });
      expect(theirs.body).toEqual({ data: [], next_page: null });
      const input = await gateway.call('POST', '/v1/webhooks/secret/rotate', {
        body: { secret: 'x' },
      });
      expect(input.status).toBe(400);
    },
    SLOW,
  );

  it(
    'lists its deliveries newest first, page by page',
    async () => {
      for (let count = 0; count < 3; count++) {
        const path = newPath();
        await runTo(path);
        await receiver.waitFor(path);
      }
      const whole = await gateway.call('GET', '/v1/webhooks/deliveries?limit=100');
      const ids: string[] = whole.body.data.map(({ id }: { id: string }) => id);
      const found: string[] = [];
      for (let page: string | null = ''; page !== null;) {
        const query = page === '' ? '' : `&page=${page}`;
        const { body } = await gateway.call('GET', `/v1/webhooks/deliveries?limit=2${query}`);
        found.push(...body.data.map(({ id }: { id: string }) => id));
        page = body.next_page;
      }
      expect(found).toEqual(ids);
      expect([...ids].sort().reverse()).toEqual(ids);
    },
    SLOW,
  );

  it(
    verifies('run.get.result', 'is kept for a week after the end of the run, and so is the run'),
    async () => {
      const path = newPath();
      const id = await runTo(path);
      const { id: delivery } = await deliveryThat(id, ({ status }) => status === 'delivered');
      const at = [`/v1/run/${id}`, `/v1/tasks/${id}`, `/v1/webhooks/deliveries/${delivery}`];
      const statuses = (): Promise<number[]> =>
        Promise.all(at.map(async (one) => (await gateway.call('GET', one)).status));
      aheadMs += 6 * 86_400_000;
      expect(await statuses()).toEqual([200, 200, 200]);
      aheadMs += 2 * 86_400_000;
      expect(await statuses()).toEqual([404, 404, 404]);
    },
    SLOW,
  );
});
