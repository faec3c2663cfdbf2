import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startMockServer } from '../../../src/providers/mock/mock-server.ts';
import type { MockServer } from '../../../src/providers/mock/mock-server.ts';
import { runCli } from '../../cli/run-cli.ts';
import { adminEnv } from '../../support/binary.ts';
import { eventually, newDirectory, startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { sendJson, startUpstream } from '../../support/stage/upstream.ts';
import type { Upstream } from '../../support/stage/upstream.ts';

const WORDS = { unknown: {}, free: { pricing: 'free' } };
/** Cost as JSON and as text tell it, by what is known of the price. */
const TOLD = [
  ['unknown', null, 'unpriced'],
  ['free', '0.00', '0.00'],
] as const;

let mock: MockServer;
let upstream: Upstream;
let gateway: TestGateway;
let cwd: string;

beforeAll(async () => {
  mock = await startMockServer();
  upstream = await startUpstream((response) => sendJson(response, 200, { sunny: true }));
  cwd = await newDirectory();
  const provider = { type: 'custom', auth: { type: 'none' }, base_url: `${mock.url}/v1` };
  const kinds = Object.entries(WORDS);
  gateway = await startGateway({
    providers: [{ name: 'own', ...provider, protocols: { chat: true, videos: true } }],
    models: kinds.flatMap(([name, pricing]) => [
      { name: `chat/${name}`, routes: [{ provider: 'own', upstream_model: 'echo' }], ...pricing },
      {
        name: `film/${name}`,
        type: 'video',
        routes: [{ provider: 'own', upstream_model: 'film' }],
        ...pricing,
      },
    ]),
    apis: kinds.map(([name, pricing]) => ({
      name,
      base_url: upstream.url,
      auth: { type: 'none' },
      ...pricing,
    })),
  });
});
afterAll(async () => {
  await gateway.stop();
  await mock.close();
  await upstream.close();
  await rm(cwd, { recursive: true, force: true });
});

async function taskOf(id: string) {
  return eventually(async () => {
    const { body } = await gateway.call('GET', `/v1/tasks/${id}`);
    return body.settlement !== 'reserved' && body;
  });
}

async function run(model: string, input: object) {
  const { status, body } = await gateway.call('POST', '/v1/run', {
    body: { model, input },
    headers: { prefer: 'wait=20' },
  });
  expect([status, body.status], JSON.stringify(body)).toEqual([200, 'succeeded']);
  return taskOf(body.id);
}

async function show(...words: string[]): Promise<string> {
  const { code, stdout, stderr } = await runCli(words, { cwd, env: adminEnv(gateway) });
  expect(code, stderr).toBe(0);
  return stdout;
}

describe.each(TOLD)('what is %s', (name, cost, text) => {
  it('is told as such of runs of models and of APIs', async () => {
    const messages = [{ role: 'user', content: 'hello' }];
    const task = await run(`chat/${name}`, { messages });
    expect(task).toMatchObject({ type: 'run', status: 'succeeded', settlement: 'settled', cost });
    expect(await run(name, { path: '/now' })).toMatchObject({ settlement: 'settled', cost });
    expect(await show('tasks', 'get', task.id)).toMatch(new RegExp(`cost\\s+${text}`));
  });

  it('is told as such of videos and of predictions', async () => {
    const made = await gateway.call('POST', '/v1/videos', {
      body: { model: `film/${name}`, prompt: 'a fox' },
    });
    expect(made.status, JSON.stringify(made.body)).toBe(200);
    await eventually(async () => {
      const { body } = await gateway.call('GET', `/v1/videos/${made.body.id}`);
      return body.status === 'completed';
    });
    expect(await taskOf(made.body.id)).toMatchObject({ type: 'video', cost });
    const { headers } = await gateway.chat(`chat/${name}`);
    expect(await taskOf(headers.get('x-request-id') ?? '')).toMatchObject({
      type: 'prediction',
      cost,
    });
  });

  it('is told as such of Sessions', async () => {
    const agent = await gateway.call('POST', '/v1/agents', {
      body: { name: `agent-${name}`, model: `chat/${name}` },
    });
    const { body: session } = await gateway.call('POST', '/v1/sessions', {
      body: { agent: agent.body.id, environment_id: 'env_1', title: `session-${name}` },
    });
    expect(session.usage.cost).toBe('0.00');
    const content = [{ type: 'text', text: 'hello' }];
    await gateway.call('POST', `/v1/sessions/${session.id}/events`, {
      body: { events: [{ type: 'user.message', content }] },
    });
    const over = await eventually(async () => {
      const { body } = await gateway.call('GET', `/v1/sessions/${session.id}`);
      return body.status === 'idle' && body.usage.output_tokens > 0 && body;
    });
    expect(over.usage.cost).toBe(cost);
    expect(await show('sessions', 'get', session.id)).toMatch(new RegExp(`cost\\s+${text}`));
    const row = (await show('sessions', 'list'))
      .split('\n')
      .find((one) => one.includes(session.title));
    expect(row).toContain(text);
  });

  it('is told as such by models explain', async () => {
    const shown = await show('models', 'explain', `chat/${name}`);
    expect(shown).toMatch(/PRICE USD/);
    const row = shown.split('\n').find((one) => one.includes('echo'));
    expect(row).toContain(name === 'free' ? 'free' : 'unpriced');
  });
});
