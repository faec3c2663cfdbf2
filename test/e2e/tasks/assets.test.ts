import { Buffer } from 'node:buffer';
import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verifies } from '../../requirements.ts';
import { newDirectory, startGateway } from '../../support/gateway.ts';
import type { Answer, TestGateway } from '../../support/gateway.ts';
import { MP3, MP4, PNG, startMediaStudio } from '../../support/stage/media-studio.ts';
import type { MediaStudio } from '../../support/stage/media-studio.ts';

let studio: MediaStudio;
let gateway: TestGateway;

beforeAll(async () => {
  studio = await startMediaStudio();
  gateway = await startGateway({
    server: {
      outbound: { allow: [new URL(studio.url).host] },
      media: { max_size: '10MiB', link_lifetime: '1h' },
    },
  });
});
afterAll(async () => {
  await gateway.stop();
  await studio.close();
});

const create = (body: object, key?: string): Promise<Answer> =>
  gateway.call('POST', '/v1/assets', { body, ...(key !== undefined && { key }) });
const photo = async (extra: object = {}): Promise<Answer['body']> => {
  const made = await create({ url: `${studio.url}/photo.png`, asset_type: 'Image', ...extra });
  expect(made.status, JSON.stringify(made.body)).toBe(201);
  return made.body;
};
const externalIdOf = ({ asset_url: url }: { asset_url: string }): string =>
  url.slice('asset://'.length);
const newKey = async (fields: object = {}): Promise<string> => {
  const made = await gateway.admin('POST', '/admin/v1/keys', {
    name: `k${Math.random()}`,
    ...fields,
  });
  expect(made.status, JSON.stringify(made.body)).toBe(201);
  return made.body.value;
};

