import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verifies } from '../../requirements.ts';
import { startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';

let gateway: TestGateway;
let agent: string;

beforeAll(async () => {
  gateway = await startGateway();
  const body = { name: 'Coder', model: 'acme/fast' };
  agent = (await gateway.call('POST', '/v1/agents', { body })).body.id;
});

afterAll(() => gateway.stop());

const call = (method: string, path: string, body?: unknown) =>
  gateway.call(method, `/v1/endpoints${path}`, { body });

const make = async (name: string) =>
  (await call('POST', '', { name, agent_id: agent, protocols: ['rest'] })).body;

describe('/v1/endpoints', () => {
  it(
    verifies(
      'versioning.compat-service-paths',
      'endpoints.delete',
      'resource.create.201',
      'creates with 201, gets, updates, and deletes for good',
    ),
    async () => {
      const created = await call('POST', '', {
        name: 'coder',
        agent_id: agent,
        protocols: ['rest'],
      });
      expect(created.status).toBe(201);
      const { id } = created.body;
      expect(id).toMatch(/^ep_/);
      expect(await call('GET', `/${id}`)).toMatchObject({ status: 200, body: created.body });
      expect(await call('PATCH', `/${id}`, { status: 'disabled' })).toMatchObject({ status: 200 });
      expect((await call('GET', `/${id}`)).body.status).toBe('disabled');
      const deleted = await call('DELETE', `/${id}`);
      expect(deleted).toMatchObject({ status: 200, body: { id, deleted: true } });
      expect((await call('GET', `/${id}`)).status).toBe(404);
      expect((await call('DELETE', `/${id}`)).status).toBe(404);
    },
  );

  it(
    verifies('endpoints.list.paging', 'walks the list with limit and the opaque next page'),
    async () => {
      const made = [];
      for (let n = 0; n < 5; n++) made.push((await make(`paged ${n}`)).id);
      const seen: string[] = [];
      let page = '';
      do {
        const query = new URLSearchParams({ limit: '2', q: 'paged', page }).toString();
        const { status, body } = await call('GET', `?${query}`);
        expect(status).toBe(200);
        expect(body.data.length).toBeLessThanOrEqual(2);
        seen.push(...body.data.map((one: { id: string }) => one.id));
        page = body.next_page;
      } while (page !== null);
      expect(seen).toEqual(made);
      expect((await call('GET', '?page=nonsense')).status).toBe(400);
    },
  );

  it('needs the scope endpoints', async () => {
    const body = { name: 'agents only', organization: 'default', scopes: ['agents'] };
    const { value } = (await gateway.admin('POST', '/admin/v1/keys', body)).body;
    const refused = await gateway.call('GET', '/v1/endpoints', { key: value });
    expect(refused).toMatchObject({ status: 403, body: { error: 'insufficient_scope' } });
    expect((await gateway.call('GET', '/v1/agents', { key: value })).status).toBe(200);
  });
});
