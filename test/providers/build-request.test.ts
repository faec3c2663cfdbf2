import { describe, expect, it } from 'vitest';
import type { Protocol } from '../../src/protocols/registry.ts';
import type { ProviderAccount } from '../../src/providers/account.ts';
import { buildUpstreamRequest } from '../../src/providers/build-request.ts';
import type { UpstreamRequestOptions } from '../../src/providers/build-request.ts';
import { resolveAccount } from '../../src/providers/resolve-account.ts';
import type { ProviderSettings } from '../../src/providers/resolve-account.ts';

function account(settings: Partial<ProviderSettings>, key = 'the-key'): ProviderAccount {
  return resolveAccount({ id: 'prov_1', name: 'one', provider_type: 'openai', ...settings }, key);
}

function build(
  from: ProviderAccount,
  protocol: Protocol,
  options: Partial<UpstreamRequestOptions> = {},
) {
  const request = buildUpstreamRequest({
    account: from,
    protocol,
    upstreamModel: 'model-1',
    body: Buffer.from('{}'),
    stream: false,
    ...options,
  });
  const headers: Record<string, string | undefined> = {};
  for (let index = 0; index < request.headers.length; index += 2) {
    headers[request.headers[index] ?? ''] = request.headers[index + 1];
  }
  return { ...request, url: request.url.href, headers };
}

describe('buildUpstreamRequest', () => {
  it('joins address, credential and content headers', () => {
    expect(build(account({}), 'chat')).toEqual({
      url: 'https://api.openai.com/v1/chat/completions',
      method: 'POST',
      headers: {
        authorization: 'Bearer the-key',
        'content-type': 'application/json',
        accept: 'application/json',
      },
      body: Buffer.from('{}'),
    });
    expect(build(account({}), 'chat', { stream: true }).headers['accept']).toBe(
      'text/event-stream',
    );
  });

  it('uses the same address and headers for every plain request of an account', () => {
    const from = account({});
    const options = {
      account: from,
      protocol: 'chat',
      upstreamModel: 'm',
      body: Buffer.from('{}'),
      stream: true,
    } as const;
    const [first, second] = [buildUpstreamRequest(options), buildUpstreamRequest(options)];
    expect(first.url).toBe(second.url);
    expect(first.headers).toBe(second.headers);
  });

  it('keeps the query of the base URL', () => {
    const from = account({ base_url: 'https://h.example/openai/?api-version=1' });
    expect(build(from, 'chat').url).toBe('https://h.example/openai/chat/completions?api-version=1');
    expect(build(from, 'chat', { query: 'a=b' }).url).toMatch(/\?api-version=1&a=b$/);
  });

  it.each<[ProviderSettings['auth'], string, string | undefined, string]>([
    [{ type: 'header', name: 'X-Key' }, 'x-key', 'the-key', ''],
    [
      { type: 'header', name: 'authorization', prefix: 'Token ' },
      'authorization',
      'Token the-key',
      '',
    ],
    [{ type: 'query', name: 'key' }, 'authorization', undefined, '?key=the-key'],
    [{ type: 'none' }, 'authorization', undefined, ''],
  ])('puts the credential where %j says', (...[auth, name, value, search]) => {
    const request = build(account({ auth }), 'chat');
    expect(request.headers[name]).toBe(value);
    expect(new URL(request.url).search).toBe(search);
  });

  it('the credential wins over a header of the account, and other headers are sent', () => {
    const from = account({ headers: { Authorization: 'Bearer old', 'X-Team': 'a', Accept: 'x' } });
    expect(build(from, 'chat').headers).toMatchObject({
      authorization: 'Bearer the-key',
      'x-team': 'a',
      accept: 'application/json',
    });
  });

  it('encodes the model into the path and chooses the method by streaming', () => {
    const google = account({ provider_type: 'google' });
    const base = 'https://generativelanguage.googleapis.com/v1beta/models';
    expect(build(google, 'generate-content', { upstreamModel: 'a/b?c' }).url).toBe(
      `${base}/a%2Fb%3Fc:generateContent`,
    );
    expect(build(google, 'generate-content', { stream: true }).url).toBe(
      `${base}/model-1:streamGenerateContent?alt=sse`,
    );
    expect(build(google, 'generate-content', { operation: 'countTokens' }).url).toBe(
      `${base}/model-1:countTokens`,
    );
  });

  it('reaches what is below and beside a path, and never leaves it', () => {
    const from = account({});
    expect(
      build(from, 'images', { operation: 'edits', contentType: 'multipart/form-data; boundary=x' }),
    ).toMatchObject({
      url: 'https://api.openai.com/v1/images/edits',
      headers: { 'content-type': 'multipart/form-data; boundary=x' },
    });
    const got = build(from, 'responses', {
      below: ['a/b', 'items'],
      method: 'GET',
      body: undefined,
    });
    expect(got.url).toBe('https://api.openai.com/v1/responses/a%2Fb/items');
    expect(got.method).toBe('GET');
    expect(got.headers).not.toHaveProperty('content-type');
    for (const part of ['..', '.', '']) {
      expect(() => build(from, 'responses', { below: [part] })).toThrow('not a valid name or id');
    }
  });

  it('refuses a protocol that the account does not speak', () => {
    expect(() => build(account({}), 'messages')).toThrow('provider one does not speak messages');
  });

  it('works for an account that was not resolved', () => {
    const { endpoints: _endpoints, ...bare } = account({});
    expect(build(bare, 'chat')).toEqual(build(account({}), 'chat'));
  });
});

