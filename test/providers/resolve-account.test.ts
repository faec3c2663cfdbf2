import { describe, expect, it } from 'vitest';
import { vendorOf } from '../../src/providers/account.ts';
import { resolveAccount } from '../../src/providers/resolve-account.ts';
import type { ProviderSettings } from '../../src/providers/resolve-account.ts';

function resolve(settings: Partial<ProviderSettings>, key: string | undefined = 'key') {
  return resolveAccount({ id: 'prov_1', name: 'one', provider_type: 'openai', ...settings }, key);
}

function failure(settings: Partial<ProviderSettings>, key?: string | null): unknown {
  try {
    resolveAccount(
      { id: 'prov_1', name: 'one', provider_type: 'openai', ...settings },
      key === null ? undefined : (key ?? 'key'),
    );
  } catch (error) {
    return error;
  }
  return undefined;
}

describe('the vendor of an account', () => {
  it('is the type of provider, or the address of one that has no other', () => {
    const custom = { provider_type: 'custom', base_url: 'http://10.0.0.1/v1' };
    expect(vendorOf(resolve({ base_url: 'https://eu.api.openai.com/v1' }))).toBe('openai');
    expect(vendorOf(resolve({ ...custom, id: 'prov_2' }))).toBe(vendorOf(resolve(custom)));
    expect(vendorOf(resolve({ ...custom, base_url: 'http://10.0.0.2/v1' }))).not.toBe(
      vendorOf(resolve(custom)),
    );
  });
});

