import { Buffer } from 'node:buffer';
import { describe, expect, it } from 'vitest';
import type { AssetHolder, AssetRecord, AssetRecords } from '../../src/assets/asset-records.ts';
import { createMediaResolver } from '../../src/assets/media-resolver.ts';
import type { MediaResolverDeps } from '../../src/assets/media-resolver.ts';
import type { Media, Registrar } from '../../src/assets/registrar.ts';
import type { FormPart } from '../../src/core/form.ts';
import { fromBytes } from '../../src/core/memory/spooled-body.ts';
import type { RequestPeek, WireProtocol } from '../../src/protocols/protocol.ts';
import { scanRequest } from '../../src/protocols/scan-request.ts';
import { fakeAccount } from '../support/catalog.ts';

const OURS: AssetHolder = { by: 'gateway', mediaType: 'image/png', size: 3, digest: 'd' };
const THEIRS: AssetHolder = { by: 'provider', account: 'prov_keeper' };
const ACCOUNT = fakeAccount('other');
const PROTOCOL = {} as WireProtocol;

interface Given {
  holder?: AssetHolder;
  bytes?: string;
  name?: string | null;
  publicUrl?: string;
  maxBodyBytes?: number;
  /** Undefined while the media is not ready. */
  isReady?: boolean;
}

function setUp(given: Given = {}) {
  const { holder = OURS, bytes = 'abc', name = null, isReady = true } = given;
  const opened: string[] = [];
  const find = async (organization: string, externalId: string) =>
    organization === 'org_1' && externalId.startsWith('m_')
      ? ({ id: 'asset_1', externalId, organization, type: 'Image', name, at: 0, holder } as const)
      : undefined;
  const open = async ({ externalId }: AssetRecord): Promise<Media | undefined> => {
    opened.push(externalId);
    const content = fromBytes(Buffer.from(bytes));
    return isReady ? { mediaType: 'image/png', content } : undefined;
  };
  const deps: MediaResolverDeps = {
    records: { find } as Partial<AssetRecords> as AssetRecords,
    registrarOf: () => ({ open }) as Partial<Registrar> as Registrar,
    links: { create: (id, origin) => `${origin}/${id}`, secondsLeft: () => undefined },
    publicUrl: given.publicUrl,
    maxBodyBytes: given.maxBodyBytes ?? 1_000,
  };
  return { opened, resolver: createMediaResolver(deps) };
}

function peekOf(text: string): RequestPeek {
  const body = Buffer.from(text);
  const json = scanRequest(body);
  return { body, json, members: json.members, inputBound: 10 } as unknown as RequestPeek;
}

const caller = { protocol: PROTOCOL, organization: 'org_1' };

async function bodyFor(text: string, given: Given = {}, account = ACCOUNT): Promise<string> {
  const media = await setUp(given).resolver.resolve(peekOf(text), caller);
  return ((await media?.peekFor(account))?.body ?? '').toString();
}

describe('the media of a request', () => {
  it('is none where the request names none', () => {
    const { resolver } = setUp();
    expect(resolver.resolve(peekOf('{"image":"https://x"}'), caller)).toBeUndefined();
    expect(resolver.resolve(peekOf('{"text":"asset://m_1"}'), caller)).toBeUndefined();
  });

  it('is refused with its path where the organization does not have it', async () => {
    const { resolver, opened } = setUp();
    const text = '{"input":[{"image_url":"asset://m_1"},{"image_url":"asset://x_1"}]}';
    await expect(resolver.resolve(peekOf(text), caller)).rejects.toMatchObject({
      code: 'invalid_request',
      param: 'input[1].image_url',
      message: 'input[1].image_url: there is no such asset',
    });
    const foreign = { protocol: PROTOCOL, organization: 'org_2' };
    await expect(resolver.resolve(peekOf(text), foreign)).rejects.toMatchObject({
      param: 'input[0].image_url',
    });
    expect(opened).toEqual([]);
  });

  it('may cost 16,384 tokens for each that is named', async () => {
    const text = '{"images":["asset://m_1","asset://m_1"]}';
    const media = await setUp().resolver.resolve(peekOf(text), caller);
    expect(media?.peek.inputBound).toBe(10 + 2 * 16_384);
    expect((await media?.peekFor(ACCOUNT))?.inputBound).toBe(10 + 2 * 16_384);
  });

  it('is sent as bytes, in the order of the document, and opened once', async () => {
    const { resolver, opened } = setUp();
    const text = '{"images":["asset://m_1","asset://m_2","asset://m_1"]}';
    const media = await resolver.resolve(peekOf(text), caller);
    const data = '"data:image/png;base64,YWJj"';
    for (const _ of [1, 2]) {
      const peek = await media?.peekFor(ACCOUNT);
      expect(peek?.body.toString()).toBe(`{"images":[${data},${data},${data}]}`);
      expect(peek?.json.value).toEqual(JSON.parse(peek?.body.toString() ?? ''));
      expect(peek?.members.map(({ key }) => key)).toEqual(['images']);
    }
    expect(opened).toEqual(['m_1', 'm_2']);
  });

  it('stays a reference at the provider that gave it out, and nowhere else', async () => {
    const text = '{"image":"asset://m_1"}';
    const keeper = fakeAccount('keeper');
    expect(await bodyFor(text, { holder: THEIRS }, keeper)).toBe(text);
    expect(await bodyFor(text, { holder: THEIRS })).not.toBe(text);
    expect(await bodyFor(text, { holder: OURS }, keeper)).not.toBe(text);
  });

  it('is refused while it is not ready', async () => {
    await expect(bodyFor('{"image":"asset://m_1"}', { isReady: false })).rejects.toMatchObject({
      code: 'invalid_request',
      message: 'image: the asset is not ready yet; GET /v1/assets/m_1',
    });
  });

  it('fails where its bytes cannot be read', async () => {
    const broken = new Error('gone');
    const failing = createMediaResolver({
      records: {
        find: async () => ({ externalId: 'm_1', holder: OURS, name: null }) as AssetRecord,
      } as Partial<AssetRecords> as AssetRecords,
      registrarOf: () =>
        ({
          open: async () => ({
            mediaType: 'image/png',
            content: {
              length: 3,
              async *open() {
                yield Buffer.from('a');
                throw broken;
              },
            },
          }),
        }) as Partial<Registrar> as Registrar,
      links: { create: () => '', secondsLeft: () => undefined },
      publicUrl: undefined,
      maxBodyBytes: 1_000,
    });
    const named = await failing.resolve(peekOf('{"image":"asset://m_1"}'), caller);
    await expect(named?.peekFor(ACCOUNT)).rejects.toMatchObject({
      code: 'media_failed',
      cause: broken,
    });
  });
});

