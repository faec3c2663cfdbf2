import { describe, expect, it } from 'vitest';
import { buildUpstreamRequest } from '../../src/providers/build-request.ts';
import { lendCredential } from '../../src/providers/lend-credential.ts';
import type { ClientCredential } from '../../src/providers/lend-credential.ts';
import { resolveAccount } from '../../src/providers/resolve-account.ts';
import type { ProviderSettings } from '../../src/providers/resolve-account.ts';
import type { Protocol } from '../../src/protocols/registry.ts';
import { verifies } from '../requirements.ts';

const CLIENT = { type: 'client' } as const;

function resolve(settings: Partial<ProviderSettings>, key?: string) {
  const common = { id: 'prov_1', name: 'own', provider_type: 'openai', auth: CLIENT };
  return resolveAccount({ ...common, ...settings }, key);
}

function headersOf(
  settings: Partial<ProviderSettings>,
  protocol: Protocol,
  credential?: ClientCredential,
): Record<string, string> {
  const account = resolve(settings);
  const { headers } = buildUpstreamRequest({
    account: credential ? lendCredential(account, credential) : account,
    protocol,
    upstreamModel: 'm',
    body: Buffer.from('{}'),
    stream: false,
  });
  const pairs = headers.flatMap((name, at) => (at % 2 ? [] : [[name, headers[at + 1] ?? '']]));
  expect(new Set(pairs.map(([name]) => name)).size).toBe(pairs.length);
  return Object.fromEntries(pairs) as Record<string, string>;
}

const KEY = { form: 'key', value: 'own-key-1' } as const;
const TOKEN = { form: 'token', value: 'own-token-1' } as const;

describe('a provider with auth: client', () => {
  it.each([
    { type: 'openai', protocol: 'chat', lent: KEY, sent: { authorization: 'Bearer own-key-1' } },
    {
      type: 'openai',
      protocol: 'chat',
      lent: TOKEN,
      sent: { authorization: 'Bearer own-token-1' },
    },
    { type: 'anthropic', protocol: 'messages', lent: KEY, sent: { 'x-api-key': 'own-key-1' } },
    {
      type: 'anthropic',
      protocol: 'messages',
      lent: TOKEN,
      sent: { authorization: 'Bearer own-token-1' },
    },
    {
      type: 'google',
      protocol: 'generate-content',
      lent: KEY,
      sent: { 'x-goog-api-key': 'own-key-1' },
    },
    { type: 'google', protocol: 'chat', lent: KEY, sent: { authorization: 'Bearer own-key-1' } },
    {
      type: 'google',
      protocol: 'generate-content',
      lent: TOKEN,
      sent: { authorization: 'Bearer own-token-1' },
    },
    { type: 'deepseek', protocol: 'messages', lent: KEY, sent: { 'x-api-key': 'own-key-1' } },
    { type: 'deepseek', protocol: 'chat', lent: KEY, sent: { authorization: 'Bearer own-key-1' } },
  ] as const)(
    '$type over $protocol gets a $lent.form where it has its own',
    ({ type, protocol, lent, sent }) => {
      const settings = { provider_type: type, headers: { 'x-team': 'a' } };
      const headers = headersOf(settings, protocol, lent);
      expect(headers).toMatchObject({ ...sent, 'x-team': 'a' });
      const all = ['authorization', 'x-api-key', 'x-goog-api-key'];
      expect(all.filter((name) => headers[name] !== undefined)).toEqual(Object.keys(sent));
    },
  );

  it('is sent nothing without a credential, and no key of the operator', () => {
    for (const type of ['openai', 'anthropic', 'google', 'deepseek', 'ollama', 'mock']) {
      const account = resolve({ provider_type: type });
      expect(account.credential).toBeUndefined();
      for (const protocol of Object.keys(account.protocols) as Protocol[])
        expect(() => headersOf({ provider_type: type }, protocol)).toThrow(
          'provider own takes the credential of a client, and this call has none for it',
        );
    }
  });

  it(
    verifies('providers.client-auth', 'has no protocol whose work outlives a call, and no assets'),
    () => {
      expect(Object.keys(resolveAccount(GOOGLE, 'key').protocols)).toContain('interactions');
      expect(Object.keys(resolve(GOOGLE_LENT).protocols)).not.toContain('interactions');
      expect(resolve({ protocols: { chat: true } }).assets).toBeUndefined();
    },
  );

  it.each([
    [{ protocols: { chat: true, videos: true } }, 'protocols.videos', 'keeps no'],
    [{ protocols: { interactions: true } }, 'protocols.interactions', 'keeps no'],
    [{ assets: { create: '/a', get: '/a/{id}' } }, 'assets', 'leave assets out'],
    [{ headers: { Authorization: 'x' } }, 'headers.authorization', 'leave it out'],
    [
      { provider_type: 'anthropic', headers: { 'X-Api-Key': 'x' } },
      'headers.x-api-key',
      'leave it out',
    ],
  ] as const)('refuses %j', (settings, param, message) => {
    expect(() => resolve(settings)).toThrow(
      expect.objectContaining({ param, message: expect.stringContaining(message) }),
    );
  });

  it('refuses a key of the operator', () => {
    expect(() => resolve({}, 'a-key')).toThrow(
      expect.objectContaining({
        param: 'api_key',
        message: expect.stringContaining('leave api_key out'),
      }),
    );
  });
});

const GOOGLE = { id: 'prov_2', name: 'google', provider_type: 'google' };
const GOOGLE_LENT = { ...GOOGLE, auth: CLIENT };
