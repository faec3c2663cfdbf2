import { beforeEach, describe, expect, it } from 'vitest';
import { verifies } from '../requirements.ts';
import { dump, makeResources, MASTER_KEY } from './make-resources.ts';
import type { Resources } from './make-resources.ts';

describe('API keys', () => {
  let resources: Resources;
  let call: Resources['call'];
  let home: string;

  beforeEach(async () => {
    resources = makeResources();
    call = resources.call;
    home = (await call('POST organizations', { body: { name: 'home' } })).body['id'];
  });

  const create = (body: object = {}) =>
    call('POST keys', { organization: home, body: { name: 'ci', ...body } });

  it(
    verifies(
      'keys.format.new',
      'keys.value.shown-once',
      'are made of 32 random bytes and shown in the create answer alone',
    ),
    async () => {
      const values = new Set<string>();
      for (let i = 0; i < 20; i++) values.add((await create({ name: `k${i}` })).body['value']);
      expect(values.size).toBe(20);
      for (const value of values) expect(value).toMatch(/^sk-[0-9a-f]{64}$/);
      const seen = JSON.stringify([
        await call('GET keys', { query: 'limit=100' }),
        await call('GET keys/k0', { organization: home }),
        await call('PATCH keys/k1', { organization: home, body: { rpm_cap: 3 } }),
        await call('POST keys/k2/revoke', { organization: home }),
        await dump(resources.store),
      ]);
      for (const value of values) {
        expect(seen).not.toContain(value);
        expect(seen).not.toContain(value.slice(3, 20));
      }
    },
  );

  it('take the words of the product for scopes, and answer the names of the contract', async () => {
    const scopes = ['schedules', 'services', 'inference'];
    const { body } = await create({ scopes });
    expect(body['scopes']).toEqual(['deployments', 'endpoints', 'inference']);
    const { body: changed } = await call(`PATCH keys/${body['id']}`, {
      organization: home,
      body: { scopes: ['services'] },
    });
    expect(changed['scopes']).toEqual(['endpoints']);
  });

  it('name a scope that does not exist with those that do', async () => {
    const { status, body } = await create({ scopes: ['inference', 'nope'] });
    expect(status).toBe(400);
    expect(body['message']).toMatch(/^scopes\[1\]: expected one of inference, models, .*, admin, /);
  });

  it(verifies('keys.create.name-required', 'need a name and nothing else'), async () => {
    for (const name of [undefined, null, '', '  ']) {
      expect(await create({ name })).toMatchObject({ status: 400, body: { param: 'name' } });
    }
    expect((await call('GET keys')).body['data']).toEqual([]);
    expect((await create()).status).toBe(201);
  });

  it(
    verifies('keys.fields.listed', 'show their fields, and null for what was not given'),
    async () => {
      const { body } = await create();
      const { data } = (await call('GET keys')).body;
      expect(data).toEqual([
        {
          id: body['id'],
          type: 'api_key',
          name: 'ci',
          organization: home,
          enabled: true,
          scopes: null,
          role: null,
          spending_limit: null,
          limits: { conversation_spending: null },
          expires_at: null,
          rpm_cap: null,
          tpm_cap: null,
          tpd_cap: null,
          concurrency_cap: null,
          allowed_models: null,
          hint: `${body['value'].slice(0, 6)}…${body['value'].slice(-4)}`,
          revoked_at: null,
          rotated_at: null,
          former_hint: null,
          former_until: null,
          labels: {},
          version: 1,
          created_at: '2026-11-21T00:00:00.000Z',
          updated_at: '2026-11-21T00:00:00.000Z',
        },
      ]);
    },
  );

  it('show limits, times and patterns as they are read back', async () => {
    const { body } = await create({
      spending_limit: { day: 1.5, month: '20' },
      expires_at: '2027-01-01T02:00:00+02:00',
      scopes: ['inference', 'models'],
      allowed_models: ['acme/*'],
      concurrency_cap: 2,
      limits: { conversation_spending: 0.5 },
    });
    expect(body).toMatchObject({
      spending_limit: { day: '1.50', month: '20.00' },
      expires_at: '2027-01-01T00:00:00.000Z',
      scopes: ['inference', 'models'],
      allowed_models: ['acme/*'],
      concurrency_cap: 2,
      limits: { conversation_spending: '0.50' },
    });
    const lifetime = await call(`PATCH keys/${body['id']}`, { body: { spending_limit: 10 } });
    expect(lifetime.body['spending_limit']).toEqual({ lifetime: '10.00' });
    const none = await call(`PATCH keys/${body['id']}`, { body: { spending_limit: null } });
    expect(none.body['spending_limit']).toBeNull();
  });

  it(verifies('auth.scope.vocabulary', 'refuse a scope that there is not'), async () => {
    const refused = await create({ scopes: ['inference', 'everything'] });
    expect(refused).toMatchObject({ status: 400, body: { param: 'scopes[1]' } });
    const all =
      'inference models assets run agents sessions endpoints deployments credentials skills account admin';
    expect((await create({ scopes: all.split(' ') })).status).toBe(201);
  });

  it('tell a wrong type from a value without meaning', async () => {
    const malformed = [
      ['rpm_cap', '5'],
      ['spending_limit', true],
      ['spending_limit', { day: [] }],
      ['spending_limit', { daily: 5 }],
      ['expires_at', 5],
      ['allowed_models', 'acme/*'],
      ['labels', { a: 1 }],
    ] as const;
    const meaningless = [
      ['rpm_cap', 0],
      ['rpm_cap', -1],
      ['spending_limit', '-1'],
      ['spending_limit', 'ten'],
      ['spending_limit', { day: '1.0000000001' }],
      ['expires_at', 'tomorrow'],
      ['expires_at', '1'],
      ['expires_at', '2026-02-30T00:00:00Z'],
      ['value', 'short'],
      ['value', 'sk-with a blank in it'],
    ] as const;
    for (const [field, value] of malformed) {
      const { status, body } = await create({ [field]: value });
      expect(
        [status, body['param']?.split(/[.[]/)[0]],
        `${field} ${JSON.stringify(value)}`,
      ).toEqual([400, field]);
    }
    for (const [field, value] of meaningless) {
      const { status, body } = await create({ [field]: value });
      expect(
        [status, body['param']?.split(/[.[]/)[0]],
        `${field} ${JSON.stringify(value)}`,
      ).toEqual([422, field]);
    }
    expect((await call('GET keys')).body['data']).toEqual([]);
  });

  it(verifies('keys.revoke.irreversible', 'stay revoked, whatever is asked for'), async () => {
    const { id } = (await create()).body;
    const revoked = await call(`POST keys/${id}/revoke`);
    expect(revoked).toMatchObject({ status: 200, body: { enabled: false, version: 2 } });
    expect(revoked.body['revoked_at']).toBe('2026-11-21T00:00:00.000Z');
    resources.clock.advance(1000);
    expect((await call(`POST keys/${id}/revoke`)).body).toEqual(revoked.body);
    expect((await call(`PATCH keys/${id}`, { body: { enabled: false } })).body).toEqual(
      revoked.body,
    );
    expect(await call(`PATCH keys/${id}`, { body: { enabled: true } })).toMatchObject({
      status: 409,
      body: { retry: false },
    });
    await call(`PATCH keys/${id}`, { body: { revoked_at: null, state: { revoked_at: null } } });
    expect((await call(`GET keys/${id}`)).body).toEqual(revoked.body);
  });

  it('are revoked by enabled: false, and by nothing that only looks like it', async () => {
    const { id } = (await create()).body;
    for (const enabled of ['false', 0, null]) {
      const refused = await call(`PATCH keys/${id}`, { body: { enabled } });
      expect(refused, String(enabled)).toMatchObject({ status: 400, body: { param: 'enabled' } });
    }
    expect((await call(`PATCH keys/${id}`, { body: { enabled: true } })).body['version']).toBe(1);
    const revoked = await call(`PATCH keys/${id}`, { body: { enabled: false } });
    expect(revoked.body).toMatchObject({ enabled: false, version: 2 });
  });

  it('are never deleted', async () => {
    const { id } = (await create()).body;
    expect((await call(`DELETE keys/${id}`)).status).toBe(405);
  });

  it('are imported with the value that they have, once', async () => {
    const value = 'sk-sb-0123456789';
    const imported = await create({ value });
    expect(imported).toMatchObject({ status: 201, body: { value } });
    const again = await create({ name: 'other', value });
    expect(again).toMatchObject({ status: 409, body: { param: 'value', retry: false } });
    expect(JSON.stringify(again.body)).not.toContain(value);
    const rotated = resources.other([Buffer.from('a newer master key of 32 letters'), MASTER_KEY]);
    const afterRotation = await rotated.call('POST keys', {
      organization: home,
      body: { name: 'third', value },
    });
    expect(afterRotation).toMatchObject({ status: 409, body: { param: 'value' } });
    expect((await call('GET keys')).body['data']).toHaveLength(1);
  });

  it('keep their value and organization', async () => {
    const { id } = (await create()).body;
    await call('POST organizations', { body: { name: 'elsewhere' } });
    for (const body of [{ value: 'sk-another-value-of-it' }, { organization: 'elsewhere' }]) {
      const refused = await call(`PATCH keys/${id}`, { body });
      expect(refused).toMatchObject({ status: 400, body: { param: Object.keys(body)[0] } });
    }
    for (const organization of [home, 'home']) {
      const same = await call(`PATCH keys/${id}`, { body: { organization } });
      expect(same).toMatchObject({ status: 200, body: { organization: home, version: 1 } });
    }
  });

  it('belong to the organization that is named by name or id, else to the caller’s', async () => {
    const other = (await call('POST organizations', { body: { name: 'other' } })).body['id'];
    expect((await create()).body['organization']).toBe(home);
    expect((await create({ organization: 'other' })).body['organization']).toBe(other);
    expect((await create({ organization: other, name: 'x' })).body['organization']).toBe(other);
    expect(await create({ organization: 'nobody' })).toMatchObject({
      status: 404,
      body: { param: 'organization' },
    });
    const named = await call('GET keys', { query: `organization=${other}&organization=none` });
    expect(named.body['data']).toHaveLength(2);
    expect((await call('GET keys', { query: 'organization[]=other' })).body).toEqual(named.body);
  });

  it('are as good as absent for a caller of another organization', async () => {
    const { id } = (await create()).body;
    await call('POST organizations', { body: { name: 'other' } });
    const other = (await call('GET organizations/other')).body['id'];
    const foreign = { organization: other, platform: false };
    for (const request of [
      `GET keys/${id}`,
      `PATCH keys/${id}`,
      `POST keys/${id}/revoke`,
      'GET keys/ci',
    ]) {
      expect((await call(request, foreign)).status, request).toBe(404);
    }
    expect((await call('GET keys', foreign)).body['data']).toEqual([]);
    const planted = await call('POST keys', {
      ...foreign,
      body: { name: 'x', organization: home },
    });
    expect(planted.status).toBe(404);
    const own = { organization: home, platform: false };
    expect((await call(`GET keys/${id}`, own)).body).toMatchObject({ enabled: true, version: 1 });
  });

  it('are filtered by several values, repeated, in brackets or with commas', async () => {
    const ids: string[] = [];
    for (const name of ['a', 'b,c', 'd']) {
      ids.push((await create({ name })).body['id']);
      resources.clock.advance(1);
    }
    await call(`POST keys/${ids[2]}/revoke`);
    const list = async (query: string) =>
      (await call('GET keys', { query })).body['data'].map((one: { id: string }) => one.id);
    expect(await list('name=a&name=d')).toEqual([ids[0], ids[2]]);
    expect(await list('name[]=a&name[]=d')).toEqual([ids[0], ids[2]]);
    expect(await list('name=b,c')).toEqual([ids[1]]);
    expect(await list('enabled=false')).toEqual([ids[2]]);
    expect(await list('enabled=false,true&name=a')).toEqual([ids[0]]);
    expect(await list('q=B%2CC')).toEqual([ids[1]]);
    expect(await list('unknown=x')).toEqual(ids);
  });
});