describe('resolveAccount', () => {
  it('takes everything from the type where the resource says nothing', () => {
    expect(resolve({ base_url: null, auth: null, headers: null, protocols: null })).toMatchObject({
      id: 'prov_1',
      name: 'one',
      baseUrl: 'https://api.openai.com/v1',
      auth: { type: 'bearer' },
      credential: 'key',
      headers: {},
      headerSpelling: 'vendor',
      noStreamUsage: false,
      mock: undefined,
    });
  });

  it('takes what the resource says instead', () => {
    const account = resolve({
      base_url: 'http://10.0.0.1:8080/openai/v1/',
      auth: { type: 'header', name: 'X-Key' },
      headers: { 'X-Team': 'a' },
      header_spelling: 'native',
      stream_usage: false,
      mock: { cassette: 'x' },
    });
    expect(account).toMatchObject({
      baseUrl: 'http://10.0.0.1:8080/openai/v1',
      auth: { type: 'header', name: 'X-Key' },
      headers: { 'x-team': 'a' },
      headerSpelling: 'native',
      noStreamUsage: true,
      mock: { cassette: 'x' },
    });
  });

  it('a provider that refuses stream_options stays so when the resource has the default', () => {
    expect(resolve({ provider_type: 'mistral', stream_usage: true }).noStreamUsage).toBe(true);
  });

  it('protocols name what is spoken, with the usual path, the standard one or an own one', () => {
    const account = resolve({
      provider_type: 'custom',
      base_url: 'https://host.example/v1',
      protocols: { chat: true, messages: true, images: { path: '/pictures' } },
    });
    expect(account.protocols).toEqual({
      chat: { path: '/chat/completions' },
      messages: { path: '/messages' },
      images: { path: '/pictures' },
    });
  });

  it("an operator's auth holds for every protocol", () => {
    const plain = resolve({ provider_type: 'google' });
    expect(plain.protocols.chat?.auth).toEqual({ type: 'bearer' });
    const own = resolve({ provider_type: 'google', auth: { type: 'query', name: 'key' } });
    expect(own.protocols.chat?.auth).toBeUndefined();
    const both = resolve({
      provider_type: 'google',
      auth: { type: 'none' },
      protocols: { chat: true },
    });
    expect(both.protocols).toEqual({ chat: { path: '/v1beta/openai/chat/completions' } });
  });

  it('adds quirks to those of the type', () => {
    const { quirks } = resolve({
      provider_type: 'mistral',
      quirks: { chat: { drop: ['user', 'stream_options'] }, embeddings: { default: { x: 1 } } },
    });
    expect(quirks.chat).toEqual({
      drop: ['stream_options', 'user'],
      rename: { max_completion_tokens: 'max_tokens', seed: 'random_seed' },
      default: {},
      refuse: [],
    });
    expect(quirks.embeddings?.default).toEqual({ x: 1 });
  });

  it.each(['cohere', 'deepseek', 'mistral', 'ollama', 'together'])(
    'names the limit of tokens of %s as its servers know it',
    (provider_type) => {
      const { quirks } = resolve({ provider_type });
      expect(quirks.chat?.rename).toMatchObject({ max_completion_tokens: 'max_tokens' });
    },
  );

  it('needs no key where the type needs none', () => {
    expect(resolve({ provider_type: 'ollama' }, '').credential).toBeUndefined();
    expect(resolve({ provider_type: 'mock' }, '').credential).toBeUndefined();
    expect(resolve({ auth: { type: 'none' } }, '').credential).toBeUndefined();
  });

  it.each<[string, Partial<ProviderSettings>, string, string]>([
    ['an unknown type', { provider_type: 'OpenAi' }, 'type', 'did you mean openai?'],
    ['an unheard-of type', { provider_type: 'zzzzzz' }, 'type', 'known types: anthropic, azure-'],
    ['a missing address', { provider_type: 'custom' }, 'base_url', 'of type custom needs base_url'],
    ['an address that is none', { base_url: 'host.example' }, 'base_url', 'absolute http or https'],
    [
      'an address of another scheme',
      { base_url: 'ftp://h/' },
      'base_url',
      'absolute http or https',
    ],
    ['an address with a password', { base_url: 'http://u:p@h/' }, 'base_url', 'must not contain'],
    ['an address with a fragment', { base_url: 'http://h/#x' }, 'base_url', 'must not contain'],
    [
      'a path without a slash',
      { protocols: { chat: { path: 'chat' } } },
      'protocols.chat.path',
      '/',
    ],
    ['a reserved header', { headers: { Host: 'x' } }, 'headers', '"Host" cannot be set'],
    ['a header name that is none', { headers: { 'a b': 'x' } }, 'headers', 'cannot be set'],
    [
      'a header value with a line break',
      { headers: { a: 'x\r\ny: z' } },
      'headers',
      'cannot be sent',
    ],
    [
      'an authority that is no certificate',
      { tls: { ca: 'ca.pem' } },
      'tls.ca',
      'certificates in PEM',
    ],
    [
      'TLS for an address without it',
      { base_url: 'http://h/', tls: { server_name: 'models.example' } },
      'tls',
      'begins with https',
    ],
    [
      'a client certificate that is none',
      { tls: { cert: 'client.pem', key: 'k' } },
      'tls.cert',
      '${file:client.pem}',
    ],
    ['a private key alone', { tls: { key: 'k' } }, 'tls.cert', 'needs tls.cert'],
    ['an address as a name', { tls: { server_name: '10.0.0.1' } }, 'tls.server_name', 'a name'],
  ])('refuses %s and says why', (...[, settings, param, message]) => {
    expect(failure(settings)).toMatchObject({
      name: 'GatewayError',
      code: 'invalid_request',
      param,
      message: expect.stringContaining(message),
    });
  });

  it('refuses a missing key and says where it is usually kept', () => {
    expect(failure({}, null)).toMatchObject({
      param: 'api_key',
      message: 'a provider of type openai needs api_key, for example ${secret:env:OPENAI_API_KEY}',
    });
  });

  it('refuses a key that cannot be sent without showing it', () => {
    const error = failure({}, 'canary\nsecret');
    expect(error).toMatchObject({ param: 'api_key' });
    expect(String(error)).not.toContain('canary');
  });
});
