import { beforeEach, describe, expect, it } from 'vitest';
import { verifies } from '../requirements.ts';
import { makeResources } from './make-resources.ts';
import type { Resources } from './make-resources.ts';

let resources: Resources;
let home: string;
let agent: string;

beforeEach(async () => {
  resources = makeResources();
  home = (await resources.call('POST organizations', { body: { name: 'home' } })).body['id'];
  agent = (await call('POST agents', { name: 'Coder', model: 'acme/fast' })).body['id'];
});

const call = (request: string, body?: unknown, query = '') =>
  resources.call(request, { body, query, organization: home, platform: false });

const REST = { name: 'coder', protocols: ['rest'] };
const RUNTIME = { type: 'agent', model: 'acme/fast', system: 'Be brief.' };

const make = async (body: object = {}) =>
  (await call('POST services', { ...REST, agent_id: agent, ...body })).body;

const newVersion = (system: string) => call(`PATCH agents/${agent}`, { system });

describe('a new Service', () => {
  it(
    verifies(
      'endpoints.create.agent-bound',
      'endpoints.create.version-pin',
      'endpoints.create.optional-fields',
      'endpoints.response.shape',
      'binds an Agent at its latest version and shows every member',
    ),
    async () => {
      await newVersion('two');
      const created = await call('POST services', { ...REST, agent_id: agent });
      expect(created.status).toBe(201);
      const { id } = created.body;
      expect(created.body).toEqual({
        id: expect.stringMatching(/^ep_/),
        type: 'endpoint',
        name: 'coder',
        slug: null,
        status: 'active',
        agent_id: agent,
        agent_version: '2',
        runtime: null,
        protocols: ['rest'],
        session_metadata: {},
        memory_config: null,
        resource_config: null,
        vault_config: null,
        labels: {},
        urls: {
          rest: `/v1/endpoints/${id}/run`,
          mcp: `/v1/endpoints/${id}/mcp`,
          acp: `/v1/endpoints/${id}/acp`,
        },
        created_at: '2026-11-21T00:00:00.000Z',
        updated_at: '2026-11-21T00:00:00.000Z',
      });
      await newVersion('three');
      expect((await call(`GET services/${id}`)).body).toEqual(created.body);
      const full = {
        agent_version: 1,
        slug: 'coder-1',
        session_metadata: { team: 'a' },
        memory_config: { deep: [{ a: null }] },
        resource_config: {},
        vault_config: { ids: ['vlt_1'] },
      };
      const other = await make(full);
      expect(other).toMatchObject({ ...full, agent_version: '1' });
      expect((await call(`GET services/${other['id']}`)).body).toEqual(other);
      expect((await call('GET services/ep_none')).status).toBe(404);
    },
  );

  it(
    verifies(
      'endpoints.create.required',
      'endpoints.create.agent-xor-runtime',
      'needs a name, protocols, and either an Agent or a runtime',
    ),
    async () => {
      const cases: [string, object][] = [
        ['name', { agent_id: agent, protocols: ['rest'] }],
        ['protocols', { name: 'a', agent_id: agent }],
        ['agent_id', REST],
        ['name', { runtime: RUNTIME, protocols: ['rest'] }],
        ['protocols', { name: 'a', runtime: RUNTIME }],
        ['runtime', { ...REST, runtime: RUNTIME, agent_id: agent }],
        ['runtime', { ...REST, runtime: RUNTIME, agent }],
      ];
      for (const [param, body] of cases) {
        const refused = await call('POST services', body);
        expect([refused.status, refused.body['param']]).toEqual([400, param]);
      }
      expect((await call('GET services')).body['data']).toEqual([]);
    },
  );

  it(
    verifies(
      'endpoints.create.protocols-values',
      'takes rest, mcp and acp, each once and in a fixed order',
    ),
    async () => {
      const made = await make({ protocols: ['acp', 'rest', 'acp'] });
      expect(made['protocols']).toEqual(['rest', 'acp']);
      for (const protocols of [[], ['soap'], 'rest', null, ['rest', 7]]) {
        const body = { ...REST, agent_id: agent, protocols };
        expect((await call('POST services', body)).status, String(protocols)).toBe(400);
      }
    },
  );

  it(
    verifies('endpoints.create.agent-alias', 'also takes agent, alone or with the same value'),
    async () => {
      await newVersion('two');
      const pinned = { type: 'agent', id: agent, version: 1 };
      for (const [body, version] of [
        [{ agent }, '2'],
        [{ agent: pinned }, '1'],
        [{ agent: pinned, agent_id: agent, agent_version: '1' }, '1'],
      ] as const) {
        const made = await call('POST services', { ...REST, ...body });
        expect(made.body).toMatchObject({ agent_id: agent, agent_version: version });
        expect(made.body).not.toHaveProperty('agent');
      }
      for (const body of [
        { agent, agent_id: 'agent_other' },
        { agent: pinned, agent_version: 2 },
        { agent: 7 },
        { agent: { type: 'self', id: agent } },
      ]) {
        expect((await call('POST services', { ...REST, ...body })).status).toBe(400);
      }
    },
  );

  it(
    verifies('endpoints.create.slug-unique', 'has a slug of its own in the organization'),
    async () => {
      const { id } = await make({ slug: 'coder' });
      const taken = await call('POST services', { ...REST, agent_id: agent, slug: 'coder' });
      expect(taken).toMatchObject({ status: 409, body: { param: 'slug', retry: false } });
      for (const slug of ['Coder', '-a', 'a_b', '', 'x'.repeat(64)]) {
        const refused = await call('POST services', { ...REST, agent_id: agent, slug });
        expect(refused.status, slug).toBe(422);
      }
      const { id: second } = await make();
      expect((await call(`PATCH services/${second}`, { slug: 'coder' })).status).toBe(409);
      await call(`PATCH services/${id}`, { slug: 'other' });
      expect((await call(`PATCH services/${second}`, { slug: 'coder' })).status).toBe(200);
      await call(`DELETE services/${second}`);
      expect((await make({ slug: 'coder' }))['slug']).toBe('coder');
      const body = { ...REST, runtime: RUNTIME, slug: 'coder' };
      const other = await resources.call('POST organizations', { body: { name: 'other' } });
      const elsewhere = { body, organization: other.body['id'], platform: false };
      expect((await resources.call('POST services', elsewhere)).status).toBe(201);
    },
  );

  it(
    verifies(
      'resource.error.400-vs-422',
      'finds no Agent that is unknown or of others, and refuses an archived one',
    ),
    async () => {
      const other = await resources.call('POST organizations', { body: { name: 'other' } });
      const foreign = await resources.call('POST agents', {
        body: { name: 'a', model: 'b' },
        organization: other.body['id'],
        platform: false,
      });
      const bind = (agent_id: unknown, agent_version?: unknown) =>
        call('POST services', { ...REST, agent_id, agent_version });
      for (const id of ['agent_none', foreign.body['id'], 'Coder']) {
        expect(await bind(id)).toMatchObject({ status: 404, body: { param: 'agent_id' } });
      }
      expect((await bind(agent, 2)).status).toBe(404);
      expect((await bind(agent, 'x')).status).toBe(422);
      expect((await bind(agent, true)).status).toBe(400);
      const { id } = await make();
      await call(`POST agents/${agent}/archive`);
      expect(await bind(agent)).toMatchObject({ status: 409, body: { type: 'agent_archived' } });
      expect((await call(`PATCH services/${id}`, { name: 'renamed' })).status).toBe(200);
    },
  );
});

