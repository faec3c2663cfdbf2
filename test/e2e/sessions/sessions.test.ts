import { describe, expect, it } from 'vitest';
import { verifies } from '../../requirements.ts';
import { pagesOf, serveSessions } from '../../sessions/serve-sessions.ts';
import { AGENT, pending, say } from '../../sessions/support.ts';

/** Members of the official type, and those of the gateway beside them. */
const MEMBERS = [
  'agent',
  'archived_at',
  'budget',
  'created_at',
  'deployment_id',
  'endpoint_id',
  'entry_point',
  'environment_id',
  'id',
  'metadata',
  'outcome_evaluations',
  'resources',
  'stats',
  'status',
  'title',
  'type',
  'updated_at',
  'usage',
  'vault_ids',
];

describe('Sessions over HTTP', () => {
  it(
    verifies(
      'sessions.create',
      'sessions.get',
      'sessions.object.shape',
      'sessions.environment.optional',
      'sessions.status.vocabulary',
      'are created, shown whole and found again',
    ),
    async () => {
      const { create, call, references } = await serveSessions();
      const { status, body } = await create();
      expect(status).toBe(201);
      expect(Object.keys(body).toSorted()).toEqual(MEMBERS);
      expect(body).toMatchObject({
        type: 'session',
        status: 'idle',
        title: null,
        metadata: {},
        environment_id: 'env_default',
        vault_ids: [],
        resources: [],
        budget: null,
        deployment_id: null,
        endpoint_id: null,
        entry_point: 'session',
        archived_at: null,
        agent: { type: 'agent', id: 'agent_1', version: 2, name: 'helper', multiagent: null },
        usage: { input_tokens: 0, output_tokens: 0 },
      });
      expect(body.id).toMatch(/^sess_/);
      expect(body.created_at).toMatch(/^\d{4}-.+Z$/);
      const found = await call('GET', `/v1/sessions/${body.id}`);
      expect(found.status).toBe(200);
      expect(found.body).toEqual({ ...body, stats: expect.anything() });

      const given = {
        agent: { type: 'agent', id: 'agent_1', version: 2 },
        title: 'mine',
        metadata: { a: 'b' },
        environment_id: 'env_mine',
        vault_ids: ['vlt_1'],
        resources: [{ type: 'file', file_id: 'file_1' }],
      };
      const { agent, ...echoed } = given;
      expect((await create(given)).body).toMatchObject(echoed);
      await create({ agent: undefined, agent_id: 'agent_1', agent_version: '1' });
      await create({ agent: { type: 'agent_with_overrides', id: 'agent_1', system: 'new' } });
      expect(references.slice(1)).toEqual([
        { agentId: 'agent_1', version: agent.version },
        { agentId: 'agent_1', version: 1 },
        { agentId: 'agent_1', version: undefined, overrides: { system: 'new' } },
      ]);
      const begun = await create({ initial_events: [say('hello')] });
      expect(begun.body.status).toBe('running');
    },
  );

  it(
    verifies('sessions.create.pins-version', 'keep the agent that they were made with'),
    async () => {
      const { create, call, agents } = await serveSessions();
      const { body } = await create();
      agents.set('agent_1', { ...AGENT, version: 3, system: 'other' });
      const { body: found } = await call('GET', `/v1/sessions/${body.id}`);
      expect(found.agent).toMatchObject({ version: 2, system: 'be kind', tools: [], skills: [] });
    },
  );

  it.each([
    [{ agent: undefined }, 'agent'],
    [{ agent_id: 'agent_1' }, 'agent'],
    [{ agent: { id: 'agent_1' } }, 'agent'],
    [{ agent: 7 }, 'agent'],
    [{ title: 7 }, 'title'],
    [{ metadata: { a: 1 } }, 'metadata.a'],
    [
      { metadata: Object.fromEntries(Array.from({ length: 17 }, (_, i) => [`k${i}`, 'v'])) },
      'metadata',
    ],
    [{ budget: { type: 'limit' } }, 'budget.max_list_cost'],
    [{ initial_events: [say('x'), { type: 'user.shout' }] }, 'initial_events[1].type'],
    [
      { initial_events: [{ type: 'user.custom_tool_result', custom_tool_use_id: 'sevt_1' }] },
      'initial_events[0]',
    ],
  ])('refuse to be made from %j', async (body, param) => {
    const { create } = await serveSessions();
    const { status, body: answer } = await create(body);
    expect([status, answer.error.type, answer.error.param]).toEqual([
      400,
      'invalid_request',
      param,
    ]);
  });

  it('are found by nobody else', async () => {
    const { create, call, send } = await serveSessions();
    const { body } = await create();
    const key = 'org_2';
    for (const path of ['', '/events', '/events/stream'])
      expect((await call('GET', `/v1/sessions/${body.id}${path}`, { key })).status).toBe(404);
    expect((await send(body.id, [say('x')], { key })).status).toBe(404);
    for (const path of ['', '/archive'])
      expect((await call('POST', `/v1/sessions/${body.id}${path}`, { key, body: {} })).status).toBe(
        404,
      );
    expect((await call('DELETE', `/v1/sessions/${body.id}`, { key })).status).toBe(404);
    expect((await call('GET', '/v1/sessions', { key })).body.data).toEqual([]);
    expect((await call('GET', '/v1/sessions/sess_none')).body).toMatchObject({
      type: 'error',
      error: { type: 'not_found', message: 'session not found' },
    });
    expect((await call('GET', '/v1/sessions', { key: 'org_1_limited' })).body).toEqual({
      error: 'insufficient_scope',
    });
    expect((await call('GET', `/v1/sessions/${body.id}`)).status).toBe(200);
    const long = 'x'.repeat(4_000);
    expect((await call('GET', `/v1/sessions/${long}`)).status).toBe(404);
    expect((await call('GET', `/v1/sessions?agent_id=${long}`)).body.data).toEqual([]);
  });

  it(
    verifies(
      'sessions.update',
      'resource.metadata.rules',
      'are updated, each change told in the log',
    ),
    async () => {
      const { create, call, sessions } = await serveSessions({ runner: pending });
      const { body } = await create({ title: 'a', metadata: { keep: '1', drop: '2' } });
      const update = (changes: object, method = 'POST') =>
        call(method, `/v1/sessions/${body.id}`, { body: changes });
      expect((await update({ title: 'b' })).body.title).toBe('b');
      expect((await update({ title: 'b' }, 'PATCH')).status).toBe(200);
      const { metadata } = (await update({ metadata: { drop: null, add: '3' } })).body;
      expect(metadata).toEqual({ keep: '1', add: '3' });
      expect((await update({ title: null })).body).toMatchObject({ title: null, metadata });
      const tools = [
        { type: 'custom', name: 't', description: 'd', input_schema: { type: 'object' } },
      ];
      expect((await update({ agent: { tools } })).body.agent.tools).toMatchObject(tools);
      const { events } = await sessions.read('org_1', body.id, {});
      expect(events.map(({ event: { id: _id, processed_at: _at, ...rest } }) => rest)).toEqual([
        { type: 'session.updated', title: 'b' },
        { type: 'session.updated', metadata },
        { type: 'session.updated', title: null },
        { type: 'session.updated', agent: expect.objectContaining({ id: 'agent_1' }) },
      ]);
      const bad = { metadata: { x: 'y'.repeat(513) } };
      expect((await update(bad)).body.error).toMatchObject({ param: 'metadata.x' });
      const strange = await update({ agent: { tools: [{ type: 'shell' }] } });
      expect([strange.status, strange.body.error.param]).toEqual([400, 'agent.tools[0].type']);
      const unused = { type: 'url', name: 'a', url: 'https://example.com' };
      expect((await update({ agent: { mcp_servers: [unused] } })).body.error.param).toBe(
        'agent.mcp_servers[0]',
      );
      await call('POST', `/v1/sessions/${body.id}/events`, { body: { events: [say('x')] } });
      const busy = await update({ agent: { tools: [] } });
      expect([busy.status, busy.headers.get('x-should-retry')]).toEqual([409, 'false']);
      expect((await update({ title: 'still' })).status).toBe(200);
    },
  );

  it(verifies('sessions.archive-delete', 'are archived, deleted, and gone'), async () => {
    const { url, create, call, send } = await serveSessions();
    const { body } = await create();
    const archived = await call('POST', `/v1/sessions/${body.id}/archive`);
    expect(archived.status).toBe(200);
    expect(archived.body.archived_at).toMatch(/Z$/);
    const again = await call('POST', `/v1/sessions/${body.id}/archive`);
    expect(again.body.archived_at).toBe(archived.body.archived_at);
    const refused = await send(body.id, [say('x')]);
    expect([refused.status, refused.body.error.type]).toEqual([409, 'conflict']);
    const response = await fetch(`${url}/v1/sessions/${body.id}/events/stream`, {
      headers: { authorization: 'Bearer org_1' },
    });
    const streamed = response.text();
    const deleted = await call('DELETE', `/v1/sessions/${body.id}`);
    expect(deleted.body).toEqual({ id: body.id, type: 'session_deleted' });
    expect(await streamed).toContain('event: session.deleted\n');
    expect((await call('GET', `/v1/sessions/${body.id}`)).status).toBe(404);
    expect((await call('DELETE', `/v1/sessions/${body.id}`)).status).toBe(404);
  });

  it(
    verifies('sessions.list', 'are listed by age, filtered, page by page in both directions'),
    async () => {
      const { create, call, sessions } = await serveSessions({ runner: pending });
      const ids: string[] = [];
      for (let i = 0; i < 7; i++) ids.push((await create()).body.id);
      const base = { organization: 'org_1', entryPoint: 'schedule', agent: AGENT } as const;
      const payer = { keyId: 'key_1', keyName: 'first', organizationId: 'org_1' };
      const scheduled = await sessions.create({ ...base, payer, deploymentId: 'depl_1' });
      const served = await sessions.create({
        ...base,
        payer,
        entryPoint: 'service',
        endpointId: 'ep_1',
        agent: { ...AGENT, id: 'agent_2', version: 5 },
        events: [say('x')],
      });
      await call('POST', `/v1/sessions/${ids[0]}/archive`);
      const list = async (query: string) =>
        (await pagesOf({ call }, `/v1/sessions${query}`)).flat().map(({ id }) => id);
      const newest = [served.session.id, scheduled.session.id, ...ids.slice(1).toReversed()];
      expect(await list('')).toEqual(newest);
      expect(await list('?limit=2')).toEqual(newest);
      expect(await list('?order=asc&limit=3')).toEqual(newest.toReversed());
      expect(await list('?include_archived=true')).toEqual([...newest, ids[0]]);
      expect(await list('?deployment_id=depl_1')).toEqual([scheduled.session.id]);
      expect(await list('?endpoint_id=ep_1')).toEqual([served.session.id]);
      expect(await list('?agent_id=agent_2')).toEqual([served.session.id]);
      expect(await list('?agent_id=agent_1&agent_version=2&limit=4')).toEqual(newest.slice(1));
      expect(await list('?agent_id=agent_1&agent_version=3')).toEqual([]);
      expect(await list('?statuses[]=running&statuses[]=rescheduling')).toEqual([
        served.session.id,
      ]);
      expect(await list('?statuses=idle,terminated')).toEqual(newest.slice(1));
      const { createdAt } = scheduled.session;
      const at = encodeURIComponent(createdAt);
      const bounded = [
        ...(await list(`?created_at[gt]=${at}`)),
        ...(await list(`?created_at[gte]=${at}&created_at[lte]=${at}`)),
        ...(await list(`?created_at[lt]=${at}`)),
      ];
      expect(bounded).toEqual(newest);

      const page = async (query: string) => (await call('GET', `/v1/sessions?${query}`)).body;
      const first = await page('limit=3');
      expect(first.prev_page).toBeNull();
      const second = await page(`limit=3&page=${first.next_page}`);
      const third = await page(`limit=3&page=${second.next_page}`);
      expect(third.next_page).toBeNull();
      expect(await page(`limit=3&page=${third.prev_page}`)).toMatchObject({
        data: second.data.map(({ id }: { id: string }) => ({ id })),
      });
      const back = await page(`limit=3&page=${second.prev_page}`);
      expect(back).toMatchObject({
        data: first.data.map(({ id }: { id: string }) => ({ id })),
        prev_page: null,
      });
      expect((await page(`limit=3&page=${back.next_page}`)).data).toHaveLength(3);
    },
  );

  it(
    verifies('resource.pagination.params', 'refuse a bad limit and cursors of another list'),
    async () => {
      const { create, call } = await serveSessions();
      for (let i = 0; i < 2; i++) await create();
      const status = async (query: string) => (await call('GET', `/v1/sessions?${query}`)).status;
      const { next_page: cursor } = (await call('GET', '/v1/sessions?limit=1')).body;
      expect(await status(`limit=1&page=${cursor}`)).toBe(200);
      expect(await status(`limit=100000&page=${cursor}`)).toBe(200);
      expect(await status(`limit=1&order=asc&page=${cursor}`)).toBe(400);
      expect(await status(`limit=1&agent_id=agent_1&page=${cursor}`)).toBe(400);
      expect(await status('page=nonsense')).toBe(400);
      for (const limit of ['0', '-1', 'x', '1.5']) expect(await status(`limit=${limit}`)).toBe(400);
      expect(await status('statuses=asleep')).toBe(400);
      expect(await status('order=up')).toBe(400);
      expect(await status('created_at[gt]=yesterday')).toBe(400);
    },
  );

  it(
    verifies(
      'resource.pagination.complete',
      'list every Session once while others are made and deleted',
    ),
    async () => {
      const { create, call } = await serveSessions({ runner: pending });
      const made = await Promise.all(Array.from({ length: 250 }, () => create()));
      const ids = made.map(({ body }) => body.id as string);
      const seen: string[] = [];
      let path = '/v1/sessions?limit=40';
      for (;;) {
        const { body } = await call('GET', path);
        seen.push(...body.data.map(({ id }: { id: string }) => id));
        if (body.next_page === null) break;
        path = `/v1/sessions?limit=40&page=${body.next_page}`;
        await create();
        await call('DELETE', `/v1/sessions/${seen.at(-1)}`);
      }
      expect(seen.toSorted()).toEqual(ids.toSorted());
    },
  );
});
