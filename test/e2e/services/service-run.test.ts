import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verifies } from '../../requirements.ts';
import { eventually, startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { CONFIG, newService } from './service-setup.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway(CONFIG);
});
afterAll(() => gateway.stop());

const run = (service: string, body: object, key = gateway.clientKey) =>
  gateway.call('POST', `/v1/endpoints/${service}/run`, { body, key });

const get = async (path: string) => (await gateway.call('GET', path)).body;

/** The events of a Session that has come to rest. */
async function rested(session: string): Promise<any[]> {
  await eventually(async () => (await get(`/v1/sessions/${session}`)).status === 'idle');
  return (await get(`/v1/sessions/${session}/events?limit=100`)).data;
}

/** A key of an organization of its own. */
async function stranger(name: string): Promise<string> {
  await gateway.admin('POST', '/admin/v1/organizations', { name });
  const body = { name, organization: name };
  return (await gateway.admin('POST', '/admin/v1/keys', body)).body.value;
}

describe('the reserved settings of a Service', () => {
  it(
    verifies(
      'endpoints.config.declared-not-applied',
      'are kept and shown as they were sent, and change nothing of any Session',
    ),
    async () => {
      const reserved = {
        memory_config: { store: { id: 'mem_1', deep: [1, null, { a: null }] }, empty: null },
        resource_config: { resources: [{ type: 'file', file_id: 'file_1' }], vault_ids: ['v'] },
        vault_config: { vault_ids: ['vault_1'], system: 'say nothing' },
      };
      const [plain, kept] = [
        await newService(gateway, { name: 'plain' }),
        await newService(gateway, { name: 'reserved', ...reserved }),
      ];
      expect(await get(`/v1/endpoints/${kept.id}`)).toMatchObject(reserved);
      const [without, having] = await Promise.all(
        [plain, kept].map(async ({ id }) => {
          const session: string = (await run(id, { input: 'repeat' })).body.session_id;
          const events = await rested(session);
          const { resources, vault_ids, metadata, agent, usage } = await get(
            `/v1/sessions/${session}`,
          );
          const { id: _id, name: _name, ...run_by } = agent;
          const { active_seconds: _active, ...spent } = usage;
          const said = events.map(({ type, content }) => [type, content]);
          return { resources, vault_ids, metadata, run_by, spent, said };
        }),
      );
      expect(having).toEqual(without);
      await gateway.call('PATCH', `/v1/endpoints/${kept.id}`, { body: { memory_config: null } });
      expect(await get(`/v1/endpoints/${kept.id}`)).toMatchObject({
        ...reserved,
        memory_config: null,
      });
    },
  );
});