describe('POST /v1/assets', () => {
  it(
    verifies(
      'assets.create.response',
      'resource.create.201',
      'answers 201 with a permanent reference',
    ),
    async () => {
      const named = await photo({ name: 'a fox' });
      expect(named).toEqual({
        id: expect.stringMatching(/^asset_[0-9a-z]{26}$/),
        asset_url: expect.stringMatching(/^asset:\/\/[\w-]+$/),
        asset_type: 'Image',
        name: 'a fox',
        created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      });
      expect(await photo()).toMatchObject({ name: null });
      expect(await photo({ name: null })).toMatchObject({ name: null });
    },
  );

  it(
    verifies('assets.create.required', 'errors.flat.which', 'names the field that is missing'),
    async () => {
      const url = `${studio.url}/photo.png`;
      for (const [body, field] of [
        [{ asset_type: 'Image' }, 'url'],
        [{ url }, 'asset_type'],
        [{ url: '', asset_type: 'Image' }, 'url'],
        [{ url: 7, asset_type: 'Image' }, 'url'],
        [{ url, asset_type: 'Image', name: 7 }, 'name'],
      ] as const) {
        const { status, body: told } = await create(body);
        expect([status, told]).toEqual([400, { error: expect.stringContaining(`\`${field}\``) }]);
      }
      expect((await gateway.call('POST', '/v1/assets', { body: 'no json' })).status).toBe(400);
    },
  );

  it(
    verifies('assets.create.type-values', 'takes Image, Video and Audio in exactly that case'),
    async () => {
      for (const [file, type] of [
        ['photo.png', 'Image'],
        ['clip.mp4', 'Video'],
        ['sound.mp3', 'Audio'],
      ]) {
        const made = await create({ url: `${studio.url}/${file}`, asset_type: type });
        expect([made.status, made.body.asset_type]).toEqual([201, type]);
      }
      for (const type of ['image', 'IMAGE', 'video', 'Document', '', null, 7]) {
        const { status, body } = await create({ url: `${studio.url}/photo.png`, asset_type: type });
        expect([status, body.error]).toEqual([400, expect.stringContaining('asset_type')]);
      }
    },
  );

  it('takes media for what its bytes are, not for what it is called', async () => {
    const before = await gateway.gateway?.store.list({ prefix: ['asset'] });
    for (const [file, type] of [
      ['page.png', 'Image'],
      ['photo.png', 'Video'],
      ['photo.png', 'Audio'],
      ['clip.mp4', 'Image'],
    ]) {
      const { status, body } = await create({ url: `${studio.url}/${file}`, asset_type: type });
      expect([status, body.error]).toEqual([400, expect.stringContaining(`no ${type}`)]);
    }
    expect(await gateway.gateway?.store.list({ prefix: ['asset'] })).toEqual(before);
  });

  it(
    verifies(
      'assets.create.url-guard',
      'ops.ssrf.guard',
      'calls no address that is not public, not behind a redirect either',
    ),
    async () => {
      const { port } = new URL(studio.url);
      const seen = studio.seen.length;
      for (const url of [
        'file:///etc/passwd',
        'ftp://example.com/a.png',
        'asset://media_1',
        'data:image/png;base64,AAAA',
        'not a url',
        `http://localhost:${port}/photo.png`,
        `http://[::1]:${port}/photo.png`,
        `http://[::ffff:127.0.0.1]:${port}/photo.png`,
        'http://127.0.0.2:8080/photo.png',
        'http://10.0.0.1/photo.png',
        'http://169.254.169.254/latest/meta-data',
        'http://metadata.google.internal/',
        'http://user:secret@127.0.0.1/photo.png',
      ]) {
        const { status, body } = await create({ url, asset_type: 'Image' });
        expect([url, status, body]).toEqual([url, 400, { error: expect.stringMatching(/^url: /) }]);
      }
      expect(studio.seen.length).toBe(seen);
      for (const target of [
        'http://169.254.169.254/latest/meta-data',
        `http://localhost:${port}/photo.png`,
        'file:///etc/passwd',
      ]) {
        studio.target = target;
        const moved = await create({ url: `${studio.url}/moved`, asset_type: 'Image' });
        expect([target, moved.status]).toEqual([target, 400]);
      }
      studio.target = '/photo.png';
      const moved = await create({ url: `${studio.url}/moved`, asset_type: 'Image' });
      expect(moved.status).toBe(201);
    },
  );

  it(
    verifies('assets.create.502-500', 'answers 502 and keeps nothing when the media cannot be had'),
    async () => {
      const hasty = await startGateway({
        server: {
          outbound: { allow: [new URL(studio.url).host, '127.0.0.1:9'] },
          media: { fetch_timeout: '300ms' },
        },
      });
      try {
        for (const url of [
          `${studio.url}/none.png`,
          `${studio.url}/never`,
          'http://127.0.0.1:9/a.png',
        ]) {
          const body = { url, asset_type: 'Image' };
          const answer = await hasty.call('POST', '/v1/assets', { body });
          expect([url, answer.status, answer.body]).toEqual([
            url,
            502,
            { error: expect.any(String) },
          ]);
        }
        expect(await hasty.gateway?.store.list({ prefix: ['asset'] })).toEqual([]);
      } finally {
        await hasty.stop();
      }
    },
  );

  it('refuses media above the limit', async () => {
    const small = await startGateway({
      server: {
        outbound: { allow: [new URL(studio.url).host] },
        media: { max_size: '1MiB' },
      },
    });
    try {
      const body = { url: `${studio.url}/clip.mp4`, asset_type: 'Video' };
      const refused = await small.call('POST', '/v1/assets', { body });
      expect([refused.status, refused.body.error]).toEqual([
        400,
        expect.stringContaining('larger'),
      ]);
    } finally {
      await small.stop();
    }
  });

  it('needs a key with the scope assets', async () => {
    const body = { url: `${studio.url}/photo.png`, asset_type: 'Image' };
    expect((await create(body, '')).status).toBe(401);
    const other = await newKey({ scopes: ['inference'] });
    expect([(await create(body, other)).status]).toEqual([403]);
    const own = await newKey({ scopes: ['assets'] });
    expect((await create(body, own)).status).toBe(201);
  });
});

