import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verifies } from '../../requirements.ts';
import { runCli } from '../../cli/run-cli.ts';
import { eventually, startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';

const KEY = /^sk-[0-9a-f]{64}$/;

describe('API keys', () => {
  let gateway: TestGateway;

  beforeAll(async () => {
    const routes = [{ provider: 'mock', pricing: { per_call: '0.25' } }];
    gateway = await startGateway({
      providers: [{ name: 'mock', type: 'mock' }],
      models: [
        { name: 'acme/fast', routes },
        { name: 'acme/deep', routes },
        { name: 'other/fast', routes },
      ],
    });
  });
  afterAll(() => gateway.stop());

  const create = async (body: object) => {
    const made = await gateway.admin('POST', '/admin/v1/keys', body);
    expect(made.status, JSON.stringify(made.body)).toBe(201);
    return made.body;
  };

  it(
    verifies('keys.create.no-store', 'shows a new key to no cache, and hides nothing else'),
    async () => {
      const made = await gateway.admin('POST', '/admin/v1/keys', { name: 'not-cached' });
      expect([made.status, made.headers.get('cache-control')]).toEqual([201, 'no-store']);
      expect(made.body.value).toMatch(KEY);
      const secret = await gateway.call('POST', '/v1/webhooks/secret/rotate');
      expect([secret.status, secret.headers.get('cache-control')]).toEqual([200, 'no-store']);
      const seen = await gateway.admin('GET', `/admin/v1/keys/${made.body.id}`);
      expect(seen.headers.get('cache-control')).toBeNull();
    },
  );

  it(
    verifies(
      'keys.format.new',
      'keys.value.shown-once',
      'keys.fields.listed',
      'shows the value of a new key once, and its fields from then on',
    ),
    async () => {
      const one = await create({ name: 'shown-once' });
      const other = await create({ name: 'another' });
      expect(one.value).toMatch(KEY);
      expect(other.value).toMatch(KEY);
      expect(one.value).not.toBe(other.value);
      const views = [
        await gateway.admin('GET', `/admin/v1/keys/${one.id}`),
        await gateway.admin('GET', '/admin/v1/keys?limit=100'),
        await gateway.admin('PATCH', `/admin/v1/keys/${one.id}`, { rpm_cap: 7 }),
      ];
      for (const { status, body } of views) {
        expect(status).toBe(200);
        expect(JSON.stringify(body)).not.toContain(one.value);
        expect(body).not.toHaveProperty('value');
      }
      const { body: view } = await gateway.admin('GET', `/admin/v1/keys/${other.id}`);
      expect(view).toMatchObject({
        name: 'another',
        organization: expect.stringMatching(/^org_/),
        enabled: true,
        spending_limit: null,
        expires_at: null,
        rpm_cap: null,
        created_at: expect.stringMatching(/^\d{4}-.*Z$/),
      });
    },
  );

  it(
    verifies('keys.create.name-required', 'makes no key without a name, and needs nothing else'),
    async () => {
      const count = async () =>
        (await gateway.admin('GET', '/admin/v1/keys?limit=100')).body.data.length;
      const before = await count();
      for (const body of [{}, { name: '' }, { name: '  ' }, { spending_limit: '1' }])
        expect((await gateway.admin('POST', '/admin/v1/keys', body)).status).toBe(400);
      expect(await count()).toBe(before);
      expect((await create({ name: 'bare' })).value).toMatch(KEY);
    },
  );

  it(
    verifies('keys.revoke.irreversible', 'never enables a revoked key again, whoever asks'),
    async () => {
      const { id, value } = await create({ name: 'gone' });
      expect(
        (await gateway.admin('PATCH', `/admin/v1/keys/${id}`, { enabled: false })).status,
      ).toBe(200);
      for (const method of ['PATCH', 'POST']) {
        const again = await gateway.admin(method, `/admin/v1/keys/${id}`, { enabled: true });
        expect(again.status).toBe(409);
        expect(again.headers.get('x-should-retry')).toBe('false');
      }
      const cli = await runCli(
        ['api', 'PATCH', `/admin/v1/keys/${id}`, '--data', '{"enabled":true}'],
        { env: { GATEWAY_SERVER: gateway.url, GATEWAY_API_KEY: gateway.adminKey } },
      );
      expect(cli.code).toBe(5);
      // The same value cannot be had by importing it under another name either.
      const imported = await gateway.admin('POST', '/admin/v1/keys', { name: 'back', value });
      expect(imported.status).toBe(409);
      expect((await gateway.admin('GET', `/admin/v1/keys/${id}`)).body.enabled).toBe(false);
      expect(await gateway.call('GET', '/v1/models', { key: value })).toMatchObject({
        status: 401,
        body: { error: 'API key has been revoked' },
      });
    },
  );

  it(
    verifies('keys.rotation.overlap', 'lets the old and the new key work side by side'),
    async () => {
      const old = await create({ name: 'rotate-old' });
      const next = await create({ name: 'rotate-new' });
      const statuses = async () =>
        Promise.all(
          [old, next].map(
            async ({ value }) => (await gateway.chat('acme/fast', { key: value })).status,
          ),
        );
      expect(await statuses()).toEqual([200, 200]);
      await gateway.admin('POST', `/admin/v1/keys/${old.id}/revoke`);
      expect(await statuses()).toEqual([401, 200]);
    },
  );

  it(
    verifies('keys.usage.per-organization', 'adds up the use of the keys of one organization'),
    async () => {
      const [ours, theirs] = await Promise.all(
        ['ours', 'theirs'].map(
          async (name) =>
            (await gateway.admin('POST', '/admin/v1/organizations', { name })).body.id,
        ),
      );
      const a = await create({ name: 'a', organization: ours });
      const b = await create({ name: 'b', organization: ours });
      const c = await create({ name: 'c', organization: theirs });
      for (const { value } of [a, a, b, c])
        expect((await gateway.chat('acme/fast', { key: value })).status).toBe(200);
      const sums = async (query: string) => {
        const { body } = await gateway.admin('GET', `/admin/v1/usage?${query}`);
        return body.data.map((row: Record<string, unknown>) => [
          row['organization'] ?? row['key'],
          row['requests'],
          row['cost'],
        ]);
      };
      // Final records are written behind the answers.
      const requestsOf = async (id: string) => (await sums(`organization=${id}`))[0]?.[1];
      await eventually(
        async () => (await requestsOf(ours)) === 3 && (await requestsOf(theirs)) === 1,
      );
      expect(await sums('group_by=organization')).toEqual(
        expect.arrayContaining([
          [ours, 3, '0.75'],
          [theirs, 1, '0.25'],
        ]),
      );
      expect(new Set(await sums(`group_by=key&organization=${ours}`))).toEqual(
        new Set([
          [a.id, 2, '0.50'],
          [b.id, 1, '0.25'],
        ]),
      );
      expect(await sums(`group_by=organization&organization=${theirs}`)).toEqual([
        [theirs, 1, '0.25'],
      ]);
    },
  );

  it(
    verifies(
      'keys.allowed-models',
      'hides from a key the models that it may not use, in calls and in its catalog',
    ),
    async () => {
      const { value: key } = await create({ name: 'limited', allowed_models: ['acme/f*', 'x'] });
      expect((await gateway.chat('acme/fast', { key })).status).toBe(200);
      const unknown = await gateway.chat('acme/nothing', { key });
      for (const model of ['acme/deep', 'other/fast']) {
        const refused = await gateway.chat(model, { key });
        expect(refused.status).toBe(404);
        const named = JSON.stringify(unknown.body).replaceAll('acme/nothing', model);
        expect(JSON.stringify(refused.body)).toBe(named);
        expect((await gateway.call('GET', `/v1/models/${model}`, { key })).status).toBe(404);
      }
      const { body } = await gateway.call('GET', '/v1/models?type=', { key });
      expect(body.data.map(({ id }: { id: string }) => id)).toEqual(['acme/fast']);
    },
  );

  it('are found by name in every organization, by the command, too', async () => {
    const env = { GATEWAY_SERVER: gateway.url, GATEWAY_API_KEY: gateway.adminKey };
    const run = (...args: string[]) => runCli(args, { env });
    for (const name of ['north', 'south'])
      expect((await gateway.admin('POST', '/admin/v1/organizations', { name })).status).toBe(201);
    const { id, value } = await create({ name: 'north-ci', organization: 'north' });
    await gateway.chat('acme/fast', { key: value });
    expect((await run('keys', 'get', 'north-ci')).stdout).toContain(id);
    expect((await run('logs', '--key', 'north-ci')).stdout).toContain('acme/fast');
    const rotated = await run('keys', 'rotate', 'north-ci');
    expect(rotated).toMatchObject({ code: 0 });
    expect(rotated.stdout.trim()).toMatch(KEY);
    // A name that two have is nobody's.
    await create({ name: 'north-ci', organization: 'south' });
    const unclear = await run('keys', 'get', 'north-ci');
    expect(unclear.code).toBe(5);
    expect(unclear.stderr).toContain(id);
    expect(unclear.stderr).toContain('give the id');
    for (const organization of ['north', 'south']) {
      const budget = { name: 'all', organization, amount: '5', per: 'month' };
      expect((await gateway.admin('POST', '/admin/v1/budgets', budget)).status).toBe(201);
    }
    const { stdout } = await run('budgets', 'list');
    expect(stdout).toMatch(/^NAME +ORGANIZATION /);
    expect(stdout).toMatch(/^all +north /m);
    expect(stdout).toMatch(/^all +south /m);
    const own = await runCli(['budgets', 'list', '--own'], {
      env: { ...env, GATEWAY_API_KEY: value },
    });
    expect(own.stdout).toMatch(/^NAME +PER /);
    expect(own.stdout).toMatch(/^all +month /m);
  });
});
