import { Buffer } from 'node:buffer';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { verifies } from '../../requirements.ts';
import { startGateway } from '../../support/gateway.ts';
import type { Answer, TestGateway } from '../../support/gateway.ts';
import { PNG, startMediaStudio } from '../../support/stage/media-studio.ts';
import type { MediaStudio } from '../../support/stage/media-studio.ts';

const env = { KEEPER_KEY: 'sk-keeper' };
let studio: MediaStudio;
let gateway: TestGateway;

const config = (url: string, media: object = { provider: 'keeper' }): object => ({
  server: { outbound: { allow: [new URL(url).host] }, media },
  providers: [
    {
      name: 'keeper',
      type: 'custom',
      base_url: `${url}/v1`,
      api_key: '${secret:env:KEEPER_KEY}',
      protocols: { chat: true },
      headers: { 'x-team': 'film' },
      assets: { request: { url: 'source' }, response: { id: '$.data.asset' } },
    },
    { name: 'plain', type: 'custom', base_url: `${url}/v1`, auth: { type: 'none' } },
  ],
  models: ['keeper', 'plain'].map((provider) => ({
    name: `${provider}/llm`,
    routes: [{ provider, upstream_model: 'up' }],
  })),
});

beforeAll(async () => {
  studio = await startMediaStudio();
  gateway = await startGateway(config(studio.url), { env });
});
afterAll(async () => {
  await gateway.stop();
  await studio.close();
});

const create = (fields: object = {}, on = gateway): Promise<Answer> =>
  on.call('POST', '/v1/assets', {
    body: { url: `${studio.url}/photo.png`, asset_type: 'Image', ...fields },
  });
const register = async (): Promise<string> => {
  const made = await create();
  expect(made.status, JSON.stringify(made.body)).toBe(201);
  return made.body.asset_url;
};
const get = (reference: string, on = gateway): Promise<Answer> =>
  on.call('GET', `/v1/assets/${reference.slice('asset://'.length)}`);
const look = (model: string, url: string): Promise<Answer> =>
  gateway.call('POST', '/v1/chat/completions', {
    body: {
      model,
      messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }],
    },
  });
const shown = (): string =>
  JSON.parse(studio.asked()[0]?.body.toString() ?? '').messages[0].content[0].image_url.url;

it(
  verifies('assets.create.response', 'has the provider register the media, in its own words'),
  async () => {
    const made = await create({ name: 'a fox' });
    expect([made.status, made.body]).toEqual([
      201,
      {
        id: expect.stringMatching(/^asset_/),
        asset_url: expect.stringMatching(/^asset:\/\/ext-\d+$/),
        asset_type: 'Image',
        name: 'a fox',
        created_at: expect.any(String),
      },
    ]);
    const { url, headers, body } = studio.asked()[0]!;
    expect(url).toBe('/v1/assets');
    expect(headers).toMatchObject({ authorization: 'Bearer sk-keeper', 'x-team': 'film' });
    expect(JSON.parse(body.toString())).toEqual({
      source: `${studio.url}/photo.png`,
      asset_type: 'Image',
      name: 'a fox',
    });
  },
);

it(
  verifies('assets.get.response', "tells the provider's status unchanged, and a link or none"),
  async () => {
    const reference = await register();
    studio.state = { status: 'Cooking (73%)', download_url: '' };
    const cooking = await get(reference);
    expect([cooking.status, cooking.body]).toMatchObject([
      200,
      { status: 'Cooking (73%)', download_url: '', external_id: reference.slice(8) },
    ]);
    studio.state = { status: 'Done', download_url: `${studio.url}/photo.png` };
    expect((await get(reference)).body).toMatchObject(studio.state);
  },
);

it(verifies('assets.get.404-502', 'answers 502 when the provider cannot be asked'), async () => {
  const reference = await register();
  studio.isDown = true;
  const { status, body } = await get(reference);
  studio.isDown = false;
  expect([status, body]).toEqual([502, { error: expect.any(String) }]);
  expect((await get('asset://ext-9999')).status).toBe(404);
});

