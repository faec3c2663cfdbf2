import { describe, expect, it, onTestFinished } from 'vitest';
import { createAssetHandlers } from '../../src/assets/asset-handlers.ts';
import { createAssetRecords } from '../../src/assets/asset-records.ts';
import type { AssetHolder } from '../../src/assets/asset-records.ts';
import { createMediaLinks } from '../../src/assets/media-links.ts';
import type { Media, Registrar, Registration } from '../../src/assets/registrar.ts';
import type { AuditNote } from '../../src/audit/audit-entry.ts';
import { createIdSource } from '../../src/core/ids.ts';
import { createSigner } from '../../src/core/seal.ts';
import { openMemoryStore } from '../../src/store/backends/memory/open-memory-store.ts';
import { StoreError } from '../../src/store/store.ts';
import type { RateLimiter } from '../../src/usage/rates/limiter.ts';
import type { Principal } from '../../src/usage/principal.ts';
import {
  answerOf,
  exchangeOf,
  keyring,
  namedCall,
  openResponse,
} from '../server/routes/handler-calls.ts';
import { createFakeClock } from '../support/fake-clock.ts';

const NOW = Date.parse('2026-11-28T00:00:00Z');
const HOLDER: AssetHolder = { by: 'gateway', mediaType: 'image/png', size: 3, digest: 'ab' };
const IMAGE = { url: 'https://pictures.example/a.png', asset_type: 'Image' };
const LINKS_MS = 60_000;

interface Setup extends Partial<Principal> {
  /** Commits that are asked for are not made. */
  readonly isFull?: boolean;
  /** Commits are made, and nobody hears of it. */
  readonly isUnheard?: boolean;
  /** The store cannot be read. */
  readonly isAway?: boolean;
  readonly media?: Media;
}

function setUp({ isFull = false, isUnheard = false, isAway = false, media, ...payer }: Setup = {}) {
  const clock = createFakeClock(NOW);
  const store = openMemoryStore(clock);
  onTestFinished(() => store.close());
  const registered: Registration[] = [];
  const forgotten: string[] = [];
  const looks: string[] = [];
  const callers: string[] = [];
  const notes: AuditNote[] = [];
  const registrar: Registrar = {
    async register(asked) {
      await asked.before?.();
      registered.push(asked);
      return { externalId: `media_${registered.length}`, holder: HOLDER };
    },
    forget: async (externalId) => void forgotten.push(externalId),
    async look(asset, origin) {
      looks.push(`${asset.externalId} ${origin}`);
      return { status: 'Active', downloadUrl: `${origin}/x` };
    },
    open: async () => media,
  };
  const ring = keyring(payer);
  const rates: RateLimiter = {
    ...ring.rates,
    admitPlatform: (caller) => Boolean(callers.push(caller)),
  };
  const links = createMediaLinks({
    clock,
    signer: createSigner([Buffer.alloc(32, 1)], 'media'),
    lifetimeMs: LINKS_MS,
  });
  const handlers = createAssetHandlers({
    ...ring,
    rates,
    clock,
    ids: createIdSource(clock),
    records: createAssetRecords({
      ...store,
      get: async (key) => {
        if (isAway) throw new StoreError('unavailable', 'away');
        return store.get(key);
      },
    }),
    registrar,
    registrarOf: () => registrar,
    links,
    publicUrl: undefined,
    repository: {
      audit: {
        async commit(ops, note) {
          notes.push(note);
          if (isFull) throw new Error('full');
          const result = await store.commit(ops);
          if (isUnheard) throw new StoreError('unavailable', 'no answer');
          return result;
        },
      },
    },
  });
  const create = (body: object, more = {}) =>
    answerOf(handlers.create, { method: 'POST', path: '/v1/assets', body, ...more });
  const get = (path: string, more = {}) =>
    answerOf(handlers.get, { path: `/v1/assets/${path}`, ...more });
  return {
    store,
    clock,
    links,
    create,
    get,
    handlers,
    inside: ring.inside,
    registered,
    forgotten,
    looks,
    callers,
    notes,
  };
}

