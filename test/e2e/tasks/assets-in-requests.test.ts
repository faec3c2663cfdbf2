import { Buffer } from 'node:buffer';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verifies } from '../../requirements.ts';
import { eventually, startGateway } from '../../support/gateway.ts';
import type { Answer, TestGateway } from '../../support/gateway.ts';
import { MP3, PNG, startMediaStudio } from '../../support/stage/media-studio.ts';
import type { MediaStudio } from '../../support/stage/media-studio.ts';

const PUBLIC = 'https://gateway.example/base';
const DATA = PNG.toString('base64');
const PROTOCOLS = [
  'chat',
  'responses',
  'messages',
  'generate-content',
  'interactions',
  'images',
  'videos',
];

let studio: MediaStudio;
let gateway: TestGateway;
/** The picture and the sound of these tests. */
let picture: string;
let sound: string;

beforeAll(async () => {
  studio = await startMediaStudio();
  const provider = (name: string, extra: object): object => ({
    name,
    type: 'custom',
    base_url: `${studio.url}/v1`,
    auth: { type: 'none' },
    ...extra,
  });
  const model = (vendor: string, provider: string, type: string): object => ({
    name: `${vendor}/${type}`,
    type,
    routes: [{ provider, upstream_model: 'up' }],
  });
  const every = Object.fromEntries(PROTOCOLS.map((protocol) => [protocol, true]));
  gateway = await startGateway({
    server: {
      outbound: { allow: [new URL(studio.url).host] },
      media: { public_url: `${PUBLIC}/` },
      limits: { body: '2MiB' },
    },
    providers: [
      provider('bytes', { protocols: every }),
      provider('links', { protocols: every, media: 'links' }),
      provider('other', { protocols: { messages: true } }),
    ],
    models: ['bytes', 'links']
      .flatMap((name) => ['llm', 'image', 'video'].map((type) => model(name, name, type)))
      .concat(model('other', 'other', 'llm')),
  });
  picture = await register('photo.png', 'Image');
  sound = await register('sound.mp3', 'Audio');
});
afterAll(async () => {
  await gateway.stop();
  await studio.close();
});

const register = async (file: string, type: string): Promise<string> => {
  const body = { url: `${studio.url}/${file}`, asset_type: type, name: file };
  const made = await gateway.call('POST', '/v1/assets', { body });
  expect(made.status, JSON.stringify(made.body)).toBe(201);
  return made.body.asset_url;
};
const send = async (path: string, body: unknown, key = gateway.clientKey): Promise<string> => {
  const { status, body: told } = await gateway.call('POST', path, { key, body });
  expect([path, status, status < 300 ? '' : told]).toEqual([path, expect.any(Number), '']);
  return studio.asked()[0]?.body.toString() ?? '';
};
const LINK = new RegExp(`^${PUBLIC}/v1/assets/media_\\w+/content\\?expires=\\d+&signature=`);
const ofParts = (parts: object[]): object[] => [{ role: 'user', content: parts }];

interface Case {
  path: string;
  body: (reference: string, name: string) => object;
  /** Of the upstream body. */
  place: (body: Answer['body']) => unknown;
  bytes: unknown;
  link: unknown;
}