describe('a declarative Service', () => {
  it(
    verifies('endpoints.declarative.runtime-type', 'has a runtime of the type agent and no Agent'),
    async () => {
      const { body } = await call('POST services', { ...REST, runtime: RUNTIME });
      expect(body).toMatchObject({
        agent_id: null,
        agent_version: null,
        runtime: { ...RUNTIME, model: { id: 'acme/fast' }, tools: [], harness: null },
      });
      const harness = { type: 'agent', harness: 'coder' };
      expect((await call('POST services', { ...REST, runtime: harness })).status).toBe(201);
      const cases: [number, string, unknown][] = [
        [422, 'runtime.type', { ...RUNTIME, type: 'container' }],
        [422, 'runtime.harness', { type: 'agent', harness: 'sh' }],
        [400, 'runtime.model', { type: 'agent' }],
        [400, 'runtime.type', { model: 'acme/fast' }],
        [400, 'runtime.tools[0].type', { ...RUNTIME, tools: [{ type: 'x' }] }],
        [
          404,
          'runtime.skills[0].skill_id',
          { ...RUNTIME, skills: [{ type: 'custom', skill_id: 's' }] },
        ],
        [400, 'runtime', 'agent'],
      ];
      for (const [status, param, runtime] of cases) {
        const refused = await call('POST services', { ...REST, runtime });
        expect([refused.status, refused.body['param']]).toEqual([status, param]);
      }
      const wrong = await call('POST services', { ...REST, runtime: { type: 'container' } });
      expect(wrong.body['message']).toContain('`agent`');
    },
  );

  it(verifies('endpoints.declarative.immutable', 'never runs anything else'), async () => {
    const { body: made } = await call('POST services', { ...REST, runtime: RUNTIME });
    for (const body of [
      { runtime: { ...RUNTIME, system: 'x' } },
      { runtime: RUNTIME },
      { runtime: null },
      { agent_id: agent },
      { agent },
      { agent_version: '1', expected_agent_version: '1' },
    ]) {
      const refused = await call(`PATCH services/${made['id']}`, { name: 'x', ...body });
      expect([400, 409]).toContain(refused.status);
    }
    expect((await call(`GET services/${made['id']}`)).body).toEqual(made);
    const bound = await make();
    expect((await call(`PATCH services/${bound['id']}`, { runtime: RUNTIME })).status).toBe(400);
  });
});

