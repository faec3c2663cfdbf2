import { beforeEach, describe, expect, it } from 'vitest';
import { verifies } from '../requirements.ts';
import { makeResources } from './make-resources.ts';
import type { Resources } from './make-resources.ts';

let resources: Resources;
let home: string;

beforeEach(async () => {
  resources = makeResources();
  home = (await resources.call('POST organizations', { body: { name: 'home' } })).body['id'];
});

const call = (request: string, body?: unknown, query = '') =>
  resources.call(request, { body, query, organization: home, platform: false });

const make = async (body: object = {}) =>
  (await call('POST agents', { name: 'Coder', model: 'acme/fast', ...body })).body;

const ALLOW = { type: 'always_allow' };
const ASK = { type: 'always_ask' };
const TOOLSET = { type: 'agent_toolset_20260401' };
const DOCS = { type: 'url', name: 'docs', url: 'https://docs.example/mcp' };
const DOCS_TOOLS = { type: 'mcp_toolset', mcp_server_name: 'docs' };
const LOOK_UP = {
  type: 'custom',
  name: 'look_up',
  description: 'Looks up.',
  input_schema: { type: 'object', properties: { q: { type: 'string' } }, title: 'Q' },
};

describe('an Agent', () => {
  it(
    verifies(
      'agents.create.required',
      'agents.id.prefix',
      'needs a name and a model and has every documented member, the model as an object',
    ),
    async () => {
      const created = await call('POST agents', { name: 'Coder', model: 'acme/fast' });
      expect(created.status).toBe(201);
      expect(created.body).toEqual({
        id: expect.stringMatching(/^agent_/),
        type: 'agent',
        name: 'Coder',
        description: null,
        model: { id: 'acme/fast' },
        system: null,
        tools: [],
        mcp_servers: [],
        skills: [],
        harness: null,
        multiagent: null,
        execution_identity: { type: 'service_account' },
        metadata: {},
        labels: {},
        version: 1,
        created_at: '2026-11-21T00:00:00.000Z',
        updated_at: '2026-11-21T00:00:00.000Z',
        archived_at: null,
      });
      const settings = { id: 'acme/fast', effort: 'high', speed: 'fast', inference_geo: null };
      expect((await make({ model: settings }))['model']).toEqual({
        id: 'acme/fast',
        effort: { type: 'high' },
        speed: 'fast',
      });
      for (const [body, param] of [
        [{ model: 'acme/fast' }, 'name'],
        [{ name: 'Coder' }, 'model'],
        [{ name: 'Coder', model: 7 }, 'model'],
        [{ name: 'Coder', model: { id: 'a', effort: 'huge' } }, 'model.effort'],
        [{ name: 'Coder', model: 'a', multiagent: { type: 'coordinator' } }, 'multiagent'],
      ] as const) {
        const refused = await call('POST agents', body);
        expect(refused.status, param).toBe(400);
        expect(refused.body['param']).toBe(param);
      }
    },
  );

  it(
    verifies(
      'agents.update.semantics',
      'keeps what an update leaves out and clears what it sends as null or empty',
    ),
    async () => {
      const tools = [LOOK_UP, DOCS_TOOLS];
      const full = { description: 'd', system: 's', tools, mcp_servers: [DOCS] };
      const { id } = await make({ ...full, model: { id: 'acme/fast', effort: 'low' } });
      const renamed = await call(`POST agents/${id}`, { name: 'Other' });
      expect(renamed.body).toMatchObject({ name: 'Other', description: 'd', system: 's' });
      expect(renamed.body['tools']).toHaveLength(2);
      const model = await call(`PATCH agents/${id}`, { model: { id: 'acme/slow', speed: 'fast' } });
      expect(model.body['model']).toEqual({
        id: 'acme/slow',
        speed: 'fast',
        effort: { type: 'low' },
      });
      const shorter = await call(`PATCH agents/${id}`, { tools: [LOOK_UP], mcp_servers: null });
      expect(shorter.body).toMatchObject({ tools: [LOOK_UP], mcp_servers: [] });
      const cleared = await call(`PATCH agents/${id}`, {
        description: null,
        system: '',
        tools: null,
        skills: [],
      });
      expect(cleared.body).toMatchObject({
        description: null,
        system: null,
        tools: [],
        skills: [],
        model: { id: 'acme/slow' },
      });
      for (const body of [{ name: null }, { name: '' }, { model: null }, { model: '' }]) {
        expect((await call(`PATCH agents/${id}`, body)).status, JSON.stringify(body)).toBe(400);
      }
      expect((await call(`GET agents/${id}`)).body).toEqual(cleared.body);
    },
  );

  it(
    verifies(
      'resource.metadata.rules',
      'patches metadata: a text upserts, null deletes, leaving it out keeps',
    ),
    async () => {
      const { id } = await make({ metadata: { a: '1', b: '2' } });
      const patched = await call(`PATCH agents/${id}`, { metadata: { a: null, c: '3' } });
      expect(patched.body['metadata']).toEqual({ b: '2', c: '3' });
      for (const body of [{ name: 'x' }, { metadata: null }, { metadata: {} }]) {
        const kept = await call(`PATCH agents/${id}`, body);
        expect(kept.body['metadata']).toEqual({ b: '2', c: '3' });
      }
      const pairs = (count: number) =>
        Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, 'v']));
      for (const metadata of [
        { a: 1 },
        { ['k'.repeat(65)]: 'v' },
        { k: 'v'.repeat(513) },
        pairs(15),
        [],
      ]) {
        expect((await call(`PATCH agents/${id}`, { metadata })).status).toBe(400);
      }
      expect((await call(`PATCH agents/${id}`, { metadata: pairs(14) })).status).toBe(200);
      expect(
        (await call('POST agents', { name: 'a', model: 'b', metadata: pairs(17) })).status,
      ).toBe(400);
    },
  );

  it(
    verifies(
      'agents.versioning',
      'has a new version for each effective change, and keeps the old ones readable',
    ),
    async () => {
      const { id, ...first } = await make({ system: 'one' });
      expect(first['version']).toBe(1);
      const second = (await call(`PATCH agents/${id}`, { system: 'two' })).body;
      expect(second['version']).toBe(2);
      const same = await call(`PATCH agents/${id}`, { system: 'two', name: 'Coder', unknown: 1 });
      expect(same.body).toEqual(second);
      await call(`PATCH agents/${id}`, { labels: { team: 'a' } });
      await call(`PATCH agents/${id}`, { metadata: { a: '1' } });
      expect((await call(`GET agents/${id}`)).body).toMatchObject({ version: 3, system: 'two' });
      const old = await call(`GET agents/${id}`, undefined, 'version=1');
      expect(old.body).toEqual({ id, ...first });
      const archived = (await call(`POST agents/${id}/archive`)).body;
      expect(archived['version']).toBe(3);
      expect((await call(`GET agents/${id}`, undefined, 'version=1')).body).toEqual({
        id,
        ...first,
        archived_at: archived['archived_at'],
      });
      expect((await call(`GET agents/${id}`, undefined, 'version=3')).body).toEqual(archived);
      expect((await call(`GET agents/${id}`, undefined, 'version=4')).status).toBe(404);
      for (const version of ['0', '-1', 'x', '1.5', '']) {
        const bad = await call(`GET agents/${id}`, undefined, `version=${version}`);
        expect(bad.status, version).toBe(400);
      }
    },
  );

  it('lists its versions newest first, in pages', async () => {
    const { id } = await make({ system: '1' });
    for (const system of ['2', '3', '4', '5']) await call(`PATCH agents/${id}`, { system });
    const seen: number[] = [];
    let page: string | null = '';
    while (page !== null) {
      const query = `limit=2&page=${encodeURIComponent(page)}`;
      const { body } = await call(`GET agents/${id}/versions`, undefined, query);
      expect(Object.keys(body).sort()).toEqual(['data', 'next_page']);
      seen.push(...body['data'].map((one: { version: number }) => one.version));
      page = body['next_page'];
    }
    expect(seen).toEqual([5, 4, 3, 2, 1]);
    const { id: other } = await make();
    const own = (await call(`GET agents/${id}/versions`, undefined, 'limit=1')).body['next_page'];
    for (const cursor of ['x', own]) {
      const query = `page=${encodeURIComponent(cursor)}`;
      expect((await call(`GET agents/${other}/versions`, undefined, query)).status).toBe(400);
    }
    expect((await call(`POST agents/${id}/versions`)).status).toBe(405);
  });

  it(
    verifies(
      'agents.update.version-guard',
      'refuses an update made for another version, and lets one of two at once win',
    ),
    async () => {
      const { id } = await make();
      const stale = await call(`POST agents/${id}`, { version: 2, system: 'x' });
      expect(stale).toMatchObject({ status: 409, body: { retry: false } });
      expect((await call(`GET agents/${id}`)).body).toMatchObject({ version: 1, system: null });
      const replies = await Promise.all(
        ['a', 'b', 'c'].map((system) => call(`POST agents/${id}`, { version: 1, system })),
      );
      expect(replies.filter(({ status }) => status === 409)).toHaveLength(2);
      const won = replies.find(({ status }) => status === 200);
      expect((await call(`GET agents/${id}`)).body).toEqual(won?.body);
      expect((await call(`POST agents/${id}`, { system: 'd' })).body['version']).toBe(3);
      expect((await call(`POST agents/${id}`, { version: '3', system: 'e' })).status).toBe(400);
    },
  );

  it(verifies('agents.archive', 'is archived, not deleted'), async () => {
    const { id } = await make();
    expect(await call(`DELETE agents/${id}`)).toMatchObject({
      status: 405,
      headers: { allow: 'GET, HEAD, PATCH, POST' },
    });
    await call(`POST agents/${id}/archive`);
    expect((await call(`GET agents/${id}`)).status).toBe(200);
    expect((await call('GET agents')).body['data']).toEqual([]);
    expect(await call(`POST agents/${id}`, { name: 'x' })).toMatchObject({
      status: 409,
      body: { type: 'agent_archived' },
    });
  });
});

