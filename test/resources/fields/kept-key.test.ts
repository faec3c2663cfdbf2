import { beforeEach, describe, expect, it } from 'vitest';
import { allows } from '../../../src/core/access.ts';
import type { Role } from '../../../src/core/access.ts';
import { makeResources } from '../make-resources.ts';
import type { Resources } from '../make-resources.ts';

const URL_OF_IT = 'https://api.example/v1';
const PROVIDER = { name: 'p', type: 'custom', base_url: URL_OF_IT, protocols: { chat: true } };
const API = { name: 'a', base_url: URL_OF_IT };

let resources: Resources;

beforeEach(() => {
  resources = makeResources();
});

const call = (request: string, body: object, role: Role | null = 'operator') =>
  resources.call(request, { body, rights: { has: () => true, may: (use) => allows(role, use) } });

describe.each([
  ['provider', 'providers/p', PROVIDER],
  ['API', 'apis/a', API],
])('the key of a %s', (_what, path, body) => {
  const [collection] = path.split('/');
  const set = (changes: object, role?: Role | null) => call(`PATCH ${path}`, changes, role);
  const ELSEWHERE = { base_url: 'https://elsewhere.example/v1' };

  beforeEach(async () => {
    const made = await call(`POST ${collection}`, { ...body, api_key: 'secret' });
    expect(made.status).toBe(201);
  });

  it.each(['https://elsewhere.example/v1', 'http://api.example/v1', 'https://api.example:8443/v1'])(
    'is not sent to %s by those who could not read it',
    async (base_url) => {
      expect(await set({ base_url })).toMatchObject({
        status: 400,
        body: {
          param: 'api_key',
          message: expect.stringMatching(/^api_key: is needed beside a new base_url/),
        },
      });
      expect((await call(`GET ${path}`, {})).body['base_url']).toBe(URL_OF_IT);
    },
  );

  it('goes elsewhere with a new one, or without one', async () => {
    expect(await set({ ...ELSEWHERE, api_key: 'other' })).toMatchObject({ status: 200 });
    const auth = { type: 'none' };
    expect(await set({ base_url: URL_OF_IT, api_key: null, auth })).toMatchObject({ status: 200 });
    expect(await set(ELSEWHERE)).toMatchObject({ status: 200 });
  });

  it.each([null, 'admin'] as const)('goes where the role %s says', async (role) => {
    expect(await set(ELSEWHERE, role)).toMatchObject({ status: 200 });
  });

  it('stays while anything else changes, the path of the address too', async () => {
    const changes = { base_url: 'https://api.example/v2', enabled: false, connections: 3 };
    expect(await set(changes)).toMatchObject({ status: 200, body: { api_key_configured: true } });
  });
});

it('is not sent through another proxy either', async () => {
  await call('POST providers', { ...PROVIDER, api_key: 'secret' });
  const proxied = await call('PATCH providers/p', { proxy: 'http://proxy.example:3128' });
  expect(proxied).toMatchObject({ status: 400, body: { param: 'api_key' } });
});

it('is at the address of the type where the provider names none', async () => {
  await call('POST providers', { name: 'o', type: 'openai', api_key: 'secret' });
  const moved = await call('PATCH providers/o', { base_url: 'https://elsewhere.example/v1' });
  expect(moved).toMatchObject({ status: 400, body: { param: 'api_key' } });
  const named = await call('PATCH providers/o', { base_url: 'https://api.openai.com/v1' });
  expect(named).toMatchObject({ status: 200 });
});
