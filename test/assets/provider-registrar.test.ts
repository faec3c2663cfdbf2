import { Buffer } from 'node:buffer';
import { describe, expect, it } from 'vitest';
import type { AssetRecord } from '../../src/assets/asset-records.ts';
import { createProviderRegistrar } from '../../src/assets/provider-registrar.ts';
import type { Registration } from '../../src/assets/registrar.ts';
import type { AssetEndpoints } from '../../src/providers/define-provider.ts';
import { UrlGuardError } from '../../src/upstream/guard/url-guard-error.ts';
import type { UrlGuard } from '../../src/upstream/guard/url-guard.ts';
import { UpstreamError } from '../../src/upstream/transport.ts';
import type { Transport, UpstreamRequest } from '../../src/upstream/transport.ts';
import { fakeAccount } from '../support/catalog.ts';
import { createFakeClock } from '../support/fake-clock.ts';

const ENDPOINTS: AssetEndpoints = { create: '/media', get: '/media/{id}' };
const ASKED: Registration = {
  url: 'https://files.example/fox.png',
  type: 'Image',
  name: null,
  organization: 'org_1',
  signal: new AbortController().signal,
};
const ASSET: AssetRecord = {
  id: 'asset_1',
  externalId: 'm/1 $&',
  organization: 'org_1',
  type: 'Image',
  name: null,
  at: 0,
  holder: { by: 'provider', account: 'prov_keeper' },
};

type Answer = readonly [status: number, body: unknown] | Error;

function setUp(answers: Answer[], assets: AssetEndpoints | undefined = ENDPOINTS) {
  const sent: UpstreamRequest[] = [];
  const organizations: string[] = [];
  const account = fakeAccount('keeper', { baseUrl: 'https://keeper.example/v1', assets });
  const transport: Transport = {
    send(request, sink) {
      sent.push(request);
      const answer = answers.shift() ?? new UpstreamError('connect', 'nothing');
      queueMicrotask(() => {
        if (answer instanceof Error) return sink.onError(answer as UpstreamError);
        sink.onHead(answer[0], {});
        const [, body] = answer;
        sink.onData(Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)));
        sink.onEnd();
      });
      return {
        isWaiting: false,
        abort: () => undefined,
        pause: () => undefined,
        resume: () => undefined,
      };
    },
    close: async () => undefined,
  };
  const checked: string[] = [];
  const guard = {
    async check(url: string) {
      checked.push(url);
      if (url.includes('private')) throw new UrlGuardError('address', 'it is private');
      if (url.includes('bug')) throw new TypeError('bug');
      return new URL(url);
    },
  } as Partial<UrlGuard> as UrlGuard;
  const registrar = createProviderRegistrar('keeper', {
    transportFor(_account, organization) {
      organizations.push(organization);
      return transport;
    },
    clock: createFakeClock(),
    guard,
    account: (named) => (named === 'keeper' || named === 'prov_keeper' ? account : undefined),
    maxBytes: 1_000,
    timeoutMs: 1_000,
  });
  const bodies = (): unknown[] =>
    sent.map(({ body }) => (Buffer.isBuffer(body) ? JSON.parse(body.toString()) : undefined));
  return { registrar, sent, bodies, checked, organizations };
}