describe('the headers of a Messages request', () => {
  const anthropic = (settings: Partial<ProviderSettings> = {}) =>
    account({ provider_type: 'anthropic', ...settings });

  it('have a version when the client sent none', () => {
    expect(build(anthropic(), 'messages').headers).toMatchObject({
      'x-api-key': 'the-key',
      'anthropic-version': '2023-06-01',
    });
    expect(build(anthropic(), 'messages').headers).not.toHaveProperty('anthropic-beta');
    const empty = build(anthropic(), 'messages', { clientHeaders: { 'native-version': '' } });
    expect(empty.headers['anthropic-version']).toBe('2023-06-01');
  });

  it("have the client's version and its betas as one list", () => {
    const { headers } = build(anthropic(), 'messages', {
      clientHeaders: { 'native-version': '2026-10-21', 'native-beta': [' a , b', 'c,,a'] },
    });
    expect(headers['anthropic-version']).toBe('2026-10-21');
    expect(headers['anthropic-beta']).toBe('a,b,c');
  });

  it('lack the betas that the provider must not see', () => {
    const drop = (drop_betas: string[]) => anthropic({ drop_betas });
    const clientHeaders = { 'native-beta': 'a,b' };
    expect(build(drop(['a']), 'messages', { clientHeaders }).headers['anthropic-beta']).toBe('b');
    expect(build(drop(['*']), 'messages', { clientHeaders }).headers).not.toHaveProperty(
      'anthropic-beta',
    );
  });

  it('pass over a provider that cannot serve a beta, unless it is left out', () => {
    const refusing =
      (refuse_betas: string[], drop_betas: string[] = []) =>
      () =>
        build(anthropic({ refuse_betas, drop_betas }), 'messages', {
          clientHeaders: { 'native-beta': 'a,b' },
        }).headers['anthropic-beta'];
    const error = expect.objectContaining({
      code: 'unsupported_feature',
      param: 'native-beta',
      message: expect.stringContaining('`b`'),
    });
    expect(refusing(['b'])).toThrow(error);
    expect(refusing(['*'], ['a'])).toThrow(error);
    expect(refusing(['*'], ['a', 'b'])()).toBeUndefined();
    expect(refusing(['c'])()).toBe('a,b');
  });

  it('take both spellings, the neutral version first', () => {
    const alias = { 'anthropic-version': '2025-01-01', 'anthropic-beta': 'a,b' };
    expect(build(anthropic(), 'messages', { clientHeaders: alias }).headers).toMatchObject(alias);
    const both = { ...alias, 'native-version': '2026-01-01', 'native-beta': 'b,c' };
    expect(build(anthropic(), 'messages', { clientHeaders: both }).headers).toMatchObject({
      'anthropic-version': '2026-01-01',
      'anthropic-beta': 'b,c,a',
    });
  });

  it('are spelled neutrally when the account says so', () => {
    const { headers } = build(anthropic({ header_spelling: 'native' }), 'messages', {
      clientHeaders: { 'anthropic-beta': 'a' },
    });
    expect(headers).toMatchObject({ 'native-version': '2023-06-01', 'native-beta': 'a' });
    expect(Object.keys(headers).filter((name) => name.startsWith('anthropic'))).toEqual([]);
  });

  it("an operator's own version stands in for a missing one and betas are joined", () => {
    const from = anthropic({
      headers: { 'anthropic-version': '2024-01-01', 'anthropic-beta': 'x' },
    });
    expect(build(from, 'messages').headers).toMatchObject({
      'anthropic-version': '2024-01-01',
      'anthropic-beta': 'x',
    });
    const clientHeaders = { 'native-version': '2025-01-01', 'native-beta': 'a' };
    expect(build(from, 'messages', { clientHeaders }).headers).toMatchObject({
      'anthropic-version': '2025-01-01',
      'anthropic-beta': 'x,a',
    });
  });

  it('are sent to no other protocol', () => {
    const { headers } = build(account({}), 'chat', { clientHeaders: { 'native-version': 'x' } });
    expect(Object.keys(headers).filter((name) => /version|beta/.test(name))).toEqual([]);
  });
});