describe('GET /v1/assets/{external_id}', () => {
  it(verifies('assets.get.response', 'tells status and where the media is'), async () => {
    const made = await photo({ name: 'a fox' });
    const id = externalIdOf(made);
    const { status, body } = await gateway.call('GET', `/v1/assets/${id}`);
    expect([status, body]).toEqual([
      200,
      {
        ...made,
        external_id: id,
        status: 'Active',
        download_url: expect.stringContaining(`${gateway.url}/v1/assets/${id}/content?`),
      },
    ]);
  });

  it(verifies('assets.get.by-external-id', 'does not know the internal id'), async () => {
    const made = await photo();
    expect(made.id).not.toBe(externalIdOf(made));
    const { status } = await gateway.call('GET', `/v1/assets/${made.id}`);
    expect(status).toBe(404);
  });

  it(
    verifies(
      'assets.get.404-502',
      'resource.org-isolation',
      'tells nobody of the assets of another organization',
    ),
    async () => {
      await gateway.admin('POST', '/admin/v1/organizations', { name: 'others' });
      const key = await newKey({ organization: 'others' });
      const id = externalIdOf(await photo());
      const foreign = await gateway.call('GET', `/v1/assets/${id}`, { key });
      const unknown = await gateway.call('GET', '/v1/assets/media_none', { key });
      expect([foreign.status, foreign.body]).toEqual([404, { error: 'asset not found' }]);
      expect([unknown.status, unknown.body]).toEqual([foreign.status, foreign.body]);
      for (const path of ['/%ff', `/${id}/other`, `/${id}/content/x`, `/${'x'.repeat(5_000)}`]) {
        expect([path, (await gateway.call('GET', `/v1/assets${path}`)).status]).toEqual([
          path,
          404,
        ]);
      }
    },
  );
});

describe('download_url', () => {
  const linkTo = async (file: string, type: string): Promise<string> => {
    const made = await create({ url: `${studio.url}/${file}`, asset_type: type, name: 'été "1"' });
    const { body } = await gateway.call('GET', `/v1/assets/${externalIdOf(made.body)}`);
    return body.download_url;
  };
  const read = async (url: string, headers: Record<string, string> = {}, method = 'GET') => {
    const response = await fetch(url, { headers, method });
    return { response, bytes: Buffer.from(await response.arrayBuffer()) };
  };

  it('gives the media to whoever has the link, as a download', async () => {
    const { response, bytes } = await read(await linkTo('photo.png', 'Image'));
    expect(response.status).toBe(200);
    expect(bytes.equals(PNG)).toBe(true);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'image/png',
      'content-length': String(PNG.length),
      'content-disposition': "attachment; filename*=UTF-8''%C3%A9t%C3%A9%20%221%22",
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; sandbox",
      'accept-ranges': 'bytes',
      'cache-control': expect.stringMatching(/^private, max-age=3[56]\d\d$/),
    });
  });

  it('gives ranges, over the pieces in which it is kept', async () => {
    const url = await linkTo('clip.mp4', 'Video');
    const size = MP4.length;
    const cut = 4 * 1024 * 1024;
    for (const [range, start, end] of [
      ['bytes=0-0', 0, 1],
      [`bytes=${cut - 3}-${cut + 4}`, cut - 3, cut + 5],
      [`bytes=${cut}-`, cut, size],
      [`bytes=-${cut + 7}`, size - cut - 7, size],
      [`bytes=${size - 2}-${size + 500}`, size - 2, size],
      [`bytes=-${size * 2}`, 0, size],
    ] as const) {
      const { response, bytes } = await read(url, { range });
      expect([range, response.status]).toEqual([range, 206]);
      expect(response.headers.get('content-range')).toBe(`bytes ${start}-${end - 1}/${size}`);
      expect(bytes.equals(MP4.subarray(start, end))).toBe(true);
    }
    for (const range of ['bytes=5-2', 'bytes=-', 'lines=1-2', 'bytes=0-1,4-5']) {
      const { response, bytes } = await read(url, { range });
      expect([range, response.status, bytes.length]).toEqual([range, 200, size]);
    }
    for (const range of [`bytes=${size}-`, 'bytes=-0']) {
      const { response } = await read(url, { range });
      expect([range, response.status]).toEqual([range, 416]);
      expect(response.headers.get('content-range')).toBe(`bytes */${size}`);
    }
  });

  it('answers HEAD and asks about what a client has already', async () => {
    const url = await linkTo('photo.png', 'Image');
    const head = await read(url, {}, 'HEAD');
    expect([head.response.status, head.bytes.length]).toEqual([200, 0]);
    expect(head.response.headers.get('content-length')).toBe(String(PNG.length));
    const etag = head.response.headers.get('etag') ?? '';
    expect((await read(url, { 'if-none-match': etag })).response.status).toBe(304);
    const same = await read(url, { range: 'bytes=1-2', 'if-range': etag });
    expect([same.response.status, same.bytes.length]).toEqual([206, 2]);
    const other = await read(url, { range: 'bytes=1-2', 'if-range': '"other"' });
    expect([other.response.status, other.bytes.length]).toEqual([200, PNG.length]);
  });

  it('holds for its time alone, for this media alone, and lists nothing', async () => {
    const url = new URL(await linkTo('photo.png', 'Image'));
    const other = new URL(await linkTo('photo.png', 'Image'));
    const changed = (change: (target: URL) => void): string => {
      const target = new URL(url);
      change(target);
      return target.href;
    };
    for (const link of [
      changed(({ searchParams }) => searchParams.set('expires', '99999999999')),
      changed(({ searchParams }) => searchParams.set('signature', 'x')),
      changed(({ searchParams }) => searchParams.delete('signature')),
      changed((target) => (target.search = '')),
      changed((target) => (target.pathname = other.pathname)),
    ]) {
      const { response, bytes } = await read(link);
      expect([link, response.status]).toEqual([link, 403]);
      expect(JSON.parse(bytes.toString())).toEqual({ error: expect.any(String) });
    }
    for (const path of ['/v1/assets/', '/v1/assets']) {
      const { status } = await gateway.call('GET', path);
      expect([404, 405]).toContain(status);
    }
  });
});

