import { once } from 'node:events';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startMockServer } from '../../../src/providers/mock/mock-server.ts';
import { verifies } from '../../requirements.ts';
import { customProvider } from '../../support/chat.ts';
import { eventually, startGateway } from '../../support/gateway.ts';
import type { Answer, TestGateway } from '../../support/gateway.ts';
import { sendJson, startUpstream } from '../../support/stage/upstream.ts';
import type { Upstream } from '../../support/stage/upstream.ts';
import { startWebhookReceiver } from '../../webhooks/webhook-receiver.ts';
import type { ReceivedWebhook, WebhookReceiver } from '../../webhooks/webhook-receiver.ts';
import { directoryOfTest } from '../../support/process/directory-of-test.ts';

const INPUT = { messages: [{ role: 'user', content: 'hello' }] };
const SLOW = 120_000;
const ANSWER = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'up',
  choices: [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
};

/** Answers models whose name is not `hang`, and `late` when it is told to. */
async function startProvider(): Promise<Upstream & { answerLate(): void }> {
  let answerLate = (): void => undefined;
  const upstream = await startUpstream((response, { body }) => {
    const { model } = JSON.parse(body.toString()) as { model: string };
    if (model === 'late') answerLate = () => sendJson(response, 200, ANSWER);
    else if (model !== 'hang') sendJson(response, 200, ANSWER);
  });
  onTestFinished(() => upstream.close());
  return { ...upstream, answerLate: () => answerLate() };
}

async function startReceiver(): Promise<WebhookReceiver> {
  const receiver = await startWebhookReceiver();
  onTestFinished(() => receiver.close());
  return receiver;
}

async function start(config: object, directory: string): Promise<TestGateway> {
  const gateway = await startGateway(config, { binary: true, directory });
  onTestFinished(async () => void (await gateway.stop()));
  return gateway;
}

async function kill({ child }: TestGateway): Promise<void> {
  child?.kill('SIGKILL');
  if (child) await once(child, 'exit');
}

const modelOf = (name: string, extra: object = {}): object => ({
  name: `v/${name}`,
  pricing: { per_call: '0.5' },
  routes: [{ provider: 'up', upstream_model: name }],
  ...extra,
});

const configOf = (upstream: string, receiver?: WebhookReceiver): object => ({
  server: { outbound: { allow: receiver ? [receiver.host] : [] } },
  providers: [customProvider('up', upstream)],
  models: [modelOf('chat'), modelOf('hang'), modelOf('late')],
});

const run = (gateway: TestGateway, body: object, key = gateway.clientKey): Promise<Answer> =>
  gateway.call('POST', '/v1/run', { key, body: { input: INPUT, async: true, ...body } });

const endOf = (gateway: TestGateway, id: string, key: string): Promise<Answer['body']> =>
  eventually(async () => {
    const { body } = await gateway.call('GET', `/v1/run/${id}`, { key });
    return ['succeeded', 'failed'].includes(body.status) && body;
  });

const asked = ({ seen }: Upstream, model: string): number =>
  seen.filter(({ body }) => body.toString().includes(`"model":"${model}"`)).length;