describe('the tools of an Agent', () => {
  it('come back with every setting spelled out, from the defaults of their toolset', async () => {
    const { id, tools } = await make({
      mcp_servers: [DOCS],
      tools: [
        {
          ...TOOLSET,
          default_config: { enabled: false, permission_policy: { type: 'auto' } },
          configs: [
            { name: 'bash', enabled: true },
            { name: 'read', permission_policy: ASK },
          ],
        },
        { ...DOCS_TOOLS, configs: [{ name: 'search', permission_policy: ALLOW }] },
        LOOK_UP,
      ],
    });
    const auto = { type: 'auto' };
    expect(tools).toEqual([
      {
        ...TOOLSET,
        default_config: { enabled: false, permission_policy: auto },
        configs: [
          { name: 'bash', type: 'bash', enabled: true, permission_policy: auto },
          { name: 'read', type: 'read', enabled: false, permission_policy: ASK },
        ],
      },
      {
        ...DOCS_TOOLS,
        default_config: { enabled: true, permission_policy: ASK },
        configs: [{ name: 'search', enabled: true, permission_policy: ALLOW }],
      },
      LOOK_UP,
    ]);
    expect((await call(`POST agents/${id}`, { tools })).body['version']).toBe(1);
    const [plain] = (await make({ tools: [TOOLSET] }))['tools'];
    expect(plain.default_config).toEqual({ enabled: true, permission_policy: ALLOW });
  });

  it(
    verifies(
      'agents.tools.validation',
      'are of known kinds, with servers that are declared and used',
    ),
    async () => {
      const cases: [string, object][] = [
        ['tools[0].type', { tools: [{ type: 'computer' }] }],
        ['tools[0].name', { tools: [{ ...LOOK_UP, name: 'look up' }] }],
        ['tools[0].name', { tools: [{ ...LOOK_UP, name: 'x'.repeat(129) }] }],
        ['tools[0].name', { tools: [{ ...LOOK_UP, name: '' }] }],
        [
          'tools[0].input_schema.type',
          { tools: [{ ...LOOK_UP, input_schema: { type: 'array' } }] },
        ],
        ['tools[1].name', { tools: [LOOK_UP, LOOK_UP] }],
        ['tools[0].configs[0].name', { tools: [{ ...TOOLSET, configs: [{ name: 'fly' }] }] }],
        ['tools[0].mcp_server_name', { tools: [DOCS_TOOLS] }],
        ['mcp_servers[0]', { mcp_servers: [DOCS] }],
        ['mcp_servers[1].name', { mcp_servers: [DOCS, DOCS], tools: [DOCS_TOOLS] }],
        ['mcp_servers', { mcp_servers: Array.from({ length: 21 }, () => DOCS) }],
        [
          'tools',
          { tools: Array.from({ length: 257 }, (_, n) => ({ ...LOOK_UP, name: `t${n}` })) },
        ],
      ];
      for (const [param, body] of cases) {
        const refused = await call('POST agents', { name: 'a', model: 'b', ...body });
        expect([refused.status, refused.body['param']], param).toEqual([400, param]);
      }
      const longest = { ...LOOK_UP, name: 'x-_9'.repeat(32) };
      expect((await make({ tools: [longest, DOCS_TOOLS], mcp_servers: [DOCS] }))['version']).toBe(
        1,
      );
    },
  );

  it('come from servers whose address is one of the web and carries no secret', async () => {
    for (const url of [
      'file:///etc/passwd',
      'https://u:secret@docs.example/',
      'https://u@d.example',
    ]) {
      const sent = { name: 'a', model: 'b', mcp_servers: [{ ...DOCS, url }], tools: [DOCS_TOOLS] };
      const refused = await call('POST agents', sent);
      expect([refused.status, refused.body['param']], url).toEqual([422, 'mcp_servers[0].url']);
      expect(JSON.stringify(refused.body)).not.toContain('secret');
    }
  });
});

describe('what only the operator declares', () => {
  it('is named by an Agent, never brought along', async () => {
    const stdio = { type: 'stdio', name: 'docs', server: 'files' };
    const made = await make({ harness: 'coder', mcp_servers: [stdio], tools: [DOCS_TOOLS] });
    expect(made).toMatchObject({ harness: 'coder', mcp_servers: [stdio] });
    const alone = await call('POST agents', { name: 'a', harness: 'coder' });
    expect(alone).toMatchObject({ status: 201, body: { model: null } });
    const cases: [string, object][] = [
      ['harness', { harness: 'rm -rf' }],
      ['mcp_servers[0].server', { mcp_servers: [{ ...stdio, server: 'x' }], tools: [DOCS_TOOLS] }],
    ];
    for (const [param, body] of cases) {
      const refused = await call('POST agents', { name: 'a', model: 'b', ...body });
      expect(refused).toMatchObject({ status: 422, body: { param } });
    }
    const command = { ...stdio, command: 'sh', args: ['-c', 'id'] };
    const stripped = await make({ mcp_servers: [command], tools: [DOCS_TOOLS] });
    expect(stripped['mcp_servers']).toEqual([stdio]);
  });
});
