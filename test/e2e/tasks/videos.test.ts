import { NotFoundError, toFile } from 'openai';
import type OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startMockServer } from '../../../src/providers/mock/mock-server.ts';
import type { MockServer } from '../../../src/providers/mock/mock-server.ts';
import type { RequestRecord } from '../../../src/usage/requests/request-record.ts';
import { verifies } from '../../requirements.ts';
import { openaiClient } from '../../support/chat.ts';
import { eventually, startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { createHastyClock } from '../../support/time/hasty-clock.ts';

const TASKS = '/v1/contents/generations/tasks';
const RULES = [
  { match: { model: 'slow' }, reply: { polls: 1_000 } },
  { match: { model: 'feature' }, reply: { polls: 2 } },
  { match: { model: 'quick' }, reply: { polls: 0 } },
  {
    match: { model: 'doomed' },
    reply: { status: 200, polls: 1, error: { message: 'too dark', code: 'dark' } },
  },
  { match: { model: 'down' }, reply: { status: 503, error: { message: 'overloaded' } } },
  { match: { model: 'strict' }, reply: { status: 400, error: { message: 'no such size' } } },
  { match: { model: 'cut' }, reply: { cut_before: 'head' as const } },
];

/** Prices make every charge visible: 0.5 for the call and 0.1 for each second. */
const PRICING = { per_call: '0.5', per_second: '0.1' };

function config(upstream: string): object {
  const names = ['film', ...RULES.map(({ match }) => match.model)];
  const provider = {
    type: 'custom',
    base_url: `${upstream}/v1`,
    auth: { type: 'none' },
    protocols: { videos: true, chat: true },
  };
  const route = (name: string, priority = 0): object => ({
    provider: 'studio',
    upstream_model: name,
    priority,
  });
  return {
    providers: [
      { ...provider, name: 'studio' },
      { ...provider, name: 'nowhere', base_url: 'http://127.0.0.1:9/v1' },
    ],
    models: [
      ...names.map((name) => ({
        name: `v/${name}`,
        type: 'video',
        pricing: PRICING,
        routes: [route(name)],
      })),
      {
        name: 'v/down-then-film',
        type: 'video',
        pricing: PRICING,
        routes: [route('down'), { provider: 'nowhere', priority: 1 }, route('film', 2)],
      },
      {
        name: 'v/cut-then-film',
        type: 'video',
        pricing: PRICING,
        routes: [route('cut'), route('film', 1)],
      },
      { name: 'v/chatty', routes: [route('film')] },
    ],
  };
}

describe('video tasks', () => {
  let mock: MockServer;
  let gateway: TestGateway;
  let client: OpenAI;

  beforeAll(async () => {
    mock = await startMockServer({ cassette: { rules: RULES } });
    gateway = await startGateway(config(mock.url), { clock: createHastyClock() });
    client = openaiClient(gateway);
  });
  afterAll(async () => {
    await gateway.stop();
    await mock.close();
  });

  const newKey = async (fields: object = {}): Promise<string> => {
    const made = await gateway.admin('POST', '/admin/v1/keys', {
      name: `k${Math.random()}`,
      ...fields,
    });
    expect(made.status, JSON.stringify(made.body)).toBe(201);
    return made.body.value;
  };
  const newOrganization = async (fields: object = {}): Promise<string> => {
    const made = await gateway.admin('POST', '/admin/v1/organizations', {
      name: `o${Math.random()}`,
      ...fields,
    });
    return made.body.id;
  };
  /** The records of a key, newest first. */
  const recordsOf = async (organization: string): Promise<RequestRecord[]> => {
    const { body } = await gateway.admin('GET', `/admin/v1/requests?organization=${organization}`);
    return body.data;
  };
  const costs = async (organization: string): Promise<string[]> =>
    (await recordsOf(organization))
      .map(({ cost }) => cost ?? 'unpriced')
      .filter((cost) => cost !== '0.00');

  it(
    verifies('video.tasks.shape', 'are made, watched, fetched and deleted by the official client'),
    async () => {
      const video = await client.videos.create({
        model: 'v/feature',
        prompt: 'a fox',
        seconds: '8',
        size: '1280x720',
      });
      expect(video).toMatchObject({
        object: 'video',
        model: 'v/feature',
        status: 'queued',
        progress: 0,
        prompt: 'a fox',
        seconds: '8',
        size: '1280x720',
        completed_at: null,
        error: null,
      });
      expect(video.id).toMatch(/^video_[0-9a-z]{26}$/);
      await expect(client.videos.downloadContent(video.id)).rejects.toThrow(NotFoundError);
      const states = [];
      for (let i = 0; i < 3; i++) states.push((await client.videos.retrieve(video.id)).status);
      expect(states).toEqual(['in_progress', 'completed', 'completed']);
      const done = await client.videos.retrieve(video.id);
      expect(done).toMatchObject({ progress: 100, model: 'v/feature', id: video.id });
      expect(done.completed_at).toBeTypeOf('number');
      const content = await client.videos.downloadContent(video.id);
      expect(content.headers.get('content-type')).toBe('video/mp4');
      expect(Buffer.from(await content.arrayBuffer()).toString('latin1', 4, 8)).toBe('ftyp');
      const listed = await client.videos.list({ limit: 1 });
      expect(listed.data.map(({ id }) => id)).toEqual([video.id]);
      expect(await client.videos.delete(video.id)).toEqual({
        id: video.id,
        object: 'video.deleted',
        deleted: true,
      });
      await expect(client.videos.retrieve(video.id)).rejects.toThrow(NotFoundError);
    },
  );

  it(
    verifies('video.tasks.shape', 'pass a form on with another model alone, its file included'),
    async () => {
      const picture = Buffer.from(Array.from({ length: 200_000 }, (_, index) => index % 251));
      const video = await client.videos.create({
        model: 'v/film',
        prompt: 'füchse',
        input_reference: await toFile(picture, 'fox.png', { type: 'image/png' }),
      });
      expect(video.prompt).toBe('füchse');
      const sent = mock.engine.calls().findLast(({ method }) => method === 'POST');
      expect(sent?.headers['content-type']).toContain('multipart/form-data');
      expect(sent?.body.includes(picture)).toBe(true);
      expect(sent?.model).toBe('film');
    },
  );

  it(
    verifies('video.tasks.shape', 'have the content-generation form as their other face'),
    async () => {
      const made = await gateway.call('POST', TASKS, {
        body: {
          model: 'v/film',
          content: [
            { type: 'text', text: 'a fox' },
            { type: 'image_url', image_url: { url: 'https://example.com/fox.png' } },
          ],
          duration: 5,
          resolution: '720p',
          ratio: '9:16',
          seed: 7,
        },
      });
      expect(made.status, JSON.stringify(made.body)).toBe(200);
      expect(made.body).toEqual({ id: expect.stringMatching(/^video_/) });
      expect(made.headers.get('x-gateway-dropped-fields')).toBe('seed');
      const { id } = made.body;
      expect(JSON.parse(String(mock.engine.calls().at(-1)?.body))).toEqual({
        model: 'film',
        prompt: 'a fox',
        seconds: '5',
        size: '720x1280',
        input_reference: { image_url: 'https://example.com/fox.png' },
      });
      const running = await gateway.call('GET', `${TASKS}/${id}`);
      expect(running.body).toMatchObject({ id, model: 'v/film', status: 'running', duration: 5 });
      expect(running.body.content).toBeUndefined();
      expect(await client.videos.retrieve(id)).toMatchObject({
        id,
        status: 'completed',
        seconds: '5',
      });
      const done = await gateway.call('GET', `${TASKS}/${id}`);
      expect(done.body).toMatchObject({
        status: 'succeeded',
        content: { video_url: `${gateway.url}/v1/videos/${id}/content` },
        usage: { completion_tokens: 0, total_tokens: 0 },
        created_at: expect.any(Number),
        updated_at: expect.any(Number),
      });
      const path = new URL(done.body.content.video_url).pathname;
      expect((await gateway.call('GET', path)).status).toBe(200);
      const list = await gateway.call('GET', `${TASKS}?page_size=1&filter.status=succeeded`);
      expect(list.body.items).toHaveLength(1);
      expect(list.body.total).toBeGreaterThanOrEqual(1);
      const one = await gateway.call('GET', `${TASKS}?filter.task_ids=${id}&filter.model=v/film`);
      expect(one.body).toMatchObject({ total: 1, items: [{ id, status: 'succeeded' }] });
      expect((await gateway.call('DELETE', `${TASKS}/${id}`)).status).toBe(200);
      expect((await gateway.call('GET', `${TASKS}/${id}`)).status).toBe(404);
    },
  );

  it(
    verifies(
      'video.tasks.charged-once',
      'cost their seconds and the call, once, when they succeed, however often they are looked at',
    ),
    async () => {
      const organization = await newOrganization({ spending_limit: '10' });
      const key = await newKey({ organization });
      const made = await gateway.call('POST', '/v1/videos', {
        key,
        body: { model: 'v/film', prompt: 'x', seconds: '8' },
      });
      const { id } = made.body;
      expect(await costs(organization)).toEqual([]);
      await Promise.all(
        Array.from({ length: 12 }, (_, index) =>
          gateway.call('GET', `${index % 2 ? TASKS : '/v1/videos'}/${id}`, { key }),
        ),
      );
      await eventually(async () => (await costs(organization)).length > 0);
      for (let i = 0; i < 3; i++) await gateway.call('GET', `/v1/videos/${id}`, { key });
      expect(await costs(organization)).toEqual(['1.30']);
      const charge = (await recordsOf(organization)).find(({ cost }) => cost === '1.30');
      expect(charge).toMatchObject({
        surface: 'videos',
        model: 'v/film',
        result: 'ok',
        usage: { seconds: 8 },
        answered_by: { provider: 'studio', upstream_model: 'film' },
      });
      const usage = await gateway.admin('GET', `/admin/v1/usage?organization=${organization}`);
      expect(JSON.stringify(usage.body)).toContain('"cost":"1.30"');
    },
  );

  it(
    verifies('video.tasks.charged-once', 'cost nothing when they fail, and free what was reserved'),
    async () => {
      const key = await newKey({ spending_limit: '2' });
      const ask = (model: string) =>
        gateway.call('POST', '/v1/videos', { key, body: { model, prompt: 'x', seconds: 8 } });
      const made = await ask('v/doomed');
      expect(made.status).toBe(200);
      // 1.30 of 2.00 stay reserved behind the call.
      expect(
        await eventually(async () => {
          const { status } = await ask('v/film');
          return status === 402;
        }),
      ).toBe(true);
      const states = [];
      for (let i = 0; i < 2; i++)
        states.push((await gateway.call('GET', `/v1/videos/${made.body.id}`, { key })).body);
      expect(states).toMatchObject([
        { status: 'in_progress', error: null },
        { status: 'failed', error: { code: 'dark', message: 'too dark' } },
      ]);
      const task = await gateway.call('GET', `${TASKS}/${made.body.id}`, { key });
      expect(task.body).toMatchObject({ status: 'failed', error: { code: 'dark' } });
      expect((await ask('v/film')).status).toBe(200);
    },
  );

  it(
    verifies('video.tasks.charged-once', 'are charged for when nobody looks at them'),
    async () => {
      const organization = await newOrganization();
      const key = await newKey({ organization });
      await gateway.call('POST', '/v1/videos', {
        key,
        body: { model: 'v/quick', prompt: 'x', seconds: 4 },
      });
      await eventually(async () => (await costs(organization)).length > 0, 10_000);
      expect(await costs(organization)).toEqual(['0.90']);
    },
    15_000,
  );

  it(verifies('video.tasks.shape', 'belong to their organization alone'), async () => {
    const { body } = await gateway.call('POST', '/v1/videos', {
      body: { model: 'v/quick', prompt: 'x' },
    });
    const stranger = await newKey({ organization: await newOrganization() });
    for (const path of [
      `/v1/videos/${body.id}`,
      `/v1/videos/${body.id}/content`,
      `${TASKS}/${body.id}`,
    ]) {
      const answer = await gateway.call('GET', path, { key: stranger });
      expect([path, answer.status, answer.body]).toEqual([path, 404, { error: 'video not found' }]);
      for (const end of ['', '/'])
        expect((await gateway.call('GET', path + end, { key: await newKey() })).status).toBe(200);
    }
    expect((await gateway.call('DELETE', `/v1/videos/${body.id}`, { key: stranger })).status).toBe(
      404,
    );
    const listed = await gateway.call('GET', '/v1/videos', { key: stranger });
    expect(listed.body).toMatchObject({ object: 'list', data: [], has_more: false });
  });

  it('are listed page by page, newest first or oldest first', async () => {
    const key = await newKey({ organization: await newOrganization() });
    const mine = openaiClient(gateway, key);
    const made: string[] = [];
    for (let i = 0; i < 5; i++)
      made.push((await mine.videos.create({ model: 'v/quick', prompt: `${i}` })).id);
    const seen: string[] = [];
    for await (const { id } of mine.videos.list({ limit: 2 })) seen.push(id);
    expect(seen).toEqual(made.toReversed());
    const oldest = await mine.videos.list({ limit: 3, order: 'asc' });
    expect(oldest.data.map(({ id }) => id)).toEqual(made.slice(0, 3));
  });

  it('are not deleted while they are made', async () => {
    const { id } = await client.videos.create({ model: 'v/slow', prompt: 'x' });
    const refused = await gateway.call('DELETE', `/v1/videos/${id}`);
    expect(refused.status).toBe(409);
    expect(refused.headers.get('x-should-retry')).toBe('false');
    expect((await client.videos.retrieve(id)).status).toBe('in_progress');
  });

  it('move on to the next route until one accepts them', async () => {
    const { id } = await client.videos.create({ model: 'v/down-then-film', prompt: 'x' });
    expect((await client.videos.retrieve(id)).status).toBe('in_progress');
  });

  it(
    verifies('routing.non-idempotent-no-retry', 'are not made twice when an answer is lost'),
    async () => {
      const before = mock.engine.calls().length;
      const answer = await gateway.call('POST', '/v1/videos', {
        body: { model: 'v/cut-then-film', prompt: 'x' },
      });
      expect(answer.status).toBeGreaterThanOrEqual(500);
      expect(answer.headers.get('x-should-retry')).toBe('false');
      expect(
        mock.engine
          .calls()
          .slice(before)
          .map(({ model }) => model),
      ).toEqual(['cut']);
    },
  );

  it.each([
    { fault: 'no model', body: { prompt: 'x' }, status: 400 },
    { fault: 'an unknown model', body: { model: 'v/none', prompt: 'x' }, status: 404 },
    { fault: 'a model of another type', body: { model: 'v/chatty', prompt: 'x' }, status: 400 },
    { fault: 'no prompt', body: { model: 'v/film' }, status: 400 },
    { fault: 'no seconds', body: { model: 'v/film', prompt: 'x', seconds: 'long' }, status: 400 },
    { fault: 'broken JSON', body: '{"model":', status: 400 },
    { fault: "the provider's refusal", body: { model: 'v/strict', prompt: 'x' }, status: 400 },
    { fault: 'a provider that is down', body: { model: 'v/down', prompt: 'x' }, status: 503 },
  ])(verifies('errors.flat.which', 'refuse $fault in the flat shape'), async ({ body, status }) => {
    const answer = await gateway.call('POST', '/v1/videos', { body });
    expect(answer.status).toBe(status);
    expect(answer.body).toEqual({ error: expect.any(String) });
  });

  it.each([
    { fault: 'no content', body: { model: 'v/film' } },
    { fault: 'no text', body: { model: 'v/film', content: [{ type: 'text', text: ' ' }] } },
    { fault: 'a part of another kind', body: { model: 'v/film', content: [{ type: 'audio' }] } },
    {
      fault: 'a callback',
      body: {
        model: 'v/film',
        content: [{ type: 'text', text: 'x' }],
        callback_url: 'https://a.b',
      },
    },
    {
      fault: 'a nonsense duration',
      body: { model: 'v/film', content: [{ type: 'text', text: 'x' }], duration: 'long' },
    },
  ])(
    verifies('errors.flat.which', 'refuse $fault as a content-generation task'),
    async ({ body }) => {
      const answer = await gateway.call('POST', TASKS, { body });
      expect(answer.status).toBe(400);
      expect(answer.body).toEqual({ error: expect.any(String) });
    },
  );
});