describe('a run whose process is killed', () => {
  it(
    verifies(
      'run.durable',
      'run.webhook.delivered',
      'has failed when its call was under way, and is not sent again',
    ),
    async () => {
      const [provider, receiver, home] = [
        await startProvider(),
        await startReceiver(),
        await directoryOfTest(),
      ];
      const config = configOf(provider.url, receiver);
      const first = await start(config, home);
      const { clientKey } = first;
      const made = await run(first, { model: 'v/hang', webhook_url: `${receiver.url}/hook` });
      const { id } = made.body;
      await eventually(() => asked(provider, 'hang') === 1);
      const running = await first.call('GET', `/v1/run/${id}`);
      expect(running.body).toMatchObject({ status: 'running', output: null, completed_at: null });
      await kill(first);

      const second = await start(config, home);
      const last = await endOf(second, id, clientKey);
      expect(last).toMatchObject({ status: 'failed', error: { code: 'interrupted' } });
      const [message] = (await receiver.waitFor('/hook')) as [ReceivedWebhook];
      expect(message.body).toMatchObject({ type: 'run.failed', data: { id } });
      const task = await second.call('GET', `/v1/tasks/${id}`, { key: clientKey });
      expect(task.body).toMatchObject({ settlement: 'released', cost: '0.00' });
      expect(asked(provider, 'hang')).toBe(1);
      expect((await second.call('GET', `/v1/run/${id}`, { key: clientKey })).body).toEqual(last);
      expect(receiver.received).toHaveLength(1);
    },
    SLOW,
  );

  it(
    verifies('run.durable', 'is done by the next one when its call had not begun'),
    async () => {
      const [provider, home] = [await startProvider(), await directoryOfTest()];
      const config = configOf(provider.url);
      const first = await start(config, home);
      const made = await first.admin('POST', '/admin/v1/keys', {
        name: 'one at a time',
        concurrency_cap: 1,
      });
      const key = made.body.value;
      const holding = await run(first, { model: 'v/hang' }, key);
      await eventually(() => asked(provider, 'hang') === 1);
      const waiting = await run(first, { model: 'v/chat' }, key);
      expect(waiting.body.status).toBe('queued');
      await kill(first);

      const second = await start(config, home);
      expect(await endOf(second, waiting.body.id, key)).toMatchObject({ status: 'succeeded' });
      expect(await endOf(second, holding.body.id, key)).toMatchObject({ status: 'failed' });
      expect([asked(provider, 'chat'), asked(provider, 'hang')]).toEqual([1, 1]);
    },
    SLOW,
  );

  it(
    verifies(
      'run.webhook.retry',
      'run.webhook.delivered',
      'is told of by the next one when it was over and not told of yet',
    ),
    async () => {
      const [provider, receiver, home] = [
        await startProvider(),
        await startReceiver(),
        await directoryOfTest(),
      ];
      receiver.answer(500, 200);
      const config = configOf(provider.url, receiver);
      const first = await start(config, home);
      const { clientKey } = first;
      const made = await run(first, { model: 'v/chat', webhook_url: `${receiver.url}/hook` });
      const { id } = made.body;
      await receiver.waitFor('/hook');
      const ended = await endOf(first, id, clientKey);
      await kill(first);

      const second = await start(config, home);
      const messages = await receiver.waitFor('/hook', 2);
      expect(new Set(messages.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
      expect(messages[1]?.text).toBe(messages[0]?.text);
      expect(messages[1]?.body.data).toEqual(ended);
      await eventually(async () => {
        const { body } = await second.call('GET', '/v1/webhooks/deliveries', { key: clientKey });
        return body.data[0].status === 'delivered';
      });
      expect(asked(provider, 'chat')).toBe(1);
    },
    SLOW,
  );

  it(
    verifies('run.durable', 'goes on watching the task that its call left at the provider'),
    async () => {
      const mock = await startMockServer({ cassette: { rules: [{ reply: { polls: 2 } }] } });
      onTestFinished(() => mock.close());
      const home = await directoryOfTest();
      const config = {
        providers: [customProvider('up', mock.url, { protocols: { videos: true } })],
        models: [modelOf('film', { type: 'video' })],
      };
      const first = await start(config, home);
      const { clientKey } = first;
      const { body } = await run(first, { model: 'v/film', input: { prompt: 'a fox' } });
      const videos = await eventually(async () => {
        const list = await first.call('GET', '/v1/videos');
        return list.body.data.length > 0 && list.body.data;
      });
      await kill(first);

      const second = await start(config, home);
      const last = await endOf(second, body.id, clientKey);
      expect(last).toMatchObject({ status: 'succeeded', output: { id: videos[0].id } });
      const list = await second.call('GET', '/v1/videos', { key: clientKey });
      expect(list.body.data).toHaveLength(1);
      const task = await second.call('GET', `/v1/tasks/${body.id}`, { key: clientKey });
      expect(task.body).toMatchObject({ settlement: 'settled', cost: '0.50' });
    },
    SLOW,
  );

  it(
    verifies('run.durable', 'ends with the gateway when that is stopped, if it can'),
    async () => {
      const [provider, home] = [await startProvider(), await directoryOfTest()];
      const config = configOf(provider.url);
      const first = await start(config, home);
      const { clientKey } = first;
      const late = await run(first, { model: 'v/late' });
      const hanging = await run(first, { model: 'v/hang' });
      await eventually(() => asked(provider, 'late') + asked(provider, 'hang') === 2);
      const stopped = first.stop();
      provider.answerLate();
      expect(await stopped).toBe(0);

      const second = await start(config, home);
      expect(await endOf(second, late.body.id, clientKey)).toMatchObject({ status: 'succeeded' });
      expect(await endOf(second, hanging.body.id, clientKey)).toMatchObject({ status: 'failed' });
      expect([asked(provider, 'late'), asked(provider, 'hang')]).toEqual([1, 1]);
    },
    SLOW,
  );
});