it(
  verifies(
    'assets.create.502-500',
    'keeps nothing of what the provider refused, and answers 500 without a provider',
  ),
  async () => {
    const list = (): Promise<unknown> | undefined =>
      gateway.gateway?.store.list({ prefix: ['asset'] });
    const before = await list();
    studio.isDown = true;
    const refused = await create();
    studio.isDown = false;
    expect([refused.status, refused.body]).toEqual([502, { error: expect.any(String) }]);
    expect(await list()).toEqual(before);
    for (const provider of ['nobody', 'plain']) {
      const lonely = await startGateway(config(studio.url, { provider }), { env });
      const { status, body } = await create({}, lonely);
      await lonely.stop();
      expect([status, body]).toEqual([500, { error: 'no provider credential is available' }]);
    }
  },
);

it(
  verifies('assets.create.url-guard', 'ops.ssrf.guard', 'has the provider fetch no bad address'),
  async () => {
    const seen = studio.seen.length;
    for (const url of ['http://10.0.0.1/a.png', 'http://localhost/a.png', 'file:///etc/passwd'])
      expect([url, (await create({ url })).status]).toEqual([url, 400]);
    expect(studio.seen.length).toBe(seen);
  },
);

it(
  verifies(
    'assets.reference.permanent',
    'passes a reference unchanged, any number of times, to the provider that gave it out',
  ),
  async () => {
    const reference = await register();
    const registrations = studio.seen.filter(({ url }) => url === '/v1/assets').length;
    for (let i = 0; i < 3; i++) {
      expect((await look('keeper/llm', reference)).status).toBe(200);
      expect(shown()).toBe(reference);
    }
    expect(studio.seen.filter(({ url }) => url === '/v1/assets').length).toBe(registrations);
  },
);

it('gives another provider the bytes, once they are there', async () => {
  const reference = await register();
  studio.state = { status: 'Processing', download_url: '' };
  const early = await look('plain/llm', reference);
  expect([early.status, early.body.error.message]).toEqual([
    400,
    expect.stringContaining('not ready'),
  ]);
  studio.state = { status: 'Done', download_url: `${studio.url}/photo.png` };
  expect((await look('plain/llm', reference)).status).toBe(200);
  expect(shown()).toBe(`data:image/png;base64,${PNG.toString('base64')}`);
  studio.isDown = true;
  const failed = await look('plain/llm', reference);
  studio.isDown = false;
  expect(failed.status).toBe(502);
});

it('passes over a provider that cannot get the media for one that has it', async () => {
  const routes = ['plain', 'keeper'].map((provider, priority) => ({
    provider,
    upstream_model: 'up',
    priority,
  }));
  await gateway.admin('POST', '/admin/v1/models', { name: 'any/llm', routes });
  const reference = await register();
  studio.isDown = true;
  const answered = await look('any/llm', reference);
  studio.isDown = false;
  expect(answered.status).toBe(200);
  expect(shown()).toBe(reference);
});

it(
  verifies(
    'resource.org-isolation',
    'shows the provider no reference of another organization, even to the same media',
  ),
  async () => {
    const reference = await register();
    await gateway.admin('POST', '/admin/v1/organizations', { name: 'others' });
    const { body } = await gateway.admin('POST', '/admin/v1/keys', {
      name: 'k',
      organization: 'others',
    });
    const key = body.value;
    const seen = studio.seen.length;
    const foreign = await gateway.call('POST', '/v1/chat/completions', {
      key,
      body: {
        model: 'keeper/llm',
        messages: [
          { role: 'user', content: [{ type: 'image_url', image_url: { url: reference } }] },
        ],
      },
    });
    expect(foreign.status).toBe(400);
    const path = `/v1/assets/${reference.slice(8)}`;
    expect((await gateway.call('GET', path, { key })).status).toBe(404);
    expect(studio.seen.length).toBe(seen);
  },
);

it('answers 502 for what a provider keeps that is out of service, and tells no secret', async () => {
  const reference = await register();
  studio.state = { status: 'Done', download_url: `${studio.url}/photo.png` };
  expect((await get(reference)).body.status).toBe('Done');
  await gateway.admin('POST', '/admin/v1/providers/keeper', { enabled: false });
  const asked = await get(reference);
  await gateway.admin('POST', '/admin/v1/providers/keeper', { enabled: true });
  expect(asked.status).toBe(502);
  expect(Buffer.from(JSON.stringify(asked.body)).includes('sk-keeper')).toBe(false);
});