describe('an asset that is registered', () => {
  it('is told with its reference, kept, and noted', async () => {
    const { create, get, notes, registered, looks } = setUp();
    const made = await create({ ...IMAGE, name: 'a picture' });
    expect(made).toEqual({
      status: 201,
      body: {
        id: expect.stringMatching(/^asset_/),
        asset_url: 'asset://media_1',
        asset_type: 'Image',
        name: 'a picture',
        created_at: '2026-11-28T00:00:00.000Z',
      },
    });
    const { id } = made.body as { id: string };
    expect(registered).toMatchObject([
      { url: IMAGE.url, type: 'Image', name: 'a picture', organization: 'org_1' },
    ]);
    expect(notes).toMatchObject([
      { action: 'create', object: { kind: 'asset', id, name: 'a picture' }, organization: 'org_1' },
    ]);
    expect(await get('media_1', { headers: { host: 'gateway.example' } })).toEqual({
      status: 200,
      body: {
        ...(made.body as object),
        external_id: 'media_1',
        status: 'Active',
        download_url: 'http://gateway.example/x',
      },
    });
    expect(looks).toEqual(['media_1 http://gateway.example']);
  });

  it('has no name where none is said', async () => {
    const { create } = setUp();
    expect((await create(IMAGE)).body).toMatchObject({ name: null });
    expect((await create({ ...IMAGE, name: null })).body).toMatchObject({ name: null });
  });

  it('is the answer of its named call from then on', async () => {
    const { create, store } = setUp();
    const { named, kept, acts } = namedCall();
    const made = await create(IMAGE, { named });
    expect([kept, acts]).toEqual([[made], [undefined]]);
    expect((await store.get(['kept', 1]))?.value).toBe(201);
  });

  it('is given up by its holder where it cannot be kept', async () => {
    const { create, forgotten, get } = setUp({ isFull: true });
    await expect(create(IMAGE)).rejects.toThrow('full');
    expect(forgotten).toEqual(['media_1']);
    await expect(get('media_1')).rejects.toMatchObject({ code: 'not_found' });
  });

  it('keeps its media where its record may have been kept', async () => {
    const unheard = setUp({ isUnheard: true });
    await expect(unheard.create(IMAGE)).rejects.toMatchObject({ code: 'unavailable' });
    expect(await unheard.get('media_1')).toMatchObject({ status: 200 });
    const away = setUp({ isFull: true, isAway: true });
    await expect(away.create(IMAGE)).rejects.toThrow('full');
    expect([unheard.forgotten, away.forgotten]).toEqual([[], []]);
  });

  it('is given up when its client leaves', async () => {
    const { handlers, registered, inside } = setUp();
    const response = openResponse();
    const asked = { method: 'POST', path: '/v1/assets', body: IMAGE, response };
    await handlers.create(exchangeOf(asked));
    expect([registered[0]?.signal.aborted, inside.now]).toEqual([false, 1]);
    response.emit('close');
    expect([registered[0]?.signal.aborted, inside.now]).toEqual([true, 0]);
  });

  it.each<[object, string, string]>([
    [{ asset_type: 'Image' }, 'url', '`url` is required'],
    [{ ...IMAGE, url: '' }, 'url', '`url` is required'],
    [{ ...IMAGE, url: `https://a/${'x'.repeat(8_192)}` }, 'url', '`url` is too long'],
    [{ url: IMAGE.url }, 'asset_type', '`asset_type` is required'],
    [{ ...IMAGE, asset_type: 'Text' }, 'asset_type', '`asset_type` must be Image, Video, Audio'],
    [{ ...IMAGE, name: 7 }, 'name', '`name` must be a text'],
    [{ ...IMAGE, name: 'x'.repeat(257) }, 'name', '`name` is too long'],
  ])('is refused as %o', async (body, param, message) => {
    const { create, registered } = setUp();
    const error = { code: 'invalid_request', param, message };
    await expect(create(body)).rejects.toMatchObject(error);
    expect(registered).toEqual([]);
  });

  it('takes a URL and a name of the greatest length', async () => {
    const { create } = setUp();
    const url = `https://a/${'x'.repeat(8_192 - 10)}`;
    expect(await create({ ...IMAGE, url, name: 'x'.repeat(256) })).toMatchObject({ status: 201 });
  });
});

describe('an asset that is asked for', () => {
  it('is found by a path that ends with a slash', async () => {
    const { create, get } = setUp();
    await create(IMAGE);
    expect(await get('media_1/')).toEqual(await get('media_1'));
  });

  it.each(['media_9', '', 'media_1/content/more', 'media_1/other', '%E0'])(
    'is not found at %j',
    async (path) => {
      const { create, get } = setUp();
      await create(IMAGE);
      await expect(get(path)).rejects.toMatchObject({
        code: 'not_found',
        message: 'asset not found',
      });
    },
  );

  it('is asked for by a key with the scope', async () => {
    const { create, get } = setUp({ scopes: new Set(['models']) });
    for (const asked of [create(IMAGE), get('media_1')])
      await expect(asked).rejects.toMatchObject({ status: 403 });
  });
});

describe('the content of an asset', () => {
  const media = {
    mediaType: 'image/png',
    content: { length: 3, open: () => [Buffer.from('png')] },
  } as unknown as Media;

  it('is for those who have a link, without a key', async () => {
    const { create, get, links, callers } = setUp({ media });
    await create(IMAGE);
    const link = new URL(links.create('media_1', 'http://gateway.example'));
    const asked = { search: link.search, headers: { authorization: '' } };
    callers.length = 0;
    expect(await get('media_1/content', asked)).toMatchObject({
      status: 200,
      headers: { 'content-length': '3', 'cache-control': 'private, max-age=60', etag: '"ab"' },
    });
    expect(callers).toEqual(['client']);
    const head = await get('media_1/content', { ...asked, method: 'HEAD' });
    expect([head.status, head.body]).toEqual([200, undefined]);
  });

  it('is refused without a link that holds, and counts as such', async () => {
    const { create, get, links, clock, callers } = setUp({ media });
    await create(IMAGE);
    const link = new URL(links.create('media_1', 'http://gateway.example'));
    callers.length = 0;
    await expect(get('media_1/content')).rejects.toMatchObject({ code: 'link_refused' });
    const other = { search: link.search };
    await expect(get('media_2/content', other)).rejects.toMatchObject({ code: 'link_refused' });
    clock.advance(LINKS_MS + 1_000);
    await expect(get('media_1/content', other)).rejects.toMatchObject({ code: 'link_refused' });
    expect(callers).toEqual(['refused', 'refused', 'refused']);
  });

  it('is not found before it is ready, or where nothing is registered', async () => {
    const { create, get, links } = setUp();
    await create(IMAGE);
    for (const id of ['media_1', 'media_2']) {
      const { search } = new URL(links.create(id, 'http://gateway.example'));
      await expect(get(`${id}/content`, { search })).rejects.toMatchObject({ code: 'not_found' });
    }
  });
});