const DATA_URL = `data:image/png;base64,${DATA}`;
const CASES: Record<string, Case> = {
  'a chat completion': {
    path: '/v1/chat/completions',
    body: (url, name) => ({
      model: `${name}/llm`,
      messages: ofParts([{ type: 'image_url', image_url: { url, detail: 'low' } }]),
    }),
    place: (body) => body.messages[0].content[0].image_url,
    bytes: { url: DATA_URL, detail: 'low' },
    link: { url: expect.stringMatching(LINK), detail: 'low' },
  },
  'a response': {
    path: '/v1/responses',
    body: (url, name) => ({
      model: `${name}/llm`,
      input: ofParts([{ type: 'input_image', image_url: url }]),
    }),
    place: (body) => body.input[0].content[0].image_url,
    bytes: DATA_URL,
    link: expect.stringMatching(LINK),
  },
  'a message': {
    path: '/v1/messages',
    body: (url, name) => ({
      model: `${name}/llm`,
      max_tokens: 100,
      messages: ofParts([{ type: 'image', source: { type: 'url', url } }]),
    }),
    place: (body) => body.messages[0].content[0].source,
    bytes: { type: 'base64', media_type: 'image/png', data: DATA },
    link: { type: 'url', url: expect.stringMatching(LINK) },
  },
  'generate-content': {
    path: '/v1beta/models/NAME/llm:generateContent',
    body: (fileUri) => ({
      contents: [{ role: 'user', parts: [{ text: 'what?' }, { fileData: { fileUri } }] }],
    }),
    place: (body) => body.contents[0].parts[1],
    bytes: { inlineData: { mimeType: 'image/png', data: DATA } },
    link: { fileData: { mimeType: 'image/png', fileUri: expect.stringMatching(LINK) } },
  },
  'an interaction': {
    path: '/v1beta/interactions',
    body: (uri, name) => ({ model: `${name}/llm`, input: [{ type: 'image', uri }] }),
    place: (body) => body.input[0],
    bytes: { type: 'image', data: DATA, mime_type: 'image/png' },
    link: { type: 'image', uri: expect.stringMatching(LINK), mime_type: 'image/png' },
  },
  'a video task': {
    path: '/v1/contents/generations/tasks',
    body: (url, name) => ({
      model: `${name}/video`,
      content: [
        { type: 'text', text: 'it runs' },
        { type: 'image_url', image_url: { url } },
      ],
    }),
    place: (body) => body.input_reference,
    bytes: { image_url: DATA_URL },
    link: { image_url: expect.stringMatching(LINK) },
  },
  'a generated image': {
    path: '/v1/images/generations',
    body: (url, name) => ({
      model: `${name}/image`,
      prompt: 'a fox',
      images: ['https://a/b', url],
    }),
    place: (body) => body.images,
    bytes: ['https://a/b', DATA_URL],
    link: ['https://a/b', expect.stringMatching(LINK)],
  },
};

describe.each(Object.entries(CASES))('%s', (_name, { path, body, place, bytes, link }) => {
  const ask = async (name: string): Promise<unknown> => {
    const at = path.replace('NAME', name);
    return place(JSON.parse(await send(at, body(picture, name))));
  };

  it('carries the bytes of an asset to a provider that wants them', async () => {
    expect(await ask('bytes')).toEqual(bytes);
  });

  it('carries a link to a provider that fetches media', async () => {
    expect(await ask('links')).toEqual(link);
  });

  it(
    verifies(
      'resource.org-isolation',
      'names the place of a reference that the organization does not have, and asks nobody',
    ),
    async () => {
      const name = `org${Math.random()}`;
      await gateway.admin('POST', '/admin/v1/organizations', { name });
      const made = await gateway.admin('POST', '/admin/v1/keys', { name, organization: name });
      const seen = studio.seen.length;
      const told = [];
      for (const reference of [picture, 'asset://media_none', 'asset://', 'asset://a/../b']) {
        const { status, body: answer } = await gateway.call('POST', path.replace('NAME', 'bytes'), {
          key: made.body.value,
          body: body(reference, 'bytes'),
        });
        expect([reference, status]).toEqual([reference, 400]);
        const { error } = answer;
        told.push(typeof error === 'string' ? error : error.message);
      }
      expect(told[1]).toBe(told[0]);
      expect(told[0]).toMatch(
        /^(messages|input|contents|content|images)\[\d\].*: there is no such/,
      );
      expect(studio.seen.length).toBe(seen);
    },
  );
});

it('leaves all other bytes of a request as they are, escaped references included', async () => {
  const escaped = picture.replace('asset', '\\u0061sset').replaceAll('/', '\\/');
  const before = `{ "model":"bytes/llm","temperature":1.0, "seed":12345678901234567890,"x":"\\u00e9 é",\n`;
  const rest = (url: string): string =>
    `"messages":[{"role":"user","content":[{"type":"text","text":"${picture}"},{"type":"image_url","image_url":{"url":${url}}}]}],"metadata":{"url":"${picture}"} }`;
  const sent = await send('/v1/chat/completions', before + rest(`"${escaped}"`));
  expect(sent).toBe(before.replace('bytes/llm', 'up') + rest(`"${DATA_URL}"`));
});