describe('POST /v1/endpoints/{id}/run', () => {
  it(
    verifies(
      'endpoints.run.202',
      'endpoints.run.new-session',
      'endpoints.run.no-result-endpoint',
      'sessions.identity.public-id',
      'begins a Session of the Service, whose outcome its events alone tell',
    ),
    async () => {
      const session_metadata = { team: 'blue' };
      const { id, agent } = await newService(gateway, { name: 'runs', session_metadata });
      const { status, body } = await run(id, { input: 'welcome?' });
      expect(status).toBe(202);
      expect(Object.keys(body)).toEqual(['session_id', 'events']);
      expect(body.session_id).toMatch(/^sess_/);
      expect(body.events).toEqual([
        {
          id: expect.stringMatching(/^sevt_/),
          type: 'user.message',
          processed_at: expect.any(String),
        },
      ]);
      const events = await rested(body.session_id);
      expect(events[0]).toMatchObject(body.events[0]);
      const [answer] = events.filter(({ type }) => type === 'agent.message');
      expect(answer.content).toEqual([{ type: 'text', text: 'you are welcome' }]);
      expect(await get(`/v1/sessions/${body.session_id}`)).toMatchObject({
        endpoint_id: id,
        entry_point: 'service',
        metadata: session_metadata,
        agent: { id: agent, version: 1 },
      });
      expect((await gateway.call('GET', `/v1/endpoints/${id}/run`)).status).toBe(405);
      const below = `/v1/endpoints/${id}/run/${body.session_id}`;
      expect((await gateway.call('GET', below)).status).toBe(404);
    },
  );

  it(
    verifies(
      'endpoints.run.existing-session',
      'sessions.identity.public-id',
      'goes on with any Session of the organization, which keeps what it is',
    ),
    async () => {
      const { id } = await newService(gateway, { name: 'goes on' });
      const other = await newService(gateway, {
        name: 'began',
        session_metadata: { team: 'red' },
      });
      const session_id: string = (await run(other.id, { input: 'one' })).body.session_id;
      await rested(session_id);
      const again = await run(id, { input: 'two', session_id });
      expect(again).toMatchObject({ status: 202, body: { session_id } });
      expect(again.body.events).toHaveLength(1);
      const events = await rested(session_id);
      expect(events.filter(({ type }) => type === 'user.message')).toHaveLength(2);
      expect(events.filter(({ type }) => type === 'agent.message')).toHaveLength(2);
      expect(await get(`/v1/sessions/${session_id}`)).toMatchObject({
        endpoint_id: other.id,
        agent: { id: other.agent },
        metadata: { team: 'red' },
      });

      const plain = await gateway.call('POST', '/v1/sessions', { body: { agent: other.agent } });
      const joined = await run(id, { input: 'three', session_id: plain.body.id });
      expect(joined).toMatchObject({ status: 202, body: { session_id: plain.body.id } });
      await rested(plain.body.id);

      expect((await run(id, { input: 'x', session_id: 'sess_none' })).status).toBe(404);
      await gateway.call('POST', `/v1/sessions/${session_id}/archive`);
      expect((await run(id, { input: 'x', session_id })).status).toBe(409);
    },
  );

  it(
    verifies(
      'endpoints.run.requires-active',
      'endpoints.run.requires-protocol',
      'endpoints.run.refusal-status',
      'endpoints.response.urls-not-enablement',
      'refuses what a Service is not for, and makes no Session',
    ),
    async () => {
      const { id } = await newService(gateway, { name: 'closed', protocols: ['rest'] });
      const path = `/v1/endpoints/${id}`;
      const { urls } = await get(path);
      for (const url of [urls.mcp, urls.acp]) {
        const refused = await gateway.call('POST', url, { body: {} });
        expect(refused).toMatchObject({
          status: 404,
          body: { error: { type: 'protocol_not_enabled' } },
        });
      }
      await gateway.call('PATCH', path, { body: { status: 'disabled' } });
      const refused = await run(id, { input: 'x' });
      expect(refused).toMatchObject({
        status: 409,
        body: { error: { type: 'endpoint_disabled' } },
      });
      expect(refused.headers.get('x-should-retry')).toBe('false');
      expect((await get(`/v1/sessions?endpoint_id=${id}`)).data).toEqual([]);
      await gateway.call('PATCH', path, { body: { status: 'active' } });
      expect((await run(id, { input: 'x' })).status).toBe(202);
    },
  );

  it('does not exist for other organizations, nor after its end', async () => {
    const { id } = await newService(gateway, { name: 'ours' });
    const { session_id } = (await run(id, { input: 'x' })).body;
    const key = await stranger('strangers');
    expect((await run(id, { input: 'x' }, key)).status).toBe(404);
    const theirs = await newService(
      { call: (method, path, rest) => gateway.call(method, path, { ...rest, key }) },
      { name: 'theirs' },
    );
    expect((await run(theirs.id, { input: 'x', session_id }, key)).status).toBe(404);
    await gateway.call('DELETE', `/v1/endpoints/${id}`);
    expect((await run(id, { input: 'x' })).status).toBe(404);
    expect((await get(`/v1/sessions/${session_id}`)).id).toBe(session_id);
  });

  it(
    verifies(
      'endpoints.update.rebind-existing-sessions',
      'runs another version in Sessions that begin later',
    ),
    async () => {
      const { id, agent } = await newService(gateway, { name: 'rebound' });
      const { session_id } = (await run(id, { input: 'x' })).body;
      const changed = { system: 'be brief', version: 1 };
      await gateway.call('POST', `/v1/agents/${agent}`, { body: changed });
      const before = await run(id, { input: 'x' });
      expect((await get(`/v1/sessions/${before.body.session_id}`)).agent.version).toBe(1);
      const body = { agent_version: '2', expected_agent_version: '1' };
      const updated = await gateway.call('PATCH', `/v1/endpoints/${id}`, { body });
      expect(updated.status).toBe(200);
      const after = await run(id, { input: 'x' });
      expect((await get(`/v1/sessions/${after.body.session_id}`)).agent).toMatchObject({
        version: 2,
        system: 'be brief',
      });
      expect((await get(`/v1/sessions/${session_id}`)).agent.version).toBe(1);
    },
  );

  it('runs a declarative Service', async () => {
    const runtime = { type: 'agent', model: 'acme/one', system: 'be kind' };
    const body = { name: 'declared', runtime, protocols: ['rest'] };
    const { id } = (await gateway.call('POST', '/v1/endpoints', { body })).body;
    const { session_id } = (await run(id, { input: 'welcome?' })).body;
    const events = await rested(session_id);
    expect(events.filter(({ type }) => type === 'agent.message')).toHaveLength(1);
    expect((await get(`/v1/sessions/${session_id}`)).agent).toMatchObject({
      id: null,
      system: 'be kind',
    });
  });
});
