import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { PROTOCOL_IDS } from '../../src/protocols/registry.ts';
import { buildUpstreamRequest } from '../../src/providers/build-request.ts';
import type { ProviderAuth, ProviderDefinition } from '../../src/providers/define-provider.ts';
import { PROVIDERS } from '../../src/providers/registry.ts';
import { resolveAccount } from '../../src/providers/resolve-account.ts';
import { verifies } from '../requirements.ts';

const FOLDER = new URL('../../src/providers/', import.meta.url);

/** What is in the folder beside the providers themselves. */
const SHARED: ReadonlySet<string> = new Set([
  'account.ts',
  'build-request.ts',
  'define-provider.ts',
  'lend-credential.ts',
  'prepare-endpoint.ts',
  'registry.ts',
  'resolve-account.ts',
  'endpoint-rules.ts',
  'read-tls.ts',
]);

const FILES = [
  ...readdirSync(FOLDER).filter((name) => name.endsWith('.ts') && !SHARED.has(name)),
  ...readdirSync(new URL('local/', FOLDER)).map((name) => `local/${name}`),
];

/** Modules that the data of a provider is made of. */
const VOCABULARY = [
  'define-provider.ts',
  'listing/model-listing.ts',
  '../protocols/capabilities/open-models.ts',
];

const KEY = 'upstream-canary-key';

describe.each(FILES)('the provider file %s', (file) => {
  const source = readFileSync(new URL(file, FOLDER), 'utf8');

  it('is data of at most 40 lines that knows no other provider', () => {
    expect(source.trimEnd().split('\n').length).toBeLessThanOrEqual(40);
    const imports = [...source.matchAll(/from '([^']+)'/g)].map(([, path = '']) => path);
    const allowed = VOCABULARY.map((name) => new URL(name, FOLDER).href);
    const others = imports.filter(
      (path) => !allowed.includes(new URL(path, new URL(file, FOLDER)).href),
    );
    expect(others).toEqual([]);
  });

  it('is in the registry', async () => {
    const exported: unknown = await import(new URL(file, FOLDER).href);
    const definitions = Object.values(exported ?? {});
    expect(definitions).toHaveLength(1);
    expect([...PROVIDERS.values()]).toContain(definitions[0]);
  });
});

it('the registry has every provider file and the mock, under its own id', () => {
  expect(PROVIDERS.size).toBe(FILES.length + 1);
  for (const [id, definition] of PROVIDERS) expect(definition.id).toBe(id);
});

describe.each([...PROVIDERS.values()])('the provider $id', (definition) => {
  const account = resolveAccount(
    {
      id: 'prov_1',
      name: 'one',
      provider_type: definition.id,
      ...(definition.baseUrl ? {} : { base_url: 'https://upstream.example/v1' }),
    },
    KEY,
  );
  const spoken = PROTOCOL_IDS.filter((protocol) => definition.protocols[protocol]);

  it('has an id and a name, and an address that is encrypted unless it is local', () => {
    expect(definition.id).toMatch(/^[a-z][a-z0-9-]*$/);
    expect(definition.displayName).not.toBe('');
    if (definition.baseUrl === undefined) return;
    const url = new URL(definition.baseUrl);
    expect(url.search + url.hash + url.username).toBe('');
    expect(definition.baseUrl).not.toMatch(/\/$/);
    if (url.protocol !== 'https:') expect(['127.0.0.1', 'local']).toContain(url.hostname);
  });

  it('speaks something, at paths that begin with a slash', () => {
    expect(spoken.length).toBeGreaterThan(0);
    for (const protocol of spoken) {
      const path = definition.protocols[protocol]?.path ?? '';
      expect(path).toMatch(/^\/[\w./:{}-]*\w}?$/);
      expect(path.includes('{model}')).toBe(protocol === 'generate-content');
      expect(path.includes('{method}')).toBe(protocol === 'generate-content');
    }
  });

  it('says where the key goes and where people keep it', () => {
    for (const auth of authsOf(definition)) {
      if (auth.type === 'header' || auth.type === 'query') expect(auth.name).toMatch(/^[a-z-]+$/);
    }
    for (const name of definition.envKeys ?? []) expect(name).toMatch(/^[A-Z][A-Z0-9_]+$/);
    expect(definition.envKeys !== undefined).toBe(!['custom', 'mock'].includes(definition.id));
  });

  it.each(spoken)(
    verifies(
      'auth.upstream.client-credential-not-forwarded',
      'gets its own credential once and none of the client on %s',
    ),
    (protocol) => {
      const { url, headers } = buildUpstreamRequest({
        account,
        protocol,
        upstreamModel: 'vendor/model 1',
        stream: true,
        body: Buffer.from('{}'),
        clientHeaders: {
          authorization: 'Bearer client-canary',
          'x-api-key': 'client-canary',
          'x-native-api-key': 'client-canary',
          'x-goog-api-key': 'client-canary',
          cookie: 'session=client-canary',
          'native-version': '2026-01-01',
        },
      });
      const sent = `${url.href}\n${headers.join('\n')}`;
      expect(sent.split(KEY)).toHaveLength(definition.auth.type === 'none' ? 1 : 2);
      expect(sent).not.toContain('client-canary');
      expect(headers).not.toContain('cookie');
      const names = headers.filter((_, index) => index % 2 === 0);
      expect(new Set(names).size).toBe(names.length);
      expect(url.href).not.toMatch(/[{}]|%7B/);
    },
  );
});

function authsOf(definition: ProviderDefinition): ProviderAuth[] {
  const ofEndpoints = Object.values(definition.protocols).flatMap(({ auth }) => auth ?? []);
  return [definition.auth, ...ofEndpoints];
}