describe('the size of a request with its media', () => {
  const text = '{"image":"asset://m_1"}';

  it.each([
    ['abc', 4],
    ['abcd', 8],
    ['', 0],
  ])('counts the base64 of %j', async (bytes, more) => {
    const maxBodyBytes = text.length + more;
    expect(await bodyFor(text, { bytes, maxBodyBytes })).toContain('base64,');
    if (more === 0) return;
    await expect(bodyFor(text, { bytes, maxBodyBytes: maxBodyBytes - 1 })).rejects.toMatchObject({
      code: 'body_too_large',
      message: `with the media that it names the request is larger than ${maxBodyBytes - 1} bytes`,
    });
  });

  it('counts all media together', async () => {
    const two = '{"images":["asset://m_1","asset://m_2"]}';
    const maxBodyBytes = two.length + 8;
    expect(await bodyFor(two, { maxBodyBytes })).toContain('base64,');
    await expect(bodyFor(two, { maxBodyBytes: maxBodyBytes - 1 })).rejects.toMatchObject({
      code: 'body_too_large',
    });
  });
});

describe('the link to media', () => {
  const fetching = fakeAccount('other', { fetchesMedia: true });
  const publicUrl = 'https://gateway.example';
  const url = '{"image_url":"asset://m_1"}';
  const linked = '{"image_url":"https://gateway.example/m_1"}';

  it('is for providers that fetch what the gateway keeps, however large that is', async () => {
    expect(await bodyFor(url, { publicUrl, maxBodyBytes: 0 }, fetching)).toBe(linked);
  });

  it.each<[string, string, Given, typeof ACCOUNT]>([
    ['a provider that does not fetch', url, { publicUrl }, ACCOUNT],
    ['a gateway that providers do not reach', url, {}, fetching],
    ['media of another provider', url, { publicUrl, holder: THEIRS }, fetching],
    ['a member for bytes', '{"image":{"data":"asset://m_1"}}', { publicUrl }, fetching],
  ])('is not for %s', async (...[, text, given, account]) => {
    expect(await bodyFor(text, given, account)).toContain('YWJj');
  });
});

describe('the media of a form', () => {
  const form = (...parts: FormPart[]): RequestPeek =>
    ({ ...peekOf('{}'), form: { parts } }) as unknown as RequestPeek;

  it('becomes a file in the place of its field, and other fields stay', async () => {
    const { resolver } = setUp({ name: 'fox.png' });
    const prompt: FormPart = { name: 'prompt', value: 'asset://m_1' };
    const image: FormPart = { name: 'image[]', value: 'asset://m_1' };
    const media = await resolver.resolve(form(prompt, image), caller);
    const peek = await media?.peekFor(ACCOUNT);
    expect(peek?.form?.parts).toEqual([
      prompt,
      {
        name: 'image[]',
        filename: 'fox.png',
        contentType: 'image/png',
        content: expect.objectContaining({ length: 3 }),
      },
    ]);
  });

  it('is named by its id where it has no name', async () => {
    const media = await setUp().resolver.resolve(
      form({ name: 'image', value: 'asset://m_1' }),
      caller,
    );
    const peek = await media?.peekFor(ACCOUNT);
    expect(peek?.form?.parts).toMatchObject([{ filename: 'm_1' }]);
  });

  it('is none where no field names any', () => {
    const { resolver } = setUp();
    const file: FormPart = {
      name: 'image',
      filename: 'a',
      contentType: 'image/png',
      content: fromBytes(Buffer.from('asset://m_1')),
    };
    const text: FormPart = { name: 'prompt', value: 'asset://m_1' };
    expect(resolver.resolve(form(file, text), caller)).toBeUndefined();
  });
});
