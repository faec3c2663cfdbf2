import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { metricsText } from '../../../src/server/process/metrics.ts';
import type { SurfaceRow } from '../../conformance/surface.ts';
import { verifies } from '../../requirements.ts';
import { eventually, startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { FAMILY_ROWS } from '../fuzz/families.ts';

type Asked = Pick<SurfaceRow, 'name' | 'path' | 'body' | 'contentType' | 'carriers'>;

const bearer: Asked['carriers'] = [(key) => ({ headers: { authorization: `Bearer ${key}` } })];

/** Every way to ask for a model or an API. */
const WAYS: readonly (Asked & { modelType?: string })[] = [
  ...FAMILY_ROWS,
  {
    name: 'api',
    path: (model) => `/v1/api/${model.replace(/^.*\//, '')}/now`,
    body: () => '{}',
    carriers: bearer,
  },
  {
    name: 'run',
    path: () => '/v1/run',
    body: (model) => JSON.stringify({ model, input: { messages: [] } }),
    carriers: bearer,
  },
];
const CALLS_MODELS = WAYS.filter(({ name }) => name !== 'api' && name !== 'run');

const TYPES = [...new Set(FAMILY_ROWS.map(({ modelType = 'llm' }) => modelType))];
/** The organization and the key have this much, which the first call of the free-handed model costs. */
const LIMIT = '0.01';

let gateway: TestGateway;
const keys: Record<string, string> = {};

beforeAll(async () => {
  const own = { type: 'custom', auth: { type: 'none' }, base_url: 'http://127.0.0.1:9/v1' };
  const protocols = Object.fromEntries(FAMILY_ROWS.map(({ protocol }) => [protocol, true]));
  const config = {
    server: { log: { format: 'json' }, metrics: { listen: { host: '127.0.0.1', port: 0 } } },
    organizations: [{ name: 'spent', spending_limit: { month: LIMIT } }],
    providers: [
      { name: 'mock', type: 'mock' },
      { name: 'own', ...own, protocols },
    ],
    models: [
      ...TYPES.flatMap((type) => [
        { name: `${type}/off`, type, routes: [{ provider: 'mock', enabled: false }] },
        { name: `${type}/unpriced`, type, routes: [{ provider: 'own', upstream_model: 'm' }] },
      ]),
      { name: 'acme/dear', pricing: { per_call: LIMIT }, routes: [{ provider: 'mock' }] },
    ],
    apis: [{ name: 'unpriced', base_url: 'http://127.0.0.1:9', auth: { type: 'none' } }],
  };
  gateway = await startGateway(config);
  for (const [name, settings] of Object.entries({
    limited: { spending_limit: { lifetime: '5' } },
    keySpent: { spending_limit: { lifetime: LIMIT } },
    organizationSpent: { organization: 'spent' },
    slow: { rpm_cap: 1 },
    scoped: { scopes: ['models'] },
    revoked: {},
  })) {
    const made = await gateway.admin('POST', '/admin/v1/keys', { name, ...settings });
    expect(made.status, JSON.stringify(made.body)).toBe(201);
    keys[name] = made.body.value;
    if (name === 'revoked')
      expect((await gateway.admin('POST', `/admin/v1/keys/${made.body.id}/revoke`)).status).toBe(
        200,
      );
  }
  for (const name of ['keySpent', 'organizationSpent', 'slow'])
    expect((await gateway.chat('acme/dear', { key: keys[name] as string })).status, name).toBe(200);
});
afterAll(() => gateway.stop());

interface Refused {
  readonly id: string;
  readonly status: number;
}

async function ask(way: Asked, model: string, key: string | undefined): Promise<Refused> {
  const carry = way.carriers[0];
  const carried = key === undefined || !carry ? {} : carry(key);
  const { headers = {}, query = '' } = carried as { headers?: object; query?: string };
  const path = way.path(model, false);
  const body = way.body(model, false);
  const answer = await fetch(
    gateway.url + path + (query && (path.includes('?') ? '&' : '?') + query),
    {
      method: 'POST',
      headers: { 'content-type': way.contentType ?? 'application/json', ...headers },
      body: typeof body === 'string' ? body : new Uint8Array(body),
    },
  );
  await answer.text();
  return { id: answer.headers.get('x-request-id') ?? '', status: answer.status };
}

/** Holds one refusal to its one record and its one line, both with the cause. */
async function expectTrace({ id, status }: Refused, way: Asked, cause: string): Promise<void> {
  const title = `${way.path('m', false)} ${cause}`;
  expect(status, title).toBeGreaterThanOrEqual(400);
  expect(id, title).toMatch(/^req_/);
  const record = await eventually(async () => {
    const { body } = await gateway.admin('GET', `/admin/v1/requests/${id}`);
    return body.result && body.result !== 'pending' && body;
  }, 10_000).catch(() => ({}));
  expect(record, title).toMatchObject({
    id,
    surface: way.name,
    status,
    result: 'error',
    error_code: cause,
  });
  const lines = await eventually(() => {
    const found = linesOf(id);
    return found.length > 0 && found;
  }, 10_000);
  expect(lines, title).toHaveLength(1);
  expect(lines[0], title).toMatchObject({ surface: way.name, status, error: cause });
}

function linesOf(id: string): Record<string, unknown>[] {
  return gateway
    .log()
    .split('\n')
    .filter((line) => line.startsWith('{') && line.includes(id))
    .map((line) => JSON.parse(line));
}

const typeOf = ({ modelType = 'llm' }: { modelType?: string }): string => modelType;

describe('a refused request', () => {
  it(
    verifies(
      'refusals.recorded',
      'leaves one line and one record with the cause, for every cause and on every family',
    ),
    async () => {
      const expectAll = async (
        ways: typeof WAYS,
        refuse: (way: (typeof WAYS)[number]) => Promise<Refused>,
        cause: (way: (typeof WAYS)[number]) => string,
      ): Promise<void> => {
        await Promise.all(ways.map(async (way) => expectTrace(await refuse(way), way, cause(way))));
      };
      const client = gateway.clientKey;
      await expectAll(
        WAYS,
        (way) => ask(way, 'acme/none', client),
        ({ name }) => (name === 'api' ? 'not_found' : 'model_not_found'),
      );
      await expectAll(
        CALLS_MODELS,
        (way) => ask(way, `${typeOf(way)}/off`, client),
        () => 'model_unavailable',
      );
      await expectAll(
        WAYS,
        (way) => ask(way, 'acme/none', `sk-${'wrong'.repeat(9)}`),
        () => 'invalid_api_key',
      );
      const [chat] = WAYS.filter(({ name }) => name === 'chat');
      await expectAll(
        chat ? [chat] : [],
        (way) => ask(way, 'acme/dear', undefined),
        () => 'missing_api_key',
      );
      await expectAll(
        chat ? [chat] : [],
        (way) => ask(way, 'acme/dear', keys['revoked']),
        () => 'api_key_revoked',
      );
      await expectAll(
        WAYS,
        (way) => ask(way, 'acme/dear', keys['scoped']),
        () => 'insufficient_scope',
      );
      await expectAll(
        WAYS,
        (way) => ask(way, 'acme/dear', keys['keySpent']),
        () => 'key_spending_limit',
      );
      await expectAll(
        WAYS,
        (way) => ask(way, 'acme/dear', keys['organizationSpent']),
        () => 'organization_spending_limit',
      );
      await expectAll(
        WAYS.filter(({ name }) => name !== 'run'),
        (way) => ask(way, `${typeOf(way)}/unpriced`, keys['limited']),
        () => 'unpriced',
      );
      await expectAll(
        WAYS,
        async (way) => {
          const first = await ask(way, 'acme/dear', keys['slow']);
          // A new minute lets one through.
          return first.status === 429 ? first : ask(way, 'acme/dear', keys['slow']);
        },
        () => 'key_rate_limited',
      );
    },
    120_000,
  );

  describe('with a bad key', () => {
    // Of the records of refused credentials, a process keeps a few in a minute.
    let own: TestGateway;
    beforeAll(async () => {
      own = await startGateway({ server: { log: { format: 'json' } } });
    });
    afterAll(() => own.stop());

    it.each([
      ['/v1/files/file_1', 'files'],
      ['/v1/sessions', 'sessions'],
      ['/admin/v1/keys?q=x', 'admin'],
      ['/v1/videos/video_1', 'videos'],
    ])('leave a record although %s calls no model', async (path, surface) => {
      const answer = await own.call('GET', path, { key: 'sk-of-nobody-at-all' });
      expect(answer.status).toBe(401);
      const id = answer.headers.get('x-request-id');
      await eventually(async () => {
        const found = await own.admin('GET', `/admin/v1/requests/${id}`);
        return found.status === 200 && found.body.surface === surface;
      });
      const keyless = await own.call('GET', path, { key: '' });
      expect(keyless.status).toBe(401);
      const { status } = await own.admin(
        'GET',
        `/admin/v1/requests/${keyless.headers.get('x-request-id')}`,
      );
      expect(status).toBe(404);
    });
  });

  it('with a bad key is counted always, and kept in a bounded number', async () => {
    const counted = async (): Promise<number> => {
      const { text } = await metricsText();
      return Number(/gateway_refused_total\{error="invalid_api_key"\} (\d+)/.exec(text)?.[1] ?? 0);
    };
    const before = await counted();
    const [way] = WAYS;
    if (!way) throw new Error('no family');
    const refused = await Promise.all(
      Array.from({ length: 100 }, () => ask(way, 'acme/none', `sk-${'wrong'.repeat(9)}`)),
    );
    expect(await counted()).toBe(before + 100);
    // What is kept of each minute, of two where a new one has begun meanwhile.
    const kept = refused.filter(({ id }) => linesOf(id).length > 0);
    expect(kept.length).toBeLessThanOrEqual(40);
  });
});