describe('registering media with a provider', () => {
  it('tells it the URL, and gives the reference that it gave', async () => {
    const { registrar, sent, bodies, organizations } = setUp([[201, { id: 'm_1' }]]);
    expect(await registrar.register({ ...ASKED, name: 'fox' })).toEqual({
      externalId: 'm_1',
      holder: { by: 'provider', account: 'prov_keeper' },
    });
    expect(sent).toMatchObject([{ method: 'POST' }]);
    expect(sent[0]?.url.href).toBe('https://keeper.example/v1/media');
    expect(sent[0]?.headers.join(' ')).toBe(
      'authorization Bearer upstream-secret-value accept application/json content-type application/json',
    );
    expect(bodies()).toEqual([{ url: ASKED.url, asset_type: 'Image', name: 'fox' }]);
    expect(organizations).toEqual(['org_1']);
  });

  it('speaks of it in the words of the provider', async () => {
    const own: AssetEndpoints = {
      ...ENDPOINTS,
      request: { url: 'source', type: 'kind', name: 'title' },
      response: { id: '$.data.ref' },
    };
    const { registrar, bodies } = setUp([[200, { id: 'no', data: { ref: 'asset://m_2' } }]], own);
    expect(await registrar.register(ASKED)).toMatchObject({ externalId: 'm_2' });
    expect(bodies()).toEqual([{ source: ASKED.url, kind: 'Image' }]);
  });

  it('waits before it asks the provider', async () => {
    const { registrar, sent } = setUp([[200, { id: 'm_1' }]]);
    const before = async (): Promise<never> => {
      throw new Error('not noted');
    };
    await expect(registrar.register({ ...ASKED, before })).rejects.toThrow('not noted');
    expect(sent).toEqual([]);
  });

  it('refuses a URL that may not be called, before the provider is asked', async () => {
    const { registrar, sent } = setUp([]);
    const asking = (url: string) => registrar.register({ ...ASKED, url });
    await expect(asking('https://private.example')).rejects.toMatchObject({
      code: 'invalid_request',
      param: 'url',
      message: 'url: it is private',
    });
    await expect(asking('https://bug.example')).rejects.toThrow(TypeError);
    expect(sent).toEqual([]);
  });

  it.each<[string, Answer, string]>([
    ['no reference', [200, {}], 'the provider gave no reference'],
    ['a reference that is none', [200, { id: 'a/b' }], 'the provider gave no reference'],
    ['a number', [200, { id: 7 }], 'the provider gave no reference'],
    ['a refusal', [300, { id: 'm_1' }], 'the provider that keeps media answered 300'],
    ['an early status', [199, { id: 'm_1' }], 'the provider that keeps media answered 199'],
    ['no JSON', [200, 'm_1'], 'the provider that keeps media answered 200'],
    ['a list', [200, []], 'the provider that keeps media answered 200'],
    ['nothing', new UpstreamError('reset', 'x'), 'the provider that keeps media did not answer'],
  ])('fails where the provider answers with %s', async (_what, answer, message) => {
    const { registrar } = setUp([answer]);
    await expect(registrar.register(ASKED)).rejects.toMatchObject({
      code: 'media_failed',
      message,
    });
  });

  it('needs an account that keeps media', async () => {
    const account = fakeAccount('keeper');
    const { registrar } = setUp([]);
    const without = createProviderRegistrar('keeper', {
      transportFor: () => {
        throw new Error('not asked');
      },
      clock: createFakeClock(),
      guard: { check: async (url: string) => new URL(url) } as Partial<UrlGuard> as UrlGuard,
      account: () => account,
      maxBytes: 1,
      timeoutMs: 1,
    });
    await expect(without.register(ASKED)).rejects.toMatchObject({ code: 'no_credential' });
    await registrar.forget('m_1', ASSET.holder);
  });
});

describe('looking at media of a provider', () => {
  it('asks whoever registered it, and gives its own word', async () => {
    const { registrar, sent } = setUp([
      [200, { status: 'done', download_url: 'https://keeper.example/f' }],
    ]);
    expect(await registrar.look(ASSET, '')).toEqual({
      status: 'done',
      downloadUrl: 'https://keeper.example/f',
    });
    expect(sent).toMatchObject([{ method: 'GET', body: undefined }]);
    expect(sent[0]?.url.href).toBe('https://keeper.example/v1/media/m%2F1%20%24%26');
  });

  it('has no link where the provider tells none, and reads its paths', async () => {
    const response = { status: '$.state.name', download_url: '$.links[0]' };
    const answers: Answer[] = [
      [200, { state: { name: 'busy' } }],
      [200, { state: { name: 'done' }, links: ['https://l'] }],
    ];
    const { registrar } = setUp(answers, { ...ENDPOINTS, response });
    expect(await registrar.look(ASSET, '')).toEqual({ status: 'busy', downloadUrl: '' });
    expect(await registrar.look(ASSET, '')).toEqual({ status: 'done', downloadUrl: 'https://l' });
  });

  it('fails where the provider tells no status, or is not there any more', async () => {
    const { registrar } = setUp([[200, { status: 7 }]]);
    await expect(registrar.look(ASSET, '')).rejects.toMatchObject({
      code: 'media_failed',
      message: 'the provider told no status',
    });
    const gone = [
      { by: 'provider', account: 'prov_gone' },
      { by: 'gateway', mediaType: 'image/png', size: 1, digest: 'd' },
    ] as const;
    for (const holder of gone)
      await expect(registrar.look({ ...ASSET, holder }, '')).rejects.toMatchObject({
        code: 'media_failed',
        message: 'the provider that keeps this media is not available',
      });
  });

  it('opens nothing while there is no link', async () => {
    const { registrar } = setUp([[200, { status: 'busy' }]]);
    expect(await registrar.open(ASSET)).toBeUndefined();
  });
});
