import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verifies } from '../../requirements.ts';
import { startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';

const KINDS = {
  organizations: { prefix: 'org_', patch: { display_name: 'Other' } },
  providers: { prefix: 'prov_', body: { type: 'mock' }, patch: { headers: { 'x-a': '1' } } },
  models: {
    prefix: 'model_',
    body: { routes: [{ provider: 'mock' }] },
    patch: { description: 'x' },
  },
};

describe('the admin API', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startGateway({ providers: [{ name: 'mock', type: 'mock' }] });
  });
  afterAll(() => gateway.stop());

  for (const [collection, { prefix, patch, ...rest }] of Object.entries(KINDS)) {
    const path = `/admin/v1/${collection}`;
    const body = 'body' in rest ? rest.body : {};

    it(
      verifies('admin.models.crud', `creates, reads, changes, lists and deletes ${collection}`),
      async () => {
        const made = await gateway.admin('POST', path, { name: `acme/${collection}`, ...body });
        expect(made.status, JSON.stringify(made.body)).toBe(201);
        const { id, version } = made.body;
        expect(id.startsWith(prefix)).toBe(true);
        expect((await gateway.admin('GET', `${path}/${id}`)).body).toEqual(made.body);
        const byName = await gateway.admin('GET', `${path}/acme%2F${collection}`);
        expect(byName.body).toEqual(made.body);

        const guarded = { ...patch, expected_version: version };
        const changed = await gateway.admin('PATCH', `${path}/${id}`, guarded);
        expect(changed).toMatchObject({ status: 200, body: { ...patch, version: version + 1 } });
        const stale = await gateway.admin('PATCH', `${path}/${id}`, {
          labels: { late: 'yes' },
          expected_version: version,
        });
        expect(stale.status).toBe(409);
        expect(stale.headers.get('x-should-retry')).toBe('false');
        expect((await gateway.admin('GET', `${path}/${id}`)).body).toEqual(changed.body);

        const refused = await gateway.call('GET', `${path}/${id}`);
        expect(refused).toMatchObject({ status: 403, body: { error: 'insufficient_scope' } });

        const removed = await gateway.admin('DELETE', `${path}/${id}`);
        expect(removed).toMatchObject({ status: 200, body: { id, deleted: true } });
        expect((await gateway.admin('GET', `${path}/${id}`)).status).toBe(404);
      },
    );

    it(verifies('admin.models.crud', `lists ${collection} page by page`), async () => {
      const names = Array.from({ length: 7 }, (_, index) => `page-${index}`);
      for (const name of names) await gateway.admin('POST', path, { name, ...body });
      const seen: string[] = [];
      let page: string | null = '';
      while (page !== null) {
        const { body: list } = await gateway.admin('GET', `${path}?q=page-&limit=3&page=${page}`);
        expect(list.data.length).toBeLessThanOrEqual(3);
        seen.push(...list.data.map(({ name }: { name: string }) => name));
        page = list.next_page;
      }
      expect(seen.sort()).toEqual(names);
    });
  }

  it(
    verifies(
      'admin.models.crud',
      'versioning.model-ids-discoverable',
      'is followed by the data plane: a model is served while it exists',
    ),
    async () => {
      const { admin, chat, call } = gateway;
      const listed = async () =>
        (await call('GET', '/v1/models?type=')).body.data.some(
          ({ id }: { id: string }) => id === 'acme/live',
        );
      expect((await chat('acme/live')).status).toBe(404);
      await admin('POST', '/admin/v1/models', {
        name: 'acme/live',
        routes: [{ provider: 'mock' }],
      });
      expect([(await chat('acme/live')).status, await listed()]).toEqual([200, true]);

      const provider = {
        name: 'loud',
        type: 'mock',
        mock: { rules: [{ reply: { text: 'LOUD' } }] },
      };
      await admin('POST', '/admin/v1/providers', provider);
      await admin('PATCH', '/admin/v1/models/acme%2Flive', { routes: [{ provider: 'loud' }] });
      expect((await chat('acme/live')).body.choices[0].message.content).toBe('LOUD');
      await admin('PATCH', '/admin/v1/providers/loud', {
        mock: { rules: [{ reply: { text: 'quiet' } }] },
      });
      expect((await chat('acme/live')).body.choices[0].message.content).toBe('quiet');

      await admin('DELETE', '/admin/v1/models/acme%2Flive');
      expect([(await chat('acme/live')).status, await listed()]).toEqual([404, false]);
    },
  );

  it('names what is wrong with a provider, and stores nothing', async () => {
    for (const body of [
      { name: 'odd', type: 'martian' },
      { name: 'odd', type: 'custom' },
      { name: 'odd', type: 'mock', mock: { rules: [{ reply: { texd: 'x' } }] } },
    ]) {
      const refused = await gateway.admin('POST', '/admin/v1/providers', body);
      expect([JSON.stringify(body), refused.status]).toEqual([
        JSON.stringify(body),
        expect.toSatisfy((status: number) => status === 400 || status === 422),
      ]);
    }
    expect((await gateway.admin('GET', '/admin/v1/providers/odd')).status).toBe(404);
  });
});