it('carries sound where base64 alone is understood', async () => {
  for (const name of ['bytes', 'links']) {
    const part = { type: 'input_audio', input_audio: { data: sound, format: 'mp3' } };
    const body = { model: `${name}/llm`, messages: ofParts([part]) };
    const sent = JSON.parse(await send('/v1/chat/completions', body));
    expect(sent.messages[0].content[0].input_audio).toEqual({
      data: MP3.toString('base64'),
      format: 'mp3',
    });
  }
});

it('carries media into another protocol', async () => {
  const part = { type: 'image_url', image_url: { url: picture } };
  const sent = await send('/v1/chat/completions', {
    model: 'other/llm',
    messages: ofParts([part]),
  });
  expect(JSON.parse(sent).messages[0].content[0].source).toEqual({
    type: 'base64',
    media_type: 'image/png',
    data: DATA,
  });
});

it('makes a file of a reference in a form', async () => {
  const form = new FormData();
  form.append('model', 'bytes/image');
  form.append('prompt', 'asset://no_reference');
  form.append('image[]', picture);
  const response = await fetch(`${gateway.url}/v1/images/edits`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.clientKey}` },
    body: form,
  });
  expect([response.status, await response.text()]).toEqual([200, expect.any(String)]);
  const { body, headers } = studio.asked()[0]!;
  const sent = await new Response(new Uint8Array(body), {
    headers: { 'content-type': headers['content-type'] ?? '' },
  }).formData();
  const file = sent.get('image[]') as File;
  expect([file.name, file.type]).toEqual(['photo.png', 'image/png']);
  expect(Buffer.from(await file.arrayBuffer()).equals(PNG)).toBe(true);
  expect(sent.get('prompt')).toBe('asset://no_reference');
});

it('refuses a request that its media makes too large', async () => {
  const film = await register('clip.mp4', 'Video');
  const part = { type: 'video_url', video_url: { url: film } };
  const ask = (name: string): Promise<Answer> =>
    gateway.call('POST', '/v1/chat/completions', {
      body: { model: `${name}/llm`, messages: ofParts([part]) },
    });
  expect((await ask('bytes')).status).toBe(413);
  expect((await ask('links')).status).toBe(200);
});

it('names no more than 64 assets in one request', async () => {
  const ask = (count: number): Promise<Answer> => {
    const part = { type: 'image_url', image_url: { url: picture } };
    const messages = ofParts(Array.from({ length: count }, () => part));
    return gateway.call('POST', '/v1/chat/completions', { body: { model: 'bytes/llm', messages } });
  };
  expect((await ask(64)).status).toBe(200);
  const { status, body } = await ask(65);
  expect([status, body.error.param]).toEqual([400, 'messages[0].content[64].image_url.url']);
});

it('shows the model of an Agent what a message to a Session names', async () => {
  const post = async (path: string, body: object): Promise<Answer['body']> => {
    const made = await gateway.call('POST', path, { body });
    expect(made.status, JSON.stringify(made.body)).toBeLessThan(300);
    return made.body;
  };
  const agent = await post('/v1/agents', { name: 'watcher', model: 'other/llm' });
  const session = await post('/v1/sessions', { agent: agent.id });
  const source = { type: 'url', url: picture };
  const message = { type: 'user.message', content: [{ type: 'image', source }] };
  await post(`/v1/sessions/${session.id}/events`, { events: [message] });
  const sent = await eventually(() =>
    studio
      .asked()
      .map(({ body }) => body.toString())
      .find((body) => body.includes('"max_tokens"') && body.includes('"stream":true')),
  );
  expect(JSON.parse(sent).messages[0].content[0]).toMatchObject({
    source: { type: 'base64', media_type: 'image/png', data: DATA },
  });
  const { body: events } = await gateway.call('GET', `/v1/sessions/${session.id}/events`);
  expect(JSON.stringify(events)).toContain(picture);
  expect(JSON.stringify(events)).not.toContain(DATA);
});