it(
  verifies('assets.reference.permanent', 'keeps references, links and media over a restart'),
  async () => {
    const directory = await newDirectory();
    const server = { store: { driver: 'lmdb' }, outbound: { allow: [new URL(studio.url).host] } };
    const first = await startGateway({ server }, { directory });
    const key = first.clientKey;
    const asked = { url: `${studio.url}/photo.png`, asset_type: 'Image' };
    const made = await first.call('POST', '/v1/assets', { body: asked });
    const path = `/v1/assets/${externalIdOf(made.body)}`;
    const before = await first.call('GET', path);
    await first.stop();
    const second = await startGateway({ server }, { directory });
    try {
      const after = await second.call('GET', path, { key });
      expect(after.body).toEqual({ ...before.body, download_url: expect.any(String) });
      const old = before.body.download_url.replace(first.url, second.url);
      for (const link of [old, after.body.download_url]) {
        const response = await fetch(link);
        expect(Buffer.from(await response.arrayBuffer()).equals(PNG)).toBe(true);
      }
    } finally {
      await second.stop();
      await rm(directory, { recursive: true, force: true });
    }
  },
);

it('keeps no media in the memory of one process of several', async () => {
  const config = { server: { workers: 2, media: { driver: 'memory' } } };
  await expect(startGateway(config)).rejects.toThrow('server.media.driver memory');
});

it('keeps the sound as it was', async () => {
  const made = await create({ url: `${studio.url}/sound.mp3`, asset_type: 'Audio' });
  const { body } = await gateway.call('GET', `/v1/assets/${externalIdOf(made.body)}`);
  const response = await fetch(body.download_url);
  expect(response.headers.get('content-type')).toBe('audio/mpeg');
  expect(Buffer.from(await response.arrayBuffer()).equals(MP3)).toBe(true);
});
