import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startMockServer } from '../../../src/providers/mock/mock-server.ts';
import type { MockServer } from '../../../src/providers/mock/mock-server.ts';
import { createFastTime } from '../../chaos/fast-time.ts';
import { verifies } from '../../requirements.ts';
import { customProvider } from '../../support/chat.ts';
import { eventually, newDirectory, startGateway } from '../../support/gateway.ts';
import type { Answer, TestGateway } from '../../support/gateway.ts';
import { sendJson, startUpstream } from '../../support/stage/upstream.ts';
import type { Upstream } from '../../support/stage/upstream.ts';
import { startWebhookReceiver } from '../../webhooks/webhook-receiver.ts';
import type { WebhookReceiver } from '../../webhooks/webhook-receiver.ts';

/** How many times as fast as that of the machine the time of the gateways is. */
const RATE = 5;
/** So long a stop waits for the runs that no provider answers. */
const DRAIN = '10s';
const INPUT = { messages: [{ role: 'user', content: 'hello' }] };
const ANSWER = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'up',
  choices: [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
};

const modelOf = (name: string, extra: object = {}): object => ({
  name: `v/${name}`,
  pricing: { per_call: '0.5' },
  routes: [{ provider: 'up', upstream_model: name }],
  ...extra,
});

describe('a run whose process ends', () => {
  let provider: Upstream;
  let answerLate = (): void => undefined;
  let studio: MockServer;
  let receiver: WebhookReceiver;
  let refusing: WebhookReceiver;
  let directory: string;
  let clientKey: string;
  /** The process that was killed, the one after it, and the one after that was stopped. */
  const started: TestGateway[] = [];
  /** What the runs looked like when their process was killed, by what they were doing. */
  const runs: Record<string, Answer['body']> = {};
  let film: string;
  let narrow: string;

  const { environment: env, clock } = createFastTime(RATE);

  const start = async (binary = false): Promise<TestGateway> => {
    const outbound = { allow: [receiver.host, refusing.host] };
    const server = { store: { driver: 'lmdb' }, outbound, drain: DRAIN };
    const films = { provider: 'studio', upstream_model: 'film' };
    const config = {
      server,
      providers: [
        customProvider('up', provider.url),
        customProvider('studio', studio.url, { protocols: { videos: true } }),
      ],
      models: [
        ...['chat', 'next', 'hang', 'held', 'late'].map((name) => modelOf(name)),
        modelOf('film', { type: 'video', routes: [films] }),
      ],
    };
    const options = binary ? { binary, env } : { clock };
    const gateway = await startGateway(config, { ...options, directory });
    started.push(gateway);
    return gateway;
  };
  const current = (): TestGateway => started.at(-1)!;
  const get = async (path: string, key = clientKey): Promise<Answer['body']> =>
    (await current().call('GET', path, { key })).body;
  const run = async (
    model: string,
    more: object = {},
    key = clientKey,
  ): Promise<Answer['body']> => {
    const body = { model: `v/${model}`, input: INPUT, async: true, ...more };
    const answer = await current().call('POST', '/v1/run', { key, body });
    expect(answer.status, JSON.stringify(answer.body)).toBe(202);
    return answer.body;
  };
  const endOf = (id: string, key?: string): Promise<Answer['body']> =>
    eventually(async () => {
      const body = await get(`/v1/run/${id}`, key);
      return ['succeeded', 'failed'].includes(body.status) && body;
    });
  const asked = (model: string): number =>
    provider.seen.filter(({ body }) => body.toString().includes(`"model":"${model}"`)).length;

  beforeAll(async () => {
    // Answers models whose name begins with no h, and `late` when the test wants it.
    provider = await startUpstream((response, { body }) => {
      const { model } = JSON.parse(body.toString()) as { model: string };
      if (model === 'late') answerLate = () => sendJson(response, 200, ANSWER);
      else if (!model.startsWith('h')) sendJson(response, 200, ANSWER);
    });
    studio = await startMockServer({ cassette: { rules: [{ reply: { polls: 2 } }] } });
    receiver = await startWebhookReceiver();
    refusing = await startWebhookReceiver();
    refusing.answer(500, 200);
    directory = await newDirectory();
    const first = await start(true);
    ({ clientKey } = first);
    const made = await first.admin('POST', '/admin/v1/keys', {
      name: 'one at a time',
      concurrency_cap: 1,
    });
    narrow = made.body.value;
    const { id } = await run('hang', { webhook_url: `${receiver.url}/hook` });
    runs['held'] = await run('held', {}, narrow);
    await eventually(() => asked('hang') + asked('held') === 2);
    runs['hang'] = await get(`/v1/run/${id}`);
    runs['waiting'] = await run('next', {}, narrow);
    const over = await run('chat', { webhook_url: `${refusing.url}/hook` });
    await refusing.waitFor('/hook');
    runs['over'] = await endOf(over.id);
    runs['film'] = await run('film', { input: { prompt: 'a fox' } });
    film = await eventually(async () => (await get('/v1/videos')).data[0]?.id);
    first.child?.kill('SIGKILL');
    if (first.child) await once(first.child, 'exit');
    await start();
  });
  afterAll(async () => {
    await Promise.all(started.map((gateway) => gateway.stop()));
    await Promise.all([provider, studio, receiver, refusing].map((one) => one.close()));
    await rm(directory, { recursive: true, force: true });
  });

  it(
    verifies(
      'run.durable',
      'run.webhook.delivered',
      'has failed when it is killed while its call is under way, and is not sent again',
    ),
    async () => {
      const { id, ...running } = runs['hang'];
      expect(running).toMatchObject({ status: 'running', output: null, completed_at: null });
      const last = await endOf(id);
      expect(last).toMatchObject({ status: 'failed', error: { code: 'interrupted' } });
      const [message] = await receiver.waitFor('/hook');
      expect(message?.body).toMatchObject({ type: 'run.failed', data: { id } });
      expect(await get(`/v1/tasks/${id}`)).toMatchObject({ settlement: 'released', cost: '0.00' });
      expect(asked('hang')).toBe(1);
      expect(await get(`/v1/run/${id}`)).toEqual(last);
      expect(receiver.received).toHaveLength(1);
    },
  );

  it(
    verifies('run.durable', 'is done by the next process when its call has not begun'),
    async () => {
      expect(runs['waiting'].status).toBe('queued');
      expect(await endOf(runs['waiting'].id, narrow)).toMatchObject({ status: 'succeeded' });
      expect(await endOf(runs['held'].id, narrow)).toMatchObject({ status: 'failed' });
      expect([asked('next'), asked('held')]).toEqual([1, 1]);
    },
  );

  it(
    verifies(
      'run.webhook.retry',
      'run.webhook.delivered',
      'is announced by the next process when it is over and its message has not arrived',
    ),
    async () => {
      const messages = await refusing.waitFor('/hook', 2);
      expect(new Set(messages.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
      expect(messages[1]?.text).toBe(messages[0]?.text);
      expect(messages[1]?.body.data).toEqual(runs['over']);
      await eventually(async () => {
        const { data } = await get('/v1/webhooks/deliveries');
        return data.every(({ status }: { status: string }) => status === 'delivered');
      });
      expect(asked('chat')).toBe(1);
    },
  );

  it(
    verifies('run.durable', 'is watched by the next process when its task is at the provider'),
    async () => {
      const last = await endOf(runs['film'].id);
      expect(last).toMatchObject({ status: 'succeeded', output: { id: film } });
      expect((await get('/v1/videos')).data).toHaveLength(1);
      const task = await get(`/v1/tasks/${last.id}`);
      expect(task).toMatchObject({ settlement: 'settled', cost: '0.50' });
    },
  );

  it(verifies('run.durable', 'ends with the gateway when that is stopped, if it can'), async () => {
    const before = asked('hang');
    const late = await run('late');
    const hanging = await run('hang');
    await eventually(() => asked('late') + asked('hang') === before + 2);
    const stopped = current().stop();
    answerLate();
    expect(await stopped).toBe(0);

    await start();
    expect(await endOf(late.id)).toMatchObject({ status: 'succeeded' });
    expect(await endOf(hanging.id)).toMatchObject({ status: 'failed' });
    expect([asked('late'), asked('hang')]).toEqual([1, before + 1]);
  });
});
