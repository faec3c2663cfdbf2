import Anthropic from '@anthropic-ai/sdk';
import Anthropic0 from 'anthropic-0';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verifies } from '../../requirements.ts';
import { startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startGateway({ server: { compat: { resource_x_api_key: true } } });
});

afterAll(() => gateway.stop());

/** A key of a new organization, with these scopes. */
async function newKey(organization: string, scopes: string[] | null = null): Promise<string> {
  await gateway.admin('POST', '/admin/v1/organizations', { name: organization });
  const made = await gateway.admin('POST', '/admin/v1/keys', { name: 'k', organization, scopes });
  return made.body.value;
}

const clients = {
  '1.x': () => new Anthropic({ apiKey: gateway.clientKey, baseURL: gateway.url, maxRetries: 0 }),
  '0.x': () => new Anthropic0({ apiKey: gateway.clientKey, baseURL: gateway.url, maxRetries: 0 }),
};

describe.each(Object.entries(clients))('the official client %s', (name, connect) => {
  it(
    verifies(
      'agents.crud',
      'resource.pagination.envelope',
      'creates, gets, lists, updates and archives Agents, and reads their versions',
    ),
    async () => {
      const { agents } = (connect() as Anthropic).beta;
      const created = await agents.create({
        name: `coder ${name}`,
        model: { id: 'acme/fast', effort: 'high' },
        system: 'Be brief.',
        tools: [{ type: 'agent_toolset_20260401' }],
        metadata: { team: 'a' },
      });
      expect(created).toMatchObject({
        type: 'agent',
        version: 1,
        model: { id: 'acme/fast', effort: { type: 'high' } },
      });
      expect(await agents.retrieve(created.id)).toEqual(created);
      const updated = await agents.update(created.id, { system: null, version: 1 });
      expect(updated).toMatchObject({ version: 2, system: null });
      expect(await agents.retrieve(created.id, { version: 1 })).toEqual(created);
      await expect(agents.update(created.id, { system: 'x', version: 1 })).rejects.toMatchObject({
        status: 409,
        type: 'version_conflict',
      });
      const versions: number[] = [];
      for await (const { version } of agents.versions.list(created.id, { limit: 1 })) {
        versions.push(version);
      }
      expect(versions).toEqual([2, 1]);

      for (let n = 0; n < 3; n++) await agents.create({ name: `${name} ${n}`, model: 'acme/fast' });
      const archived = await agents.archive(created.id);
      expect(archived.archived_at).toMatch(/Z$/);
      const listed = async (query: Anthropic.Beta.Agents.AgentListParams) => {
        const ids: string[] = [];
        for await (const { id } of agents.list({ limit: 2, ...query })) ids.push(id);
        return ids;
      };
      const ids = await listed({ include_archived: true, 'created_at[gte]': created.created_at });
      expect(ids).toContain(created.id);
      expect(await listed({})).not.toContain(created.id);
      expect(new Set(ids).size).toBe(ids.length);
      await expect(agents.retrieve('agent_none')).rejects.toMatchObject({
        status: 404,
        type: 'not_found',
      });
    },
  );
});

describe('the paths of Agents', () => {
  it(
    verifies(
      'resource.error.shape',
      'resource.error.types',
      'tell what is wrong in the shape of resources',
    ),
    async () => {
      const told = async (method: string, path: string, body?: unknown) => {
        const { status, body: answer } = await gateway.call(method, path, { body });
        expect(answer.error.message).toEqual(expect.any(String));
        return [status, answer.error.type];
      };
      const { body } = await gateway.call('POST', '/v1/agents', {
        body: { name: 'a', model: 'b' },
      });
      expect(await told('POST', '/v1/agents', {})).toEqual([400, 'invalid_request']);
      expect(await told('POST', '/v1/agents', '{')).toEqual([400, 'invalid_request']);
      expect(await told('GET', '/v1/agents/agent_x')).toEqual([404, 'not_found']);
      const harness = { name: 'a', model: 'b', harness: 'x' };
      expect(await told('POST', '/v1/agents', harness)).toEqual([422, 'unprocessable']);
      await gateway.call('POST', `/v1/agents/${body.id}/archive`);
      expect(await told('POST', `/v1/agents/${body.id}`, { name: 'c' })).toEqual([
        409,
        'agent_archived',
      ]);
    },
  );

  it('need the scope agents, and show each organization its own alone', async () => {
    const other = await newKey('other');
    const { body } = await gateway.call('POST', '/v1/agents', { body: { name: 'a', model: 'b' } });
    const path = `/v1/agents/${body.id}`;
    expect((await gateway.call('GET', path, { key: other })).status).toBe(404);
    expect((await gateway.call('POST', path, { key: other, body: {} })).status).toBe(404);
    expect((await gateway.call('GET', '/v1/agents', { key: other })).body).toEqual({
      data: [],
      next_page: null,
    });
    const limited = await newKey('limited', ['sessions']);
    expect(await gateway.call('GET', '/v1/agents', { key: limited })).toMatchObject({
      status: 403,
      body: { error: 'insufficient_scope' },
    });
    expect((await gateway.call('GET', '/v1/agents', { key: '' })).status).toBe(401);
  });

  it(
    verifies(
      'auth.compat.resource-x-api-key-flag',
      'read x-api-key where the operator allows it, and nowhere else',
    ),
    async () => {
      const strict = await startGateway();
      try {
        for (const [server, status] of [
          [gateway, 200],
          [strict, 401],
        ] as const) {
          const headers = { 'x-api-key': server.clientKey };
          const answer = await server.call('GET', '/v1/agents', { key: '', headers });
          expect(answer.status).toBe(status);
        }
        const headers = { 'x-api-key': gateway.clientKey };
        const models = await gateway.call('GET', '/v1/models', { key: '', headers });
        expect(models.status).toBe(401);
      } finally {
        await strict.stop();
      }
    },
  );
});
