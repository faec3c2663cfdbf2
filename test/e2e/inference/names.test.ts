import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startVendor } from '../../support/fake-vendor.ts';
import type { FakeVendor } from '../../support/fake-vendor.ts';
import { newDirectory, startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { verifies } from '../../requirements.ts';

let vendor: FakeVendor;
let gateway: TestGateway;

const provider = (name: string, models: unknown): object => ({
  name,
  type: 'custom',
  base_url: vendor.baseUrl,
  api_key: '${secret:env:VENDOR_KEY}',
  models,
});

beforeAll(async () => {
  vendor = await startVendor(['gpt-5', 'gpt-5-mini', 'o3']);
  gateway = await startGateway(
    {
      providers: [
        provider('acme', 'all'),
        provider('some', ['gpt-*']),
        { name: 'google', type: 'mock', models: 'all' },
      ],
      models: [
        { name: 'acme/o3', routes: [{ provider: 'acme', upstream_model: 'own-o3' }] },
        { name: 'team/cheap', routes: [{ provider: 'acme' }], fallbacks: ['acme/o3'] },
      ],
      aliases: { 'claude-*': 'acme/claude-*', fast: 'team/cheap' },
    },
    { env: { VENDOR_KEY: 'vendor-secret' } },
  );
  await listed('acme/gpt-5');
});
afterAll(async () => {
  await gateway.stop();
  await vendor.close();
});

async function idsOf(key?: string): Promise<string[]> {
  const { body } = await gateway.call('GET', '/v1/models', key === undefined ? {} : { key });
  return body.data.map(({ id }: { id: string }) => id);
}

const listed = (id: string, key?: string) =>
  vi.waitFor(async () => expect(await idsOf(key)).toContain(id), { timeout: 10_000 });

async function keyFor(allowed: string[]): Promise<string> {
  const name = `for-${allowed.join('-')}`;
  const body = { name, organization: 'default', allowed_models: allowed };
  return (await gateway.admin('POST', '/admin/v1/keys', body)).body.value;
}

const textOf = async (model: string, key?: string) => {
  const answer = await gateway.chat(model, key === undefined ? {} : { key });
  return answer.status === 200 ? answer.body.choices[0].message.content : answer.status;
};

describe('a provider with models', () => {
  it(
    verifies(
      'providers.models.wildcard',
      'is asked for provider/model, the name passed through; a name outside its patterns is unknown',
    ),
    async () => {
      expect(await textOf('acme/never-listed:v1')).toBe('from never-listed:v1');
      expect(await textOf('some/gpt-4.1')).toBe('from gpt-4.1');
      expect(await textOf('acme/o3')).toBe('from own-o3');
      const refused = await gateway.chat('some/o3');
      expect(refused.status).toBe(404);
      expect(refused.body.error.message).toContain('the model `some/o3` does not exist');
      expect(vendor.asked.at(-1)?.key).toBe('vendor-secret');
    },
  );

  it('shows what its list says, declared models in place of listed ones', async () => {
    await listed('some/gpt-5');
    expect((await idsOf()).filter((id) => !id.startsWith('google/'))).toEqual([
      'acme/gpt-5',
      'acme/gpt-5-mini',
      'acme/o3',
      'fast',
      'some/gpt-5',
      'some/gpt-5-mini',
      'team/cheap',
    ]);
    const one = await gateway.call('GET', '/v1/models/acme/gpt-5');
    expect(one.body).toMatchObject({ id: 'acme/gpt-5', owned_by: 'acme', created: 1_700_000_000 });
  });
});

describe('an alias', () => {
  it(
    verifies('aliases.map', 'leads to its model, and the record shows the alias and the model'),
    async () => {
      const answer = await gateway.chat('claude-opus-4');
      expect(answer.body.choices[0].message.content).toBe('from claude-opus-4');
      expect(await textOf('fast')).toBe('from cheap');
      const id = answer.headers.get('x-request-id');
      await vi.waitFor(async () => {
        const { body } = await gateway.admin('GET', `/admin/v1/requests/${id}`);
        expect(body).toMatchObject({ alias: 'claude-opus-4', model: 'acme/claude-opus-4' });
      });
    },
  );

  it(
    verifies(
      'models.explain.precedence',
      'is explained by the rules that routing follows, in their order',
    ),
    async () => {
      const explain = async (name: string) => {
        const { body } = await gateway.admin('GET', `/admin/v1/routing?model=${name}`);
        return { rules: body.resolved_by?.map((step: { rule: string }) => step.rule), ...body };
      };
      expect(await explain('acme/o3')).toMatchObject({ rules: ['model'], model: 'acme/o3' });
      expect(await explain('fast')).toMatchObject({
        rules: ['alias', 'model'],
        asked: 'fast',
        model: 'team/cheap',
      });
      expect(await explain('claude-x')).toMatchObject({
        resolved_by: [
          { rule: 'alias', by: 'claude-*', gives: 'acme/claude-x' },
          { rule: 'provider', by: 'acme', pattern: '*', gives: 'acme/claude-x' },
        ],
        candidates: [{ provider: 'acme', upstream_model: 'claude-x' }],
      });
      expect(await textOf('claude-x')).toBe('from claude-x');
      const path = '/admin/v1/routing?protocol=generate-content&model=gemini-x';
      expect((await gateway.admin('GET', path)).body.resolved_by).toMatchObject([
        { rule: 'vendor', by: 'google', gives: 'google/gemini-x' },
        { rule: 'provider' },
      ]);
    },
  );
});

describe('allowed_models', () => {
  it(
    verifies(
      'allowed-models.resolved',
      'must name the resolved model and the name that was asked for',
    ),
    async () => {
      const both = await keyFor(['claude-*', 'acme/claude-*']);
      expect(await textOf('claude-opus-4', both)).toBe('from claude-opus-4');
      const aliasAlone = await keyFor(['claude-*', 'fast']);
      expect(await textOf('claude-opus-4', aliasAlone)).toBe(404);
      expect(await textOf('fast', aliasAlone)).toBe(404);
      const modelAlone = await keyFor(['acme/claude-*', 'team/*']);
      expect(await textOf('claude-opus-4', modelAlone)).toBe(404);
      expect(await textOf('acme/claude-opus-4', modelAlone)).toBe('from claude-opus-4');
      expect(await textOf('acme/gpt-5', modelAlone)).toBe(404);
    },
  );

  it('holds for lists, single models, runs and bare names', async () => {
    const key = await keyFor(['claude-*', 'fast', 'acme/gpt-*']);
    expect(await idsOf(key)).toEqual(['acme/gpt-5', 'acme/gpt-5-mini']);
    const status = async (method: string, path: string, body?: object) =>
      (await gateway.call(method, path, { key, body })).status;
    expect(await status('GET', '/v1/models/fast')).toBe(404);
    expect(await status('GET', '/v1/models/acme/gpt-9')).toBe(200);
    expect(await status('GET', '/v1beta/models/claude-1')).not.toBe(200);
    expect(await status('POST', '/v1/run', { model: 'fast', input: {} })).toBe(404);
    const contents = { contents: [{ parts: [{ text: 'hello' }] }] };
    const bare = '/v1beta/models/gemini-x:generateContent';
    expect(await status('POST', bare, contents)).toBe(404);
    const google = await keyFor(['google/*']);
    const headers = { 'x-goog-api-key': google };
    const options = { key: '', headers, body: contents };
    expect((await gateway.call('POST', bare, options)).status).toBe(200);
  });
});

it(
  verifies(
    'providers.models.discovery',
    'a list is kept in the store and stands while the provider is down or its list fails',
  ),
  async () => {
    const other = await startVendor(Array.from({ length: 5_010 }, (_, i) => `m${i + 10_000}`));
    const directory = await newDirectory();
    const config = {
      server: { store: { driver: 'lmdb' } },
      providers: [{ name: 'big', type: 'custom', base_url: other.baseUrl, models: 'all' }],
    };
    const first = await startGateway(config, { directory });
    const count = async ({ call }: TestGateway, key: string) =>
      (await call('GET', '/v1/models', { key })).body.data.length as number;
    await vi.waitFor(async () => expect(await count(first, first.adminKey)).toBe(5_000), 10_000);
    other.listStatus = 500;
    await first.admin('PATCH', '/admin/v1/providers/big', { header_spelling: 'native' });
    const asked = other.asked.length;
    await vi.waitFor(() => expect(other.asked.length).toBeGreaterThan(asked), 10_000);
    expect(await count(first, first.adminKey)).toBe(5_000);
    await first.stop();
    await other.close();
    const second = await startGateway(config, { directory });
    expect(await count(second, second.adminKey)).toBe(5_000);
    await second.stop();
  },
  60_000,
);