describe('an update of a Service', () => {
  it(
    verifies(
      'endpoints.update.fields',
      'endpoints.update.status',
      'versioning.post-update-alias',
      'changes what it has and keeps the rest, with PATCH and POST alike',
    ),
    async () => {
      const next = {
        name: 'renamed',
        slug: 'renamed',
        protocols: ['rest', 'mcp'],
        status: 'disabled',
        session_metadata: { team: 'b' },
        memory_config: { a: 1 },
      };
      const views = [];
      for (const method of ['PATCH', 'POST']) {
        const { id } = await make({ session_metadata: { team: 'a', gone: 'x' } });
        for (const [field, value] of Object.entries(next)) {
          const updated = await call(`${method} services/${id}`, { [field]: value });
          expect(updated, field).toMatchObject({ status: 200, body: { [field]: value } });
        }
        expect((await call(`${method} services/${id}`, { status: 'paused' })).status).toBe(400);
        expect((await call(`${method} services/${id}`, { protocols: [] })).status).toBe(400);
        const active = await call(`${method} services/${id}`, { status: 'active' });
        const { id: _id, urls: _urls, ...view } = active.body;
        expect(view).toMatchObject({ ...next, status: 'active', agent_id: agent });
        views.push(view);
        await call(`DELETE services/${id}`);
      }
      expect(views[0]).toEqual(views[1]);
    },
  );

  it(
    verifies(
      'endpoints.update.expected-agent-version',
      'endpoints.update.expected-agent-version-required',
      'changes the version of the Agent only for one who knows the bound one',
    ),
    async () => {
      const { id } = await make();
      await newVersion('two');
      await newVersion('three');
      const update = (body: object) => call(`PATCH services/${id}`, body);
      expect(await update({ agent_version: '2' })).toMatchObject({
        status: 400,
        body: { param: 'expected_agent_version' },
      });
      expect(await update({ agent_version: 2, expected_agent_version: 3 })).toMatchObject({
        status: 409,
        body: { type: 'version_conflict', retry: false },
      });
      expect((await update({ agent_version: 4, expected_agent_version: 1 })).status).toBe(404);
      expect((await call(`GET services/${id}`)).body['agent_version']).toBe('1');
      const changed = await update({ agent_version: 2, expected_agent_version: '1' });
      expect(changed).toMatchObject({ status: 200, body: { agent_version: '2' } });
      expect((await update({ agent_version: '2' })).status).toBe(200);
      const races = await Promise.all(
        [1, 3].map((agent_version) => update({ agent_version, expected_agent_version: 2 })),
      );
      expect(races.filter(({ status }) => status === 409)).toHaveLength(1);
    },
  );

  it('binds another Agent, at its latest version unless one is named', async () => {
    const { body: second } = await call('POST agents', { name: 'Other', model: 'acme/slow' });
    await call(`PATCH agents/${second['id']}`, { system: 'two' });
    const { id } = await make();
    const bound = await call(`PATCH services/${id}`, { agent_id: second['id'] });
    expect(bound.body).toMatchObject({ agent_id: second['id'], agent_version: '2' });
    const back = { agent: { type: 'agent', id: agent, version: 1 }, expected_agent_version: '2' };
    expect((await call(`PATCH services/${id}`, back)).body).toMatchObject({
      agent_id: agent,
      agent_version: '1',
    });
  });
});

describe('the list of Services', () => {
  it(
    verifies(
      'endpoints.list.q',
      'finds a text in ids, names, slugs, runtimes and Agent ids, whatever its case',
    ),
    async () => {
      const bound = await make({ name: 'Bound', slug: 'first-one' });
      const { body: declared } = await call('POST services', {
        ...REST,
        name: 'Declared',
        runtime: { ...RUNTIME, model: 'Acme/Special' },
      });
      const find = async (query: Record<string, string>) => {
        const { body } = await call('GET services', undefined, String(new URLSearchParams(query)));
        return body['data'].map((one: { name: string }) => one.name);
      };
      expect(await find({ q: bound['id'].toUpperCase() })).toEqual(['Bound']);
      expect(await find({ q: 'bOUND' })).toEqual(['Bound']);
      expect(await find({ search: 'first-' })).toEqual(['Bound']);
      expect(await find({ q: 'acme/special' })).toEqual(['Declared']);
      expect(await find({ q: agent })).toEqual(['Bound']);
      expect(await find({ q: 'declared', search: 'bound' })).toEqual(['Declared']);
      expect(await find({ q: 'nobody' })).toEqual([]);
      expect(declared['name']).toBe('Declared');
    },
  );
});
